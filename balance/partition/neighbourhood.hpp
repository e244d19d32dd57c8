// SPDX-License-Identifier: MIT
// A directory of the owners of cells, spread over the members, because no member knows a whole partition. Each cell has
// a home member for the whole run. All members tell the homes of their cells, and ask there for the owners around them.
#pragma once
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/process_boxes.hpp"

namespace balance {

/// Returns the boxes of (1) the processes that this member hosts and (2) all processes of every member that owns a cell
/// in this member's home or next to it. Periodic neighbours count. hosted: the processes of (1). Collective.
ProcessBoxes around_home(const Team& team, const Grid& grid, const ProcessBoxes& hosted);

/// The processes that own a cell of `boxes` or a cell at most `width` cells away, and perhaps others. Periodic
/// neighbours count. Collective.
/// boxes: any boxes in the grid.
/// at_home: results of around_home(), one for each partition in question. The answers come in their order.
std::vector<ProcessBoxes> around_boxes(const Team& team, const Grid& grid, std::span<const ProcessBoxes> at_home,
                                       std::span<const Box> boxes, int width);

/// A partition, as one member knows it.
struct LocalPartition {
    ProcessBoxes hosted;       ///< the processes that the member hosts
    ProcessBoxes around_home;  ///< see around_home()
};

/// The parts of two partitions that a member must know to go from one to the other. From the old partition it needs the
/// owners of cells that come to it. From the new partition it needs the owners of cells that leave it, and all owners
/// within `width` cells of its new cells. Collective.
struct MigrationKnowledge {
    ProcessBoxes before, after;
};
MigrationKnowledge around_migration(const Team& team, const Grid& grid, const LocalPartition& before,
                                    const LocalPartition& after, int width);

}  // namespace balance
