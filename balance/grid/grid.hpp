// SPDX-License-Identifier: MIT
// The grid of cells, ranges of indices, and how consecutive indices are dealt to the members of a team.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "balance/grid/box.hpp"

namespace balance {

/// The uniform grid: cells along each axis and which axes wrap around. In two dimensions there is one cell along z, and
/// nothing above or below it.
struct Grid {
    std::array<int, 3> cells{1, 1, 1};
    std::array<bool, 3> periodic{false, false, false};
    int dimensions = 2;

    Box box() const { return {{0, 0, 0}, cells}; }
};

/// A halo of `width` cells: in two dimensions none along z.
inline std::array<int, 3> halo_of(const Grid& grid, int width) {
    return {width, width, grid.dimensions == 3 ? width : 0};
}

/// A half-open range of indices.
struct IndexRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool contains(std::int64_t index) const { return begin <= index && index < end; }
};

/// One cut of an even bisection: the boxes on both sides, and how many parts the lower one gets.
struct EvenCut {
    Box lower, upper;
    std::int64_t left;
};
/// Across the longest side. parts: from 2 to box.cells().
inline EvenCut even_cut(const Box& box, std::int64_t parts) {
    int axis = 0;
    for (int a = 1; a < 3; ++a)
        if (box.extent(a) > box.extent(axis)) axis = a;
    const std::int64_t extent = box.extent(axis), across = box.cells() / extent, half = parts / 2;
    const std::int64_t cut = std::clamp<std::int64_t>((2 * extent * half + parts) / (2 * parts), 1, extent - 1);
    EvenCut result{box, box, std::clamp(half, parts - (extent - cut) * across, cut * across)};  // no more than cells
    result.lower.upper[axis] = result.upper.lower[axis] = box.lower[axis] + static_cast<int>(cut);
    return result;
}

/// Part `index` of an even bisection of `box` into `parts` boxes of about equal numbers of cells. Parts are in the
/// order of the recursion. The other parts are not computed. parts: at most box.cells().
inline Box even_part(Box box, std::int64_t parts, std::int64_t index) {
    while (parts > 1) {
        const EvenCut cut = even_cut(box, parts);
        const bool lower = index < cut.left;
        box = lower ? cut.lower : cut.upper;
        index -= lower ? 0 : cut.left;
        parts = lower ? cut.left : parts - cut.left;
    }
    return box;
}

/// Calls visit(index) for each of those parts that meets `region`, in ascending order.
template <class Visit>
void for_each_even_part_in(const Box& region, const Box& box, std::int64_t parts, Visit visit, std::int64_t first = 0) {
    if (region.empty() || !meet(region, box)) return;
    if (parts == 1) return visit(first);
    const EvenCut cut = even_cut(box, parts);
    for_each_even_part_in(region, cut.lower, cut.left, visit, first);
    for_each_even_part_in(region, cut.upper, parts - cut.left, visit, first + cut.left);
}

/// The indices of [0, n) that belong to `member` when they are dealt to `members` in consecutive blocks of about equal
/// size.
inline IndexRange block(std::int64_t n, std::int64_t member, std::int64_t members) {
    return {n * member / members, n * (member + 1) / members};
}

}  // namespace balance
