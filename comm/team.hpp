// SPDX-License-Identifier: MIT
// All ranks as a team that balances.
#pragma once
#include "balance/team.hpp"
#include "comm/communicator.hpp"

namespace comm {

class Ranks final : public balance::Team {
public:
    explicit Ranks(const Communicator& comm) : comm_(comm) {}
    int rank() const override { return comm_.rank(); }
    int size() const override { return comm_.size(); }
    void sum(std::span<std::int64_t> values) const override { comm_.sum(values); }
    void max(std::span<std::int64_t> values) const override { comm_.max(values); }
    std::vector<std::byte> all_to_all(std::span<const std::vector<std::byte>> to) const override { return comm_.all_to_all(to); }
    void relay(bool ascending, std::span<std::int64_t> carry, const std::function<void(std::span<std::int64_t>)>& step) const override {
        comm_.relay(ascending, carry, step);
    }

private:
    const Communicator& comm_;
};

}  // namespace comm
