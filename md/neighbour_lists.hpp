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

struct NeighbourLists {
    std::vector<Cluster> clusters;
    std::vector<Neighbourhood> neighbourhoods;
    std::vector<std::uint8_t> rows;

    /// Elements of the rows, which the kernels go through, of one lane.
    std::int64_t length() const;
    std::int64_t bytes() const { return bytes_of(clusters) + bytes_of(neighbourhoods) + bytes_of(rows); }
};

/// A tile in which neighbours are searched: sorted, its slots laid out and filled, those of the ghosts too.
struct SearchedTile {
    const std::array<Axis, 2>& axis;
    int packed_bits;  ///< see Domain
    const CellTable& cells;
    const std::uint64_t* packed;  ///< by slot
    const std::int64_t* y;        ///< own order, 2^-40
};

/// Builds the lists of all own particles for `radius` = cutoff + skin (lengths). Throws SimulationError where the tile
/// holds too many particles for them.
void build_lists(NeighbourLists& lists, const SearchedTile& tile, const Kernels& kernels, double radius,
                 TileScratch& scratch);

}  // namespace md
