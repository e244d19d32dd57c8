// SPDX-License-Identifier: MIT
// The neighbour lists of a tile. A cluster is a run of particles in a column. Around it lie its neighbourhoods. Each
// particle has a row of places in a neighbourhood.
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
    int bits;  ///< Unit of positions: 2^-bits lengths, rounded down.
    /// Two particles may be in reach if their differences' squares add up to at most this. Each square is first divided
    /// by 2^15 and rounded to the nearest integer.
    std::uint16_t limit;
};
/// The finest search for `radius` (lengths) that is safe on cells of these widths (lengths, axis by axis). It finds all
/// neighbours; with finer positions it finds fewer other pairs. Its positions wrap so far out that no distant particle
/// appears close. Clusters may still have `extent` (lengths) along their columns, unless packed positions with
/// packed_bits allow less.
CoarseSearch coarse_search(int dimensions, const double* cell, int packed_bits, double radius, double extent);

/// Packed x that is out of reach of all particles in the columns of cells at x: half way round.
std::uint32_t far_x(const Axis& axis, int x, int packed_bits);

/// Builds the lists of all own particles for `radius` = cutoff + skin (lengths). Throws SimulationError where the tile
/// holds too many particles for them.
template <int D>
void build_lists(NeighbourLists<D>& lists, const SearchedTile<D>& tile, const Kernels& kernels, double radius,
                 TileScratch& scratch);

}  // namespace md
