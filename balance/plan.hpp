// SPDX-License-Identifier: MIT
// Plans: lists of boxes of cells that go from one tile to another. Ghost filling reads a plan forwards (owner -> frame),
// particle migration reads the same plan backwards (frame -> owner). Both sides of a message derive the same entries in the
// same order, so no structure is ever negotiated.
#pragma once
#include <array>
#include <vector>

#include "balance/decomposition.hpp"

namespace balance {

/// A box of cells that `source` owns and `target` sees in its frame.
struct Move {
    TileId source, target;
    Box box;                          ///< in the source's cells
    std::array<int, 3> image{0, 0, 0};  ///< target cell = source cell + image * grid.cells (periodic images)
    friend auto operator<=>(const Move& a, const Move& b) {
        if (auto c = a.target <=> b.target; c != 0) return c;
        if (auto c = a.source <=> b.source; c != 0) return c;
        if (auto c = a.image <=> b.image; c != 0) return c;
        return a.box.lower <=> b.box.lower;
    }
    friend bool operator==(const Move&, const Move&) = default;
};

/// What one rank takes part in, each list in ascending order of Move.
struct FramePlan {
    std::vector<Move> incoming;  ///< target on this rank; source anywhere, this rank included
    std::vector<Move> outgoing;  ///< source on this rank, target on another
};

/// The plan that fills a frame of `width` cells (x and y) around every tile of `rank`. On a periodic axis the frame may hold
/// images; `width` may not exceed the number of cells of a periodic axis. Throws std::invalid_argument otherwise.
FramePlan frame_plan(const Decomposition& decomposition, int rank, int width);

}  // namespace balance
