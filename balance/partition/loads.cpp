// SPDX-License-Identifier: MIT
#include "balance/partition/loads.hpp"

#include "balance/grid/for_each.hpp"

namespace balance {
namespace {

// The loads of all blocks on all members.
std::vector<std::int64_t> by_block(const Team& team, const Grid& grid, std::span<const std::int64_t> load, int side) {
    const Box blocks = BlockLoads::blocks_of(grid, side), home = Homes{grid, team.size()}.of(team.rank());
    std::vector<std::int64_t> sums(blocks.cells(), 0);
    const std::int64_t* next = load.data();
    for_each_cell(home, [&](int x, int y, int z) { sums[place_in(blocks, x / side, y / side, z / side)] += *next++; });
    team.sum(sums);
    return sums;
}

}  // namespace

BlockLoads::BlockLoads(const Team& team, const Grid& grid, std::span<const std::int64_t> load, int side)
    : BlockLoads(grid, by_block(team, grid, load, side), side) {}

BlockLoads::BlockLoads(const Grid& grid, std::span<const std::int64_t> blocks, int side)
    : grid_(grid), side_(side), blocks_(blocks_of(grid, side)), sums_(blocks_, blocks) {
    for (int a = 0; a < 3; ++a) {
        const std::int64_t last = grid.cells[a] - std::int64_t{blocks_.upper[a] - 1} * side;
        scale_[a] = last == side ? side : side * last;
        if (blocks_.upper[a] == 1) scale_[a] = last;
    }
}

// The load of all cells before `corner` on every axis, times the product of the scales: linear along each axis between
// the corners of blocks.
BlockLoads::Wide BlockLoads::below(const std::array<int, 3>& corner) const {
    std::array<int, 3> block;
    std::array<std::array<std::int64_t, 2>, 3> weight;  // of the lower and the upper end of the block
    for (int a = 0; a < 3; ++a) {
        block[a] = std::min(corner[a] / side_, blocks_.upper[a] - 1);
        const std::int64_t begin = std::int64_t{block[a]} * side_;
        const std::int64_t width = std::min<std::int64_t>(side_, grid_.cells[a] - begin), inside = corner[a] - begin;
        weight[a] = {(width - inside) * (scale_[a] / width), inside * (scale_[a] / width)};
    }
    Wide sum = 0;
    for (int i = 0; i < 8; ++i) {
        const std::array<int, 3> up{i & 1, i >> 1 & 1, i >> 2};
        const std::int64_t w = weight[0][up[0]] * weight[1][up[1]] * weight[2][up[2]];
        if (w > 0) sum += Wide{w} * sums_.of({{0, 0, 0}, {block[0] + up[0], block[1] + up[1], block[2] + up[2]}});
    }
    return sum;
}

std::int64_t BlockLoads::of(const Box& box) const {
    const Box b = intersection(box, grid_.box());
    if (b.empty()) return 0;
    Wide sum = 0;
    for (int i = 0; i < 8; ++i) {
        const std::array<int, 3> corner{(i & 1 ? b.lower : b.upper)[0], (i & 2 ? b.lower : b.upper)[1],
                                        (i & 4 ? b.lower : b.upper)[2]};
        if (corner[0] == 0 || corner[1] == 0 || corner[2] == 0) continue;
        const bool negative = (i & 1) ^ (i >> 1 & 1) ^ (i >> 2);
        sum += negative ? -below(corner) : below(corner);
    }
    return static_cast<std::int64_t>(sum / (Wide{scale_[0]} * scale_[1] * scale_[2]));
}

}  // namespace balance
