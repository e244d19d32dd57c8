// SPDX-License-Identifier: MIT
// The cells of a tile with the halo around them, and the slots of the particles in them. Cells are ordered by columns
// along the last axis. Slots run up each column, cell by cell. So the particles of any box of cells are one contiguous
// run in each column.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/buffers.hpp"
#include "md/domain.hpp"

namespace md {

using CellIndex = std::array<int, 3>;  ///< of a cell of the grid, or beyond it; in two dimensions z is 0

/// Calls use(cell) with the lowest cell of each column of a box, in the order of their slots.
template <int D, class Use>
void for_each_column(const balance::Box& box, Use use) {
    if constexpr (D == 2) {
        for (int x = box.lower[0]; x < box.upper[0]; ++x) use(CellIndex{x, box.lower[1], 0});
    } else {
        for (int x = box.lower[0]; x < box.upper[0]; ++x)
            for (int y = box.lower[1]; y < box.upper[1]; ++y) use(CellIndex{x, y, box.lower[2]});
    }
}

/// Calls use(cell) for each cell of a box, in the order of their slots.
template <int D, class Use>
void for_each_cell(const balance::Box& box, Use use) {
    for_each_column<D>(box, [&](CellIndex c) {
        for (; c[D - 1] < box.upper[D - 1]; ++c[D - 1]) use(c);
    });
}

template <int D>
struct CellTable {
    static constexpr int up = D - 1;  ///< The axis along which columns run.
    /// In front of each layer of columns with the same x stands a slot for a position out of reach of all its
    /// particles. In two dimensions the kernels make one up.
    static constexpr int far_slots = D == 2 ? 0 : 1;

    balance::Box box;                                ///< The tile's own cells, without the halo.
    int halo;                                        ///< Width of the halo in cells.
    balance::Box all;                                ///< The box with its halo. Its particles are counted.
    balance::Box seen;                               ///< The part of `all` within reach of neighbours. It has slots.
    std::array<std::vector<std::int64_t>, D> edges;  ///< Edges of own cells, 2^-26; one more than cells.
    std::vector<std::int32_t> counts;                ///< Particles by cell.
    std::vector<std::int32_t> first;                 ///< First slot by cell; one more at the end of each column.

    /// reach: cells that a neighbour may be away, at most halo_width.
    CellTable(const std::array<Axis, 3>& axis, const balance::Box& own, int halo_width, int reach)
        : box(own), halo(halo_width), all(around(own, halo_width)), seen(around(own, reach)) {
        counts.resize(static_cast<std::size_t>(all.cells()), 0);
        first.resize(static_cast<std::size_t>(seen.cells() / rows() * (rows() + 1)), 0);
        for (int a = 0; a < D; ++a)
            for (int c = own.lower[a]; c <= own.upper[a]; ++c) edges[a].push_back(axis[a].edge(c));
    }

    int rows() const { return seen.extent(up); }  ///< cells of a column with slots
    /// Place in `counts` of a cell of the box with its halo (grid coordinates of the tile).
    std::size_t cell(const CellIndex& c) const {
        return static_cast<std::size_t>(column(all, c)) * all.extent(up) + (c[up] - all.lower[up]);
    }
    /// Place in `first` of a cell that has slots.
    std::size_t corner(const CellIndex& c) const {
        return static_cast<std::size_t>(column(seen, c)) * (rows() + 1) + (c[up] - seen.lower[up]);
    }
    /// The first slot of the layer of columns at x; in three dimensions its far slot.
    std::int32_t layer(int x) const {
        return first[corner({x, seen.lower[1], D == 2 ? 0 : seen.lower[2]})] - far_slots;
    }
    /// The run of slots of `height` cells from `low` upwards: first slot and number.
    struct Run {
        std::int32_t begin, size;
    };
    Run run(const CellIndex& low, int height) const {
        const std::int32_t* begin = &first[corner(low)];
        return {*begin, begin[height] - *begin};
    }

    /// Lays the slots out from the counts; returns how many there are.
    std::int64_t lay_slots() {
        std::int64_t next = 0;
        std::int32_t* slot = first.data();
        for_each_column<D>(seen, [&](const CellIndex& c) {
            if (D == 2 || c[1] == seen.lower[1]) next += far_slots;
            const std::int32_t* count = &counts[cell(c)];
            for (int r = 0; r < rows(); ++r) {
                *slot++ = static_cast<std::int32_t>(next);
                next += *count++;
            }
            *slot++ = static_cast<std::int32_t>(next);
        });
        return next;
    }

    std::int64_t bytes() const { return bytes_of(counts) + bytes_of(first); }

private:
    static balance::Box around(const balance::Box& own, int width) {
        return balance::with_halo(own, {width, width, D == 2 ? 0 : width});
    }
    static int column(const balance::Box& within, const CellIndex& c) {
        int n = c[0] - within.lower[0];
        if constexpr (D == 3) n = n * within.extent(1) + c[1] - within.lower[1];
        return n;
    }
};

}  // namespace md
