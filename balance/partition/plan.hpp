// SPDX-License-Identifier: MIT
// Plans: lists of boxes of cells that go from one tile to another. Both sides of a message derive the same moves in the
// same order from the decompositions, so no structure is ever negotiated. balance/transfer.hpp carries the content of
// the boxes: particle counts, positions, whole particles.
#pragma once
#include <array>
#include <vector>

#include "balance/partition/decomposition.hpp"
#include "balance/transfer.hpp"

namespace balance {

/// A box of cells whose contents go from `source` to `target`.
struct Move {
    TileId source, target;
    Box box;                            ///< in the source's cells
    std::array<int, 3> image{0, 0, 0};  ///< target cell = source cell + image * grid.cells (periodic images)
    friend auto operator<=>(const Move& a, const Move& b) {
        if (auto c = a.target <=> b.target; c != 0) return c;
        if (auto c = a.source <=> b.source; c != 0) return c;
        if (auto c = a.image <=> b.image; c != 0) return c;
        return a.box.lower <=> b.box.lower;
    }
    friend bool operator==(const Move&, const Move&) = default;
};

/// The moves of one rank. Each list of moves is in ascending order of Move.
struct Plan {
    std::vector<Move> local;             ///< moves from a tile of this rank to a tile of this rank
    std::vector<PeerMoves<Move>> links;  ///< moves to and from each other rank, in ascending order of ranks
};

/// The plan that copies the contents of cells into the halo of each tile of `rank`. The halo is `width` cells wide
/// along each axis. On a periodic axis it may hold periodic images of cells. Throws std::invalid_argument if `width`
/// exceeds the number of cells of a periodic axis.
Plan halo_plan(const Decomposition& decomposition, int rank, int width);

/// The plan that takes each cell from its tile in `old` to its tile in `next`. Tiles that keep their cells, their rank
/// and their accelerator are left out.
Plan move_plan(const Decomposition& old, const Decomposition& next, int rank);

}  // namespace balance
