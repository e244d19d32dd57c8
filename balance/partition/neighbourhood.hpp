// SPDX-License-Identifier: MIT
// How members learn who owns the cells around theirs, when no member knows a whole partition: all tell the homes of
// their cells, which are the same for the whole run, and ask there (a directory that is spread over the members).
#pragma once
#include <array>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/process_boxes.hpp"

namespace balance {

/// All processes of each member that owns a cell of this member's home, or next to it across periodic boundaries as
/// well, and all that this member hosts itself. hosted: these. Collective.
ProcessBoxes around_home(const Team& team, const Grid& grid, const ProcessBoxes& hosted);

/// The processes that own a cell of `boxes`, or at most `width` cells away from one, across periodic boundaries as
/// well; and perhaps others. boxes: any, in the grid. at_home: what around_home() gave, for each partition of which
/// this is asked; the answers come in their order. Collective.
std::vector<ProcessBoxes> around_boxes(const Team& team, const Grid& grid, std::span<const ProcessBoxes> at_home,
                                       std::span<const Box> boxes, int width);

/// A partition, as one member knows it.
struct LocalPartition {
    ProcessBoxes hosted;       ///< the processes that the member hosts
    ProcessBoxes around_home;  ///< see around_home()
};

/// What a member has to know of two partitions to go from one to the other: who has what comes to it, who gets what
/// leaves it, and of the new one all within `width` cells of what it has from then on. Collective.
struct MigrationKnowledge {
    ProcessBoxes before, after;
};
MigrationKnowledge around_migration(const Team& team, const Grid& grid, const LocalPartition& before,
                                    const LocalPartition& after, int width);

}  // namespace balance
