// SPDX-License-Identifier: MIT
// Half-open boxes of cells. Ghosts, cells that change their owner and fields of cells move as such boxes. Only
// particles that leave their tile and particles of a file move one by one.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace balance {

/// Cells [lower, upper) on each axis; a 2D grid has one cell along z. May reach outside the grid (a halo).
struct Box {
    std::array<int, 3> lower{0, 0, 0};
    std::array<int, 3> upper{0, 0, 1};

    constexpr int extent(int axis) const { return std::max(0, upper[axis] - lower[axis]); }
    constexpr std::int64_t cells() const { return std::int64_t{extent(0)} * extent(1) * extent(2); }
    constexpr bool empty() const { return cells() == 0; }
    constexpr bool contains(std::array<int, 3> cell) const {
        for (int a = 0; a < 3; ++a)
            if (cell[a] < lower[a] || cell[a] >= upper[a]) return false;
        return true;
    }
    friend constexpr bool operator==(const Box&, const Box&) = default;
};

/// The cells of all boxes together.
inline std::int64_t cells_in(std::span<const Box> boxes) {
    std::int64_t cells = 0;
    for (const Box& b : boxes) cells += b.cells();
    return cells;
}

/// The cells in both; empty if they don't meet.
constexpr Box intersection(const Box& a, const Box& b) {
    Box r;
    for (int k = 0; k < 3; ++k) {
        r.lower[k] = std::max(a.lower[k], b.lower[k]);
        r.upper[k] = std::max(r.lower[k], std::min(a.upper[k], b.upper[k]));
    }
    return r;
}

/// The smallest box that contains both boxes. Neither may be empty.
constexpr Box around(const Box& a, const Box& b) {
    Box r;
    for (int k = 0; k < 3; ++k) {
        r.lower[k] = std::min(a.lower[k], b.lower[k]);
        r.upper[k] = std::max(a.upper[k], b.upper[k]);
    }
    return r;
}

/// Whether two boxes, neither of them empty, have cells in common.
constexpr bool meet(const Box& a, const Box& b) {
    return a.lower[0] < b.upper[0] && b.lower[0] < a.upper[0] && a.lower[1] < b.upper[1] && b.lower[1] < a.upper[1] &&
           a.lower[2] < b.upper[2] && b.lower[2] < a.upper[2];
}

/// `box` with the ends [lower, upper) along an axis.
constexpr Box slab(Box box, int axis, int lower, int upper) {
    box.lower[axis] = lower;
    box.upper[axis] = upper;
    return box;
}

/// `box` moved by `offset` cells.
constexpr Box shifted(Box box, std::array<int, 3> offset) {
    for (int k = 0; k < 3; ++k) {
        box.lower[k] += offset[k];
        box.upper[k] += offset[k];
    }
    return box;
}

/// `box` with a halo of `width[axis]` cells on both sides of each axis.
constexpr Box with_halo(Box box, std::array<int, 3> width) {
    for (int k = 0; k < 3; ++k) {
        box.lower[k] -= width[k];
        box.upper[k] += width[k];
    }
    return box;
}

}  // namespace balance
