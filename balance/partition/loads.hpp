// SPDX-License-Identifier: MIT
// Sums of loads over boxes of cells, as cuts ask for them: from cells, from blocks of cells, or of cells that all cost
// the same.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "balance/grid/field.hpp"

namespace balance {

/// A larger box never has a smaller sum.
class Loads {
public:
    virtual ~Loads() = default;
    /// Sum of the loads of the cells of `box`.
    virtual std::int64_t of(const Box& box) const = 0;
};

/// Each cell counts 1.
class UniformLoads final : public Loads {
public:
    std::int64_t of(const Box& box) const override { return box.cells(); }
};

/// One load a cell.
class LoadsByCell final : public Loads {
public:
    /// load: of the cells of `home`, or empty where each is 1.
    LoadsByCell(const Box& home, std::span<const std::int64_t> load) : sums_(home, load) {}
    std::int64_t of(const Box& box) const override { return sums_.of(box); }

private:
    SummedArea sums_;
};

/// One load a block of cells, as if it were spread evenly over the cells of the block. Sums are rounded down.
class BlockLoads final : public Loads {
public:
    /// Adds up the loads of all members' homes by block. load: of this member's home. side: cells of a block along each
    /// axis; blocks at the upper ends may be smaller. Collective.
    BlockLoads(const Team& team, const Grid& grid, std::span<const std::int64_t> load, int side);
    /// blocks: the loads of all blocks, ordered by x, y, z.
    BlockLoads(const Grid& grid, std::span<const std::int64_t> blocks, int side);
    std::int64_t of(const Box& box) const override;

    /// The side of blocks of which there are at most `most` in the grid.
    static int side_for(const Grid& grid, std::int64_t most) {
        int side = 1;
        while (blocks_of(grid, side).cells() > most) ++side;
        return side;
    }
    /// The blocks as cells of a grid of their own.
    static Box blocks_of(const Grid& grid, int side) {
        Box blocks;
        for (int a = 0; a < 3; ++a) blocks.upper[a] = (grid.cells[a] + side - 1) / side;
        return blocks;
    }

private:
    __extension__ using Wide = __int128;
    Wide below(const std::array<int, 3>& corner) const;

    Grid grid_;
    int side_;
    Box blocks_;
    std::array<std::int64_t, 3> scale_;  // of weights along each axis: a common multiple of the widths of blocks
    SummedArea sums_;
};

}  // namespace balance
