// SPDX-License-Identifier: MIT
// Members of a team in a line, who hand sweeps along a chain on to their neighbours.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/partition/chain_sweep.hpp"
#include "balance/team.hpp"

namespace balance::chain {

/// Messages between members of a team whose ranks follow each other, all of them towards one member.
class Line {
public:
    /// Sweeps in a message. With some hundred parts a member it takes about as long to go through them as to send them.
    static constexpr int most_sweeps = 4;

    explicit Line(const Team& team) : team_(team), channels_{team.channel(), team.channel()} {}
    /// From now on sweeps go towards `member`, which is one of `members`. messages: number of messages from each
    /// neighbour. Members outside `members` send and receive none. Collective, over the whole team.
    void lead_to(int member, std::int64_t messages, IndexRange members);
    /// Whether sweeps come from this neighbour; from one that does not exist none come.
    bool comes_from(int neighbour) const {
        const int rank = team_.rank();
        return members_.contains(rank) && members_.contains(neighbour) &&
               (neighbour < rank ? rank <= target_ : rank >= target_);
    }
    /// The next message from a neighbour: most_sweeps sweeps, of which the last ones mean nothing where fewer were
    /// sent. The message after this one may come while the member goes through these.
    std::vector<Sweep> receive(int from);
    /// At most most_sweeps of them; to nobody from the member to which all sweeps go, and from those that take no part.
    void send(std::span<const Sweep> sweeps);
    /// Ends what send() has begun; before sweeps go elsewhere.
    void finish();

private:
    bool sends() const { return members_.contains(team_.rank()) && team_.rank() != target_; }
    int onwards() const { return team_.rank() < target_ ? team_.rank() + 1 : team_.rank() - 1; }
    // A member has another channel for each of its two neighbours.
    std::size_t channel_of(int neighbour) const {
        return static_cast<std::size_t>(std::min(team_.rank(), neighbour) % 2);
    }
    void listen(std::size_t channel);

    const Team& team_;
    std::array<std::unique_ptr<Channel>, 2> channels_;
    std::array<std::vector<std::byte>, 2> received_;
    std::array<std::int64_t, 2> missing_{};  // messages that are not listened for yet
    std::vector<std::byte> sent_;
    Channel* sending_ = nullptr;
    int target_ = 0;
    IndexRange members_;
};

}  // namespace balance::chain
