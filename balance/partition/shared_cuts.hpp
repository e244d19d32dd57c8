// SPDX-License-Identifier: MIT
// The boxes of a bisection that a whole team cuts, level by level, with a sum over its members for each, or two where
// there are many lines of cells.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/cut_rules.hpp"
#include "balance/partition/team_memory.hpp"
#include "balance/team.hpp"

namespace balance {

/// What a team has to do. The nodes that it tells follow each other in preorder, and so do its parts.
struct Work {
    Range ids, parts;
    std::vector<CutNode> nodes;       ///< that are still to be cut, in preorder
    std::vector<CutNode> leaves;      ///< of one part, which a larger team has found
    EvenParts cells;                  ///< where the loads of the nodes' cells are
    std::vector<std::int64_t> loads;  ///< of this member's cells
    TeamMemory memory;                ///< of ids
};

/// How a node was cut.
struct Made {
    std::int64_t id;
    Split split;
};

/// Sums over the loads of each node that a member has, in the order of work.cells.
std::vector<SummedArea> sums_of(const Work& work, int member);

/// Of nodes with many lines a sum over bundles of so many comes first: then only those among which a cut can be the
/// best have to be summed one by one.
inline constexpr int bundle = 32;

/// Cuts nodes that have more cells than `limit`. Nodes of one part that this leaves go to work.leaves. Collective, the
/// same on all members.
std::vector<Made> cut_together(const Team& team, Work& work, std::int64_t limit, CutRules& rules);

}  // namespace balance
