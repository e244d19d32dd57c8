// SPDX-License-Identifier: MIT
// The cells that the accelerators of a rank compute: a block of its cells out of sight of other ranks' halos. So an
// accelerator never talks to other ranks (Algorithm 2 of the nested partition, one block each). The border of the block
// moves by strips of one cell.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/partition/region.hpp"

namespace balance {

/// The cells that accelerators of one rank may have, and how they are cut into strips of one cell.
struct ZoneRoom {
    Box block;     ///< empty where no cell is far enough from other ranks
    int axis = 0;  ///< strips lie across it, the first at its lower end
    int strips() const { return block.empty() ? 0 : block.extent(axis); }
    /// The first n strips.
    Box first(int n) const { return strips_between(0, n); }
    /// Strips [begin, end), 0 <= begin <= end <= strips().
    Box strips_between(int begin, int end) const {
        return slab(block, axis, block.lower[axis] + begin, block.lower[axis] + end);
    }
    friend bool operator==(const ZoneRoom&, const ZoneRoom&) = default;
};

/// The largest such block by load, of several the largest by cells. Its strips lie across its longer side.
/// region: the cells of one rank.
/// width: least distance of the block from cells of other ranks, in cells. Periodic axes wrap around. load_of(box): the
/// load >= 0 of a box of the region's cells. It is called for each cell at most once.
///
/// The search takes O(n^3) in two dimensions and O(n^5) in three. n counts the ends of boxes of the inner cells along
/// an axis.
ZoneRoom zone_room(const Grid& grid, const Region& region, int width,
                   const std::function<std::int64_t(const Box&)>& load_of);

/// The blocks of `accelerators` devices in the first `border` strips. They are consecutive, with loads as equal as
/// strips allow. A block may be empty. strip_loads: loads of all strips of the room.
std::vector<Box> zone_blocks(const ZoneRoom& room, int border, int accelerators,
                             std::span<const std::int64_t> strip_loads);

/// The number of strips whose load is nearest to `share` of `total`, the load of all cells of the rank; of several the
/// fewest.
int border_at(std::span<const std::int64_t> strip_loads, std::int64_t total, double share);
/// The part of `total` in the first `border` strips; 0 where total is 0.
double share_at(std::span<const std::int64_t> strip_loads, std::int64_t total, int border);

}  // namespace balance
