// SPDX-License-Identifier: MIT
// Where the ranks of a prediction are, and how fast each of them is.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/deck/machine_file.hpp"
#include "tools/predict/timeline.hpp"

namespace app {

struct RankPlacement {
    std::vector<int> node;      ///< of each rank
    std::vector<double> speed;  ///< of each rank, relative to one that the machine's costs are of

    /// Makes the computing of each rank take the time that it takes at its speed.
    void slow_down(std::vector<predict::RankStep>& steps) const;
};

/// Ranks go to nodes in order: ranks_per_node (the deck's, else the machine's) to each; where neither says it, one to
/// each core of the nodes that are given; else all to one node. A rank has its share of its node's cores and
/// accelerators; costs are of a rank of the first node, with a core_speed of 1. Throws UsageError where the nodes do
/// not hold so many ranks.
RankPlacement placement_of(const Deck::Machine& nodes, const predict::Machine& machine,
                           std::optional<std::int64_t> ranks_per_node, std::int64_t ranks);

/// Most ranks that these nodes hold; nothing if the number of nodes has no limit.
std::optional<std::int64_t> most_ranks_on(const Deck::Machine& nodes, const predict::Machine& machine,
                                          std::optional<std::int64_t> ranks_per_node);

}  // namespace app
