// SPDX-License-Identifier: MIT
// The neighbour lists of a tile: clusters of particles that follow each other in a column, the neighbourhoods around
// them, and for each particle a row of places there.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "md/buffers.hpp"
#include "md/cell_table.hpp"
#include "md/domain.hpp"
#include "md/kernels/kernels.hpp"

namespace md {

template <int D>
struct NeighbourLists {
    std::vector<Cluster> clusters;
    std::vector<Neighbourhood<D>> neighbourhoods;
    std::vector<Place<D>> rows;
    double radius = 0;  ///< for which they were built last

    /// Elements of the rows, which the kernels go through, of one lane.
    std::int64_t length() const;
    std::int64_t bytes() const { return bytes_of(clusters) + bytes_of(neighbourhoods) + bytes_of(rows); }
};

/// A tile in which neighbours are searched: sorted, its slots laid out and filled, those of the ghosts too.
template <int D>
struct SearchedTile {
    const std::array<Axis, 3>& axis;
    int packed_bits;  ///< see Domain
    const CellTable<D>& cells;
    const Packed<D>* packed;      ///< by slot
    const std::int64_t* heights;  ///< along the columns, own order, 2^-40
};

/// How neighbours are searched among positions of 16 bits; see RowsArgs.
struct CoarseSearch {
    int bits;             ///< positions are in 2^-bits lengths, rounded down
    std::uint16_t limit;  ///< two particles may be in reach where the squares of their differences, divided by 2^15 and
                          ///< rounded to the nearest integer each, add up to at most this
};
/// The search for `radius` (lengths) that finds all neighbours, and few pairs besides, on cells of these widths
/// (lengths, axis by axis), where packed positions have packed_bits: the finer its positions, the fewer. They wrap
/// where no particle can appear close merely because of that, and clusters may still have `extent` (lengths) along
/// their columns, unless packed positions allow less.
CoarseSearch coarse_search(int dimensions, const double* cell, int packed_bits, double radius, double extent);

/// Packed x that is out of reach of all particles in the columns of cells at x: half way round.
std::uint32_t far_x(const Axis& axis, int x, int packed_bits);

/// Builds the lists of all own particles for `radius` = cutoff + skin (lengths). Throws SimulationError where the tile
/// holds too many particles for them.
template <int D>
void build_lists(NeighbourLists<D>& lists, const SearchedTile<D>& tile, const Kernels& kernels, double radius,
                 TileScratch& scratch);

}  // namespace md
