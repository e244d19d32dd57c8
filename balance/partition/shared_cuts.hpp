// SPDX-License-Identifier: MIT
// The boxes of a bisection that a whole team cuts, level by level. Each level takes one sum over the team's members, or
// two if there are many lines of cells.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/cut_rules.hpp"
#include "balance/partition/team_memory.hpp"
#include "balance/team.hpp"

namespace balance {

/// The work of a team. Its nodes follow each other in preorder, and so do its parts.
struct Work {
    IndexRange ids, parts;
    std::vector<CutNode> nodes;       ///< Nodes that are still to be cut, in preorder.
    std::vector<CutNode> leaves;      ///< Nodes of one part, found by a larger team.
    EvenParts cells;                  ///< Places of the loads of the nodes' cells.
    std::vector<std::int64_t> loads;  ///< Loads of this member's cells.
    TeamMemory memory;                ///< Memory of the nodes.
};

/// How a node was cut.
struct Made {
    std::int64_t id;
    Split split;
};

/// Sums over the loads of each node that a member has, in the order of work.cells.
std::vector<SummedArea> sums_of(const Work& work, int member);

/// Lines in a bundle. Nodes with many lines first sum over bundles. Then only the lines near the best cut have to be
/// summed one by one.
inline constexpr int bundle = 32;

/// Cuts nodes that have more cells than `limit`. Nodes of one part that this leaves go to work.leaves. Collective, the
/// same on all members.
std::vector<Made> cut_together(const Team& team, Work& work, std::int64_t limit, CutRules& rules);

}  // namespace balance
