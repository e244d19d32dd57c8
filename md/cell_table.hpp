// SPDX-License-Identifier: MIT
// The cells of a tile with the halo around them, and which slots the particles in them have. Cells go by columns; slots
// run up each column, cell by cell, so that the particles of any box of cells are one contiguous run a column.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/buffers.hpp"
#include "md/domain.hpp"

namespace md {

struct CellTable {
    balance::Box box;                                ///< the tile's own cells, without the halo
    int halo;                                        ///< its width in cells
    int columns, rows;                               ///< of the box with its halo
    std::array<std::vector<std::int64_t>, 2> edges;  ///< of own cells, 2^-26; one more than cells
    std::vector<std::int32_t> counts;                ///< particles by cell
    std::vector<std::int32_t> first;                 ///< slot by cell; one more at the end of each column

    CellTable(const std::array<Axis, 2>& axis, const balance::Box& own, int halo_width)
        : box(own),
          halo(halo_width),
          columns(own.extent(0) + 2 * halo_width),
          rows(own.extent(1) + 2 * halo_width),
          counts(static_cast<std::size_t>(columns) * rows, 0),
          first(static_cast<std::size_t>(columns) * (rows + 1), 0) {
        for (int a = 0; a < 2; ++a)
            for (int c = own.lower[a]; c <= own.upper[a]; ++c) edges[a].push_back(axis[a].edge(c));
    }

    /// Places in `counts` and `first` of a cell of the box with its halo (grid coordinates of the tile).
    int cell(int cx, int cy) const { return (cx - box.lower[0] + halo) * rows + (cy - box.lower[1] + halo); }
    int corner(int cx, int cy) const { return (cx - box.lower[0] + halo) * (rows + 1) + (cy - box.lower[1] + halo); }

    /// First and last column and row of the box with its halo.
    std::array<int, 2> lowest() const { return {box.lower[0] - halo, box.lower[1] - halo}; }
    std::array<int, 2> highest() const { return {box.upper[0] + halo, box.upper[1] + halo}; }

    /// The run of slots of cells [y0, y1) in column x: first slot and number.
    struct Run {
        std::int32_t begin, size;
    };
    Run run(int x, int y0, int y1) const {
        const std::int32_t begin = first[corner(x, y0)];
        return {begin, first[corner(x, y1)] - begin};
    }

    /// Lays the slots out from the counts; returns how many there are.
    std::int64_t lay_slots() {
        std::int64_t next = 0;
        for (int c = 0; c < columns; ++c) {
            std::int32_t* slot = &first[static_cast<std::size_t>(c) * (rows + 1)];
            for (int r = 0; r < rows; ++r) {
                slot[r] = static_cast<std::int32_t>(next);
                next += counts[static_cast<std::size_t>(c) * rows + r];
            }
            slot[rows] = static_cast<std::int32_t>(next);
        }
        return next;
    }

    std::int64_t bytes() const { return bytes_of(counts) + bytes_of(first); }
};

}  // namespace md
