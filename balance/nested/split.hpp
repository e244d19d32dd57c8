// SPDX-License-Identifier: MIT
// A region over parts of unequal speed: recursive bisection with jogs, and its exact refinement along a chain of cells.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/partition/region.hpp"

namespace balance {

/// A receiver of a part of a region.
struct PartNeed {
    double speed = 1;        ///< > 0; loads are to be in this proportion
    std::int64_t cells = 1;  ///< least number of cells, if the region has enough for all
};

/// Cells of a part. Some parts are empty if there are fewer cells than parts.
struct SplitPart {
    Region region;
    int axis = 0;  ///< of the last cut that made it
};

/// Returns `loads`, or UniformLoads if the region has no load. By cells such a region can still be split.
const Loads& loads_or_counts(const Region& region, const Loads& loads);

/// Splits a region by recursive bisection across the longest side of its bounding box, in the order of the recursion:
/// neighbours in the list are neighbours in space. Each cut is off by no more than `tolerance` times the load of a
/// part, or half a cell. A region without load is split by cells. Where the region has fewer cells than the parts
/// need, each gets one if that is possible.
std::vector<SplitPart> split_region(const Region& region, const Loads& loads, std::span<const PartNeed> parts,
                                    double tolerance);

/// The same, refined: the exact chain partition cuts the cells of all parts, one after the other, anew. A part may get
/// or lose a few cells at its ends. The refinement takes memory for each cell. Parts of many thousand cells do without
/// it, because half a cell is little for them.
std::vector<Region> split_exactly(const Region& region, const Loads& loads, std::span<const PartNeed> parts,
                                  double tolerance);

}  // namespace balance
