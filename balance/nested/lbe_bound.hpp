// SPDX-License-Identifier: MIT
// How good a partition for a machine can be at all, found without making one.
#pragma once
#include <cstdint>
#include <span>

#include "balance/nested/nested.hpp"

namespace balance {

/// An upper bound on the heterogeneous LBE_m of any partition of whole cells. It knows three obstacles:
/// - One resource takes the heaviest cell, so the step takes at least the fastest resource's time for it.
///
/// - If all loads are multiples of one number (equal cells above all), so is the load of each resource.
///
/// - With Algorithm 2, the CPUs of a node must at least take its rim, the cells within the ghost width of other nodes.
///   Accelerators cannot help there.
///
/// The third bound assumes the thinnest rim of so many cells. It is the rim of a box (free at the ends of the grid), of
/// a slab across the grid, or of all but a box. All its cells are as light as the lightest cell. The node has as few
/// cells as the heaviest cell allows.
///
/// Partitions can also miss the bound because regions have to be compact, or because unequal cells do not fill a core.
/// load: as in nested_partition(). Collective; the same on all members.
double lbe_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const Machine& machine,
                 const NestedOptions& options);

}  // namespace balance
