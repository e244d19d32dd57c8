// SPDX-License-Identifier: MIT
// Weighted recursive bisection of the grid into rectangles of about equal load.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/scattered.hpp"

namespace balance {

/// What one node of the bisection did: remembered from one balancing to the next, so that only the cut moves.
struct Split {
    std::int32_t axis = -1;  ///< -1: nothing yet
    std::int32_t left = 0;   ///< parts on the lower side
    friend bool operator==(const Split&, const Split&) = default;
};

/// Consecutive parts of a bisection, in the order of the recursion: each member of a team has those that it cut, and
/// those of all members follow each other.
struct Leaves {
    std::int64_t first = 0;  ///< number of the first one
    std::vector<Box> boxes;
};

/// Largest number of parts that `box` can hold when none is narrower than `width` cells.
std::int64_t capacity(const Box& box, int width);

/// Splits a region of the grid into `parts` boxes, in the order of the recursion. load: of the cells of the region at
/// least. Each cut goes across the longer side where it balances best; 40 to 60 % of the parts go to each side,
/// whatever fits a cell line best; no side becomes narrower than `width` cells. Boxes without load are split by cells.
/// targets: what each part should get, in any unit (> 0); empty: the same for all. memory: empty, or what the last call
/// left (2 parts - 1 nodes in preorder); with it, each node keeps its axis and its part counts where they still fit.
/// Throws std::invalid_argument when the region can't hold so many parts.
std::vector<Box> bisect(const Box& region, const SummedArea& load, std::int64_t parts, int width,
                        std::vector<Split>& memory, std::span<const double> targets = {});

/// The same for the whole grid and a team, below 2^30 parts. load: of this member's home. Members cut boxes together,
/// with sums over the team, while these have more cells than the share of a block of members; then each block goes on
/// with some of the boxes, and at last each member. So no member sees much more than its share of the cells and of the
/// parts, and the number of messages does not grow with the parts. Returns the parts that this member cut, perhaps
/// none; those of the members, one after the other, are all of them. Collective, the same parts and the same memory
/// whatever the number of members.
Leaves bisect(const Team& team, const Grid& grid, std::span<const std::int64_t> load, std::int64_t parts, int width,
              Scattered<Split>& memory, std::span<const double> targets = {});

/// Makes the blocks of members in which bisections of a team go on, ahead of the first one: with MPI it takes longer to
/// make a block than to use it. Collective.
void prepare_bisections(const Team& team);

/// What a member does together with others in a bisection, about, when loads are even: the lines of cells that it goes
/// through, whose cost is for a Meter, sums over teams, and how often the loads of its cells move to another member.
/// cells: of the grid.
struct CutTogether {
    std::int64_t lines = 0, sums = 0, moves = 0;
};
CutTogether cut_together_of(double cells, int dimensions, int members);

}  // namespace balance
