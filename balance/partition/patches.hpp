// SPDX-License-Identifier: MIT
// The chain that is cut among processes: the patches of a bisection, one behind the other along a curve, and the items
// of which each consists. Every member has some patches that follow each other; none knows all.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "balance/partition/partition.hpp"

namespace balance {

/// A patch as a row of items. Cells are taken in the order of its sides, along the shortest one fastest; strips are the
/// lines of cells along that one. In two dimensions they go across the longer side; in three they are pencils.
class PatchRow {
public:
    PatchRow(const Box& patch, CutAt cut, int dimensions);

    std::int64_t items() const {
        return cut_ == CutAt::patches ? 1 : cut_ == CutAt::strips ? patch_.cells() / line_ : patch_.cells();
    }
    /// Adds sums of the patch's cells over its items. cells: their values, ordered by x, then y, then z.
    void add_items(const std::int64_t* cells, std::vector<std::int64_t>& items) const;
    /// The boxes that hold items [begin, end).
    void add_boxes(std::int64_t begin, std::int64_t end, std::vector<Box>& boxes) const;

private:
    Box patch_;
    CutAt cut_;
    std::array<int, 3> axes_;
    std::int64_t line_;  // cells of a strip
};

/// A patch at its place.
struct Patch {
    std::int64_t before;  ///< items of the chain before it
    Box box;
};
struct Patches {
    std::vector<Patch> mine;  ///< of this member; along the curve, the members' patches follow each other
    std::int64_t items = 0;   ///< of the whole chain
};

/// Orders patches along the curve through their centres, or as they are (PatchOrder::tree), and deals them to the
/// members. All members would wait for a member with many items or many parts of the chain. All patches have about the
/// same load, so many patches mean many parts. Each member gets at most about twice its share of the items, and twice
/// its share of the patches. all: number of all patches. Collective; the same chain for any number of members.
Patches patches_in_order(const Team& team, const Grid& grid, Leaves leaves, std::int64_t all, PatchOrder order,
                         CutAt cut);

}  // namespace balance
