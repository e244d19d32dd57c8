// SPDX-License-Identifier: MIT
// Blocks of cells, by which the search for slow processes (balance/model/speeds.hpp) sums what the cells hold.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "balance/model/evaluate.hpp"
#include "balance/model/prior.hpp"

namespace balance {

/// What one process has in one block.
struct BlockPart {
    std::int32_t process;
    std::int32_t x, y;  ///< the block's place among all blocks; in three dimensions y counts them along y and z
    std::int32_t cells;
    std::array<std::int64_t, features - 1> sums;  ///< of the features of the cells, but for the first one, which is 1

    auto place() const { return std::pair(x, y); }
    Features features_of_all() const;
    void add(const BlockPart& other);
};

/// Of the cells of one process, by the places of the blocks, which are `side` cells wide; layers: of blocks along z.
std::vector<BlockPart> parts_of(const HostedCells& hosted, const HostedCells::Process& process, int side, int layers);

/// Of all features, over all parts.
std::array<std::int64_t, features> feature_sums(std::span<const BlockPart> parts);

}  // namespace balance
