// SPDX-License-Identifier: MIT
// The members that balance together. Each holds a part of every field and a block of the processes; all sums are of
// integers and so exact: results do not depend on the number of members. A program without MPI is a team of one
// (SerialTeam); with MPI, each rank is a member (comm/team.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace balance {

/// Bytes for another member.
struct Outgoing {
    int member;
    std::span<const std::byte> bytes;
};
/// Room for the bytes of another member.
struct Incoming {
    int member;
    std::span<std::byte> bytes;
};

/// Messages between pairs of members. Both sides know every size; empty messages are not sent. Several messages from
/// one member to another arrive in the order in which they were started.
class Channel {
public:
    virtual ~Channel() = default;
    /// Starts to send and receive. The buffers must stay as they are until finish(), which comes before the next
    /// start().
    virtual void start(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;
    virtual void finish() = 0;
};

/// All functions but rank() and size() are collective: every member calls them, in the same order.
class Team {
public:
    virtual ~Team() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Element by element over all members, on all of them.
    virtual void sum(std::span<std::int64_t> values) const = 0;
    virtual void max(std::span<std::int64_t> values) const = 0;
    /// What the members give, one after the other, on member 0; empty elsewhere.
    virtual std::vector<std::byte> gather(std::span<const std::byte> mine) const = 0;
    /// Member 0's bytes on all. All give room for as many.
    virtual void broadcast(std::span<std::byte> bytes) const = 0;
    virtual std::unique_ptr<Channel> channel() const = 0;
    /// A team of the members that give the same colour (>= 0), in the order of their ranks here.
    virtual std::unique_ptr<Team> split(int colour) const = 0;
};

/// A team of one.
class SerialTeam final : public Team {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(std::span<std::int64_t>) const override {}
    void max(std::span<std::int64_t>) const override {}
    std::vector<std::byte> gather(std::span<const std::byte> mine) const override { return {mine.begin(), mine.end()}; }
    void broadcast(std::span<std::byte>) const override {}
    std::unique_ptr<Channel> channel() const override { return std::make_unique<Nobody>(); }
    std::unique_ptr<Team> split(int) const override { return std::make_unique<SerialTeam>(); }

private:
    struct Nobody final : Channel {
        void start(std::span<const Outgoing> out, std::span<const Incoming> in) override {
            if (!out.empty() || !in.empty()) throw std::logic_error("a team of one has nobody to send to");
        }
        void finish() override {}
    };
};

/// What the members give, one after the other, on member 0; empty elsewhere.
template <class T>
std::vector<T> gather(const Team& team, std::span<const T> mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::vector<std::byte> bytes = team.gather(std::as_bytes(mine));
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

/// What the members give, one after the other, on all of them.
template <class T>
std::vector<T> all_gather(const Team& team, std::span<const T> mine) {
    std::vector<T> all = gather(team, mine);
    std::int64_t size = static_cast<std::int64_t>(all.size());
    team.broadcast(std::as_writable_bytes(std::span(&size, 1)));
    all.resize(size);
    team.broadcast(std::as_writable_bytes(std::span(all)));
    return all;
}

}  // namespace balance
