// SPDX-License-Identifier: MIT
// How good a partition for a machine can be at all, found without making one.
#pragma once
#include <cstdint>
#include <span>

#include "balance/nested/nested.hpp"

namespace balance {

/// An upper bound on the heterogeneous LBE_m of any partition of whole cells. It knows three obstacles:
/// - the heaviest cell is somebody's, so nobody is done before the fastest resource is done with it;
/// - where all loads are multiples of one number (equal cells above all), so is the load of each resource;
/// - with Algorithm 2, the CPUs of a node must at least take its rim, the cells within the ghost width of other nodes,
///   and the accelerators can't help. The thinnest rim of so many cells is taken to be that of a box, free at the ends
///   of the grid, of a slab across the grid, or of all but a box; all its cells as light as the lightest, and as few
///   cells in the node as the heaviest cell allows.
/// Of partitions that miss the bound, some do so because regions have to be compact, or because unequal cells do not
/// fill a core. load: as in nested_partition(). Collective; the same on all members.
double lbe_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const Machine& machine,
                 const NestedOptions& options);

}  // namespace balance
