// SPDX-License-Identifier: MIT
// Blocks of cells, by which the search for slow processes (balance/model/speeds.hpp) sums what the cells hold.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/model/prior.hpp"
#include "balance/model/process_cells.hpp"

namespace balance {

/// What one process has in one block.
struct BlockPart {
    std::int32_t process;
    std::int32_t x, y;  ///< the block's place among all blocks; in three dimensions y counts them along y and z
    std::int32_t cells;
    std::array<std::int64_t, features - 1> sums;  ///< of the features of the cells, but for the first one, which is 1

    Features features_of_all() const;
    void add(const BlockPart& other);
    friend bool operator==(const BlockPart&, const BlockPart&) = default;
};

/// Of a piece's cells, by the places of the blocks, which are `side` cells wide. home, counts: the cells among which
/// those of the piece are, and what they hold. layers: of blocks along z.
std::vector<BlockPart> parts_of(const Piece& piece, const Box& home, std::span<const CellCounts> counts, int side,
                                int layers);

/// One part of each process in each block, by processes and the places of blocks.
std::vector<BlockPart> merged(std::vector<BlockPart> parts);

/// Parts as they are kept. Of those that follow one another along y and hold the same, as blocks of a vacuum do, only
/// the first one is kept, and how many they are: the owner of a vacuum has hundreds of times as many blocks as most.
class PackedParts {
public:
    explicit PackedParts(std::span<const BlockPart> parts);
    /// The parts, in the order in which they were given.
    std::vector<BlockPart> unpacked() const;
    std::int64_t bytes() const;

private:
    // One of parts_ that stands for several.
    struct Run {
        std::uint32_t place, length;
    };
    std::vector<BlockPart> parts_;
    std::vector<Run> runs_;  // by place
};

/// Of all features, over the parts of each of some processes, one after the other.
std::vector<std::int64_t> feature_sums(std::span<const BlockPart> parts, const Range& processes);

}  // namespace balance
