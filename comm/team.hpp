// SPDX-License-Identifier: MIT
// The ranks of a communicator as a team that balances.
#pragma once
#include "balance/team.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace comm {

class Ranks final : public balance::Team {
public:
    explicit Ranks(Communicator comm) : comm_(std::move(comm)) {}
    const Communicator& comm() const { return comm_; }
    int rank() const override { return comm_.rank(); }
    int size() const override { return comm_.size(); }
    void sum(std::span<std::int64_t> values) const override { comm_.sum(values); }
    void max(std::span<std::int64_t> values) const override { comm_.max(values); }
    std::vector<std::byte> gather(std::span<const std::byte> mine) const override { return comm_.gather(mine); }
    std::vector<std::byte> all_gather(std::span<const std::byte> mine) const override;
    void broadcast(std::span<std::byte> bytes) const override { comm_.broadcast(bytes); }
    std::unique_ptr<balance::Channel> channel() const override { return std::make_unique<Exchange>(comm_); }
    std::vector<std::byte> pass_on(int distance, std::span<const std::byte> bytes) const override {
        return comm_.pass_on(distance, bytes);
    }
    std::unique_ptr<balance::Team> split(int colour) const override {
        return std::make_unique<Ranks>(comm_.split(colour));
    }

private:
    static constexpr int smallest_by_node = 16;  // fewer ranks do not make up for the second round of messages
    int nodes() const;

    Communicator comm_;
    mutable int nodes_ = 0;  // 0: not known yet
};

}  // namespace comm
