// SPDX-License-Identifier: MIT
// Exact bottleneck partition of a chain: consecutive items to consecutive processes, the most loaded as light as possible
// (Pinar & Aykanat 2004, exact bisection on the bottleneck).
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "balance/team.hpp"

namespace balance {

/// This member's items of the chain, in order; members hold consecutive pieces.
struct ChainItems {
    std::vector<std::int64_t> load;  ///< each >= 0
    std::vector<std::int64_t> size;  ///< particles or bytes; empty where there is no limit
};

/// No cut of the chain keeps a limit on sizes. Thrown by all members of the team alike.
struct Infeasible : std::runtime_error {
    Infeasible(std::int64_t parts_wanted, std::int64_t limit_wanted, std::int64_t smallest_limit);
    std::int64_t parts, limit;  ///< that were asked for
    std::int64_t smallest;      ///< the smallest limit that works for this chain and so many parts
};

/// Cuts the chain into `parts` runs with the smallest possible largest load, none larger than `limit` (0: no limit). Where the
/// optimum leaves freedom, cuts lie nearest to even shares, so they move little when loads change little.
/// Returns parts + 1 positions in the whole chain, the same on all members; a run may be empty. Collective: O(parts log items)
/// a probe. Throws Infeasible when the limit can't be met.
std::vector<std::int64_t> chain_partition(const Team& team, const ChainItems& items, std::int64_t parts, std::int64_t limit = 0);

}  // namespace balance
