// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "md/domain.hpp"
#include "md/kernels/hd.hpp"
#include "md/kernels/kernels.hpp"

namespace md {

/// The cell of the tile that holds a coordinate (2^-26), as Axis::cell_of: edges are rounded, so close to them they
/// decide. The box is at most 2^20 lengths and cells long, so coordinates are below 2^46 and exact as doubles.
template <int D>
HD int cell_in_tile(const KeysArgs<D>& a, int axis, std::int64_t at) {
    int c = static_cast<int>(static_cast<double>(at - a.edges[axis][0]) * a.per_cell[axis]);
    c = c < a.cells[axis] ? c : a.cells[axis] - 1;
    return c + (at >= a.edges[axis][c + 1]) - (at < a.edges[axis][c]);
}

/// The sorting key of a position (2^-40), its cell exactly. Slices are for speed only and need no exact edges.
template <int D>
HD std::int64_t sorting_key(const KeysArgs<D>& a, const std::int64_t (&x)[D]) {
    constexpr int up = D - 1;
    std::int64_t cell = 0;
    for (int k = 0; k < up; ++k) cell = (cell + cell_in_tile(a, k, x[k] >> edge_shift)) * a.cells[k + 1];
    const std::int64_t at = x[up] >> edge_shift;
    const int c = cell_in_tile(a, up, at);
    const int slice = static_cast<int>(static_cast<double>(at - a.edges[up][c]) * a.per_cell[up] * a.slices);
    return (cell + c) * a.slices + (slice < a.slices ? slice : a.slices - 1);
}

}  // namespace md
