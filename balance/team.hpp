// SPDX-License-Identifier: MIT
// Those who balance together. Each member holds a part of every field; sums are exact, so that the answer does not depend on
// how many they are. One process is a team of its own; an MPI program implements this with its communicator.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace balance {

class Team {
public:
    virtual ~Team() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Element by element over all members, on all of them.
    virtual void sum(std::span<std::int64_t> values) const = 0;
    virtual void max(std::span<std::int64_t> values) const = 0;
    /// Sends to[r] to member r; returns everything that came, in the order of the members.
    virtual std::vector<std::byte> all_to_all(std::span<const std::vector<std::byte>> to) const = 0;
    /// Members call step(carry) one after the other, each with what the one before left; all get the last value.
    virtual void relay(bool ascending, std::span<std::int64_t> carry, const std::function<void(std::span<std::int64_t>)>& step) const = 0;
};

class Alone final : public Team {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(std::span<std::int64_t>) const override {}
    void max(std::span<std::int64_t>) const override {}
    std::vector<std::byte> all_to_all(std::span<const std::vector<std::byte>> to) const override { return to[0]; }
    void relay(bool, std::span<std::int64_t> carry, const std::function<void(std::span<std::int64_t>)>& step) const override { step(carry); }
};

}  // namespace balance
