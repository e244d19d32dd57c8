// SPDX-License-Identifier: MIT
// Regions: unions of a few disjoint boxes, which a partition cuts cell by cell instead of only along straight lines.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "balance/partition/loads.hpp"

namespace balance {

/// Disjoint boxes, none of them empty.
using Region = std::vector<Box>;

std::int64_t load_in(const Region& region, const Loads& loads);
/// The smallest box around some that are not empty; there is at least one.
Box bounds_of(std::span<const Box> boxes);
/// The axes, the longest side of `box` first.
std::array<int, 3> axes_by_length(const Box& box);

/// The cells of a region that lie in `box`, and those that don't.
Region within(const Region& region, const Box& box);
Region without(const Region& region, const Box& box);
Region without(Region region, const Region& taken);

/// The inner cells of a region: no cell outside it is among their ghosts of width `width`. They are at least `width`
/// cells away, on some axis, from every cell outside. Periodic axes wrap around. Nothing lies beyond the other ends of
/// the grid.
Region inner_part(const Region& region, const Grid& grid, int width);

/// The cells of the grid within `width` of a cell of the region, on every axis, but outside it.
Region cells_around(const Region& region, const Grid& grid, int width);

/// Whether two disjoint boxes share a face of at least one cell.
bool touch(const Box& a, const Box& b);

/// The goal of a cut.
struct CutAim {
    double below = 0;                               ///< load of the lower side
    double tolerance = 0;                           ///< off by no more than this, a cut goes straight
    std::int64_t least_below = 0, least_above = 0;  ///< cells of the two sides
};
/// Cuts a region across axes[0] so that the load of the lower side is nearest to the goal. The cut goes along a line of
/// cells, and within one line of cells as far as the tolerance asks for. If a stretch without load leaves freedom, the
/// number of cells decides. least_below + least_above may not exceed the cells of the region.
std::pair<Region, Region> cut(const Region& region, const Loads& loads, const std::array<int, 3>& axes,
                              const CutAim& aim);

/// Cells [begin, end) of a box in the order of `axes`, the last of them fastest.
void add_cells(const Box& box, const std::array<int, 3>& axes, std::int64_t begin, std::int64_t end, Region& region);

}  // namespace balance
