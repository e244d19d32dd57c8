// SPDX-License-Identifier: MIT
// The levels of the nested partition one by one: for those who don't want the whole of it on every member.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "balance/nested/node.hpp"

namespace balance {

/// Level 1: a region for each node. Neighbours in the list of nodes are neighbours in space. The level works on the
/// loads of about a million blocks of cells (16 a node, if that is more). So its cost depends on the number of nodes
/// alone. Collective; the same on all members, whatever their number.
/// load: loads of this member's home.
/// uniform: every cell has the load 1, and `load` is not used.
/// needs: PartNeed::cells of a node is the number of its cores and accelerators.
std::vector<Region> node_regions(const Team& team, const Grid& grid, std::span<const std::int64_t> load, bool uniform,
                                 std::span<const PartNeed> nodes);

/// Levels 2 and 3 of a node: the region of each core, CPU by CPU, and then of each accelerator.
struct NodeResult {
    std::vector<Region> regions;
    std::vector<double> shortfall;  ///< of each of them
};
NodeResult divide_node(const NodeProblem& node, NestedAlgorithm algorithm);

/// All levels: what the resources of the nodes get that are dealt to this member, node by node.
struct DividedNodes {
    std::vector<Box> boxes;
    std::vector<std::int64_t> counts;  ///< boxes of each resource
    std::vector<double> shortfall;     ///< of each resource
};
/// needs: of each node, as in node_regions(); parts_of: what a node consists of. Collective.
DividedNodes divide_nodes(const Team& team, const Grid& grid, std::span<const std::int64_t> load, bool uniform,
                          std::span<const PartNeed> needs, const std::function<NodeParts(int)>& parts_of,
                          const NestedOptions& options);

/// Where each part begins among the boxes of all members; one more entry at the end. counts: number of boxes of each
/// part of this member. Collective.
std::vector<std::int64_t> first_of_parts(const Team& team, std::span<const std::int64_t> counts);

/// Whether no member has given loads. Collective.
bool is_uniform(const Team& team, std::span<const std::int64_t> load);

}  // namespace balance
