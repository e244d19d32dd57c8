// SPDX-License-Identifier: MIT
// The grid of cells, ranges of indices, and how consecutive indices are dealt to the members of a team.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "balance/grid/box.hpp"

namespace balance {

/// The uniform grid: cells along each axis (one along z in 2D) and which axes wrap around.
struct Grid {
    std::array<int, 3> cells{1, 1, 1};
    std::array<bool, 3> periodic{false, false, false};

    Box box() const { return {{0, 0, 0}, cells}; }
};

/// A half-open range of indices.
struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

/// Part `index` of an even bisection of `box` into `parts` boxes of about equal numbers of cells, each cut across the
/// longest side, in the order of the recursion; found without making the others. parts: at most box.cells().
inline Box even_part(Box box, std::int64_t parts, std::int64_t index) {
    while (parts > 1) {
        int axis = 0;
        for (int a = 1; a < 3; ++a)
            if (box.extent(a) > box.extent(axis)) axis = a;
        const std::int64_t extent = box.extent(axis), across = box.cells() / extent;
        std::int64_t left = parts / 2;
        const std::int64_t cut = std::clamp<std::int64_t>((2 * extent * left + parts) / (2 * parts), 1, extent - 1);
        left =
            std::clamp(left, parts - (extent - cut) * across, cut * across);  // never more parts than cells on a side
        if (index < left) {
            box.upper[axis] = box.lower[axis] + static_cast<int>(cut);
            parts = left;
        } else {
            box.lower[axis] += static_cast<int>(cut);
            index -= left;
            parts -= left;
        }
    }
    return box;
}

/// The indices of [0, n) that belong to `member` when they are dealt to `members` in consecutive blocks of about equal
/// size.
inline Range block(std::int64_t n, std::int64_t member, std::int64_t members) {
    return {n * member / members, n * (member + 1) / members};
}

}  // namespace balance
