// SPDX-License-Identifier: MIT
// How well a load can be balanced at all: a bound that knows nothing of how partitions are made, beside which the
// efficiency of one can be read.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "balance/partition/nested.hpp"

namespace balance {

/// What the heterogeneous LBE_m cannot exceed.
struct NestedBound {
    /// Because cells are not divided: for any number of the heaviest cells, each resource takes whole ones.
    double cells = 1;
    /// Because accelerators take inner cells only (NestedAlgorithm::inner_outer): of each node that has some, the cores
    /// take all that is nearer to other nodes than the ghost width. For the regions that the nodes have.
    double inner = 1;
    double lbe() const { return std::min(cells, inner); }
};

/// load: as in nested_partition(). Collective; the same on all members, whatever their number.
NestedBound nested_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const Machine& machine,
                         const NestedPartition& partition, const NestedOptions& options);

}  // namespace balance
