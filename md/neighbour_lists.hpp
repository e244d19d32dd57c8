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

/// Packed x that is out of reach of all particles in the columns of cells at x: half way round.
std::uint32_t far_x(const Axis& axis, int x, int packed_bits);

/// Builds the lists of all own particles for `radius` = cutoff + skin (lengths). Throws SimulationError where the tile
/// holds too many particles for them.
template <int D>
void build_lists(NeighbourLists<D>& lists, const SearchedTile<D>& tile, const Kernels& kernels, double radius,
                 TileScratch& scratch);

}  // namespace md
