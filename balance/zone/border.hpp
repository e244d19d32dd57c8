// SPDX-License-Identifier: MIT
// The cells that the accelerators of a rank compute. They may be any of the rank's cells, or only a box of inner cells,
// out of sight of other ranks' halos (Algorithm 2 of the nested partition, one block each). The border between them and
// the cells of the CPU moves by strips of one cell.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/partition/region.hpp"
#include "balance/words.hpp"

namespace balance {

/// Which of a rank's cells its accelerators may have.
enum class ZoneReach { border, inner };  ///< all; a box that no other rank sees
constexpr auto words_of(ZoneReach) {
    return std::to_array<Word<ZoneReach>>({{ZoneReach::border, "border"}, {ZoneReach::inner, "inner"}});
}

/// The cells that accelerators of one rank may have, and how they are cut into strips of one cell. The strips of a box
/// lie across its longest side, the first at its lower end. They follow those of the box before.
struct ZoneRoom {
    Region boxes;  ///< in the order in which accelerators take them
    int strips() const { return strips_of(boxes); }
    /// Strips [begin, end), 0 <= begin <= end <= strips(): one box in each box that they meet.
    Region strips_between(int begin, int end) const;
    /// The first n strips.
    Region first(int n) const { return strips_between(0, n); }
    friend bool operator==(const ZoneRoom&, const ZoneRoom&) = default;

private:
    static int strips_of(std::span<const Box> boxes);
};

/// The room in `region`, the cells of one rank.
///
/// border: all cells. The first box is the largest one by load, of several the largest by cells. Then comes the box
/// that shares the most faces of cells with those before, of several the larger one. So accelerators have whole boxes
/// that lie together, and a part of one more: the surface between the zones stays small.
///
/// inner: the largest box by load, of several the largest by cells, of cells that are at least `width` cells away from
/// those of other ranks. Periodic axes wrap around. The search takes O(n^3) in two dimensions and O(n^5) in three. n
/// counts the ends of boxes of the inner cells along an axis.
///
/// load_of(box): the load >= 0 of a box of the region's cells. It is called for each cell at most once.
ZoneRoom zone_room(const Grid& grid, const Region& region, ZoneReach reach, int width,
                   const std::function<std::int64_t(const Box&)>& load_of);

/// The blocks of `accelerators` devices in the first `border` strips. The strips of a device are consecutive, with
/// loads as equal as strips allow. A device may have none. strip_loads: loads of all strips of the room.
std::vector<ZoneBlock> zone_blocks(const ZoneRoom& room, int border, int accelerators,
                                   std::span<const std::int64_t> strip_loads);

/// The number of strips whose load is nearest to `share` of `total`, the load of all cells of the rank; of several the
/// fewest.
int border_at(std::span<const std::int64_t> strip_loads, std::int64_t total, double share);
/// The part of `total` in the first `border` strips; 0 where total is 0.
double share_at(std::span<const std::int64_t> strip_loads, std::int64_t total, int border);

}  // namespace balance
