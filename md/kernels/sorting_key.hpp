// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "md/domain.hpp"
#include "md/kernels/hd.hpp"
#include "md/kernels/kernels.hpp"

namespace md {

/// The cell of the tile that holds a coordinate (2^-26), as Axis::cell_of: edges are rounded, so close to them they
/// decide.
HD int cell_in_tile(const KeysArgs& a, int axis, std::int64_t at) {
    int c = static_cast<int>(static_cast<double>(at - a.edges[axis][0]) * a.per_cell[axis]);
    c = c < a.cells[axis] ? c : a.cells[axis] - 1;
    return c + (at >= a.edges[axis][c + 1]) - (at < a.edges[axis][c]);
}

/// The sorting key of a position (2^-40), its cell exactly. Slices are for speed only and need no exact edges.
HD std::int64_t sorting_key(const KeysArgs& a, std::int64_t x, std::int64_t y) {
    const std::int64_t at = y >> edge_shift;
    const int c = cell_in_tile(a, 1, at);
    const int slice = static_cast<int>(static_cast<double>(at - a.edges[1][c]) * a.per_cell[1] * a.slices);
    return (cell_in_tile(a, 0, x >> edge_shift) * a.cells[1] + c) * a.slices +
           (slice < a.slices ? slice : a.slices - 1);
}

}  // namespace md
