// SPDX-License-Identifier: MIT
// Weighted recursive bisection of the grid into rectangles of about equal load.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/scattered.hpp"

namespace balance {

/// The split of one node of the bisection, remembered from one balancing to the next, so that only the cut moves.
struct Split {
    std::int32_t axis = -1;  ///< -1: nothing yet
    std::int32_t left = 0;   ///< parts on the lower side
    friend bool operator==(const Split&, const Split&) = default;
};

/// Consecutive parts of a bisection, in the order of the recursion. Each member of a team has the parts that it cut.
/// The parts of all members follow each other.
struct Leaves {
    std::int64_t first = 0;  ///< number of the first one
    std::vector<Box> boxes;
};

/// Largest number of parts that `box` can hold when none is narrower than `width` cells.
std::int64_t capacity(const Box& box, int width);

/// Splits a region of the grid into `parts` boxes, in the order of the recursion. Each cut goes across the longer side
/// at the place of the best balance. 40 to 60 % of the parts go to each side, as fits a cell line best. No side becomes
/// narrower than `width` cells. Boxes without load are split by cells. Throws std::invalid_argument if the region can't
/// hold so many parts.
/// load: loads of at least the cells of the region.
/// targets: target of each part, in any unit (> 0); empty: the same for all.
/// memory: empty, or the nodes of the last call (2 parts - 1, in preorder). With it, each node keeps its axis and its
/// part counts if they still fit.
std::vector<Box> bisect(const Box& region, const SummedArea& load, std::int64_t parts, int width,
                        std::vector<Split>& memory, std::span<const double> targets = {});

/// The same for the whole grid and a team, below 2^30 parts. load: loads of this member's home.
///
/// Members cut large boxes together, with sums over the team. Once boxes have no more cells than the share of a block
/// of members, each block goes on with some of them, and at last each member. So no member sees much more than its
/// share of the cells and of the parts, and the number of messages does not grow with the parts.
/// Returns the parts that this member cut, perhaps none. The members' parts, one after the other, are all parts.
/// Collective, with the same parts and the same memory for any number of members.
Leaves bisect(const Team& team, const Grid& grid, std::span<const std::int64_t> load, std::int64_t parts, int width,
              Scattered<Split>& memory, std::span<const double> targets = {});

/// Makes the blocks of members for bisections of a team ahead of the first one. With MPI it takes longer to make a
/// block than to use it. Collective.
void prepare_bisections(const Team& team);

/// The common work of a member in a bisection with even loads, roughly. It counts lines of cells (their cost is for a
/// Meter), sums over teams, and moves of its cells' loads to another member. cells: of the grid.
struct CutTogether {
    std::int64_t lines = 0, sums = 0, moves = 0;
};
CutTogether cut_together_of(double cells, int dimensions, int members);

}  // namespace balance
