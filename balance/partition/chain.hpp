// SPDX-License-Identifier: MIT
// Exact bottleneck partition of a chain: consecutive items to consecutive parts, the most loaded as light as possible
// (Pinar & Aykanat 2004, exact bisection on the bottleneck). Parts may have targets, for processes of unequal speed.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "balance/meter.hpp"
#include "balance/partition/part_targets.hpp"
#include "balance/team.hpp"

namespace balance {

struct ChainItems {
    std::vector<std::int64_t> load;  ///< each >= 0; their sum stays below 2^62
    std::vector<std::int64_t> size;  ///< particles or bytes; empty where there is no limit
};

/// No cut of the chain keeps a limit on sizes.
struct Infeasible : std::runtime_error {
    Infeasible(std::int64_t parts_wanted, std::int64_t limit_wanted, std::int64_t smallest_limit);
    std::int64_t parts, limit;  ///< that were asked for
    std::int64_t smallest;      ///< the smallest limit that works for this chain and number of parts
};

/// Cuts the chain into `parts` runs. The largest load of a run, divided by the run's target, becomes as small as
/// possible. No run is larger than `limit` (0: no limit). If the optimum leaves freedom, cuts lie nearest to the shares
/// of the targets. So they move little when loads change little.
/// targets: target of each part. With unequal targets the optimum is exact up to one unit of load of the part with the
/// largest target.
/// Returns parts + 1 positions; a run may be empty. Costs O(parts) a probe for each part's search near its last place,
/// some 25 probes. Throws Infeasible when the limit can't be met.
std::vector<std::int64_t> chain_partition(const ChainItems& items, std::int64_t parts, std::int64_t limit = 0,
                                          const PartTargets& targets = {});

/// The parts of a chain that have some of a member's items.
struct ChainCuts {
    std::int64_t first_part = 0;
    std::vector<std::int64_t> at;  ///< places in the chain where first_part, first_part + 1, ... end; of the last one
                                   ///< at most where the items end
    friend bool operator==(const ChainCuts&, const ChainCuts&) = default;
};

/// The same cuts of a chain that is spread over the members, in their order. Each member learns of the parts of its own
/// items. Collective; throws on all members alike.
/// begin: the place of the member's first item in the chain.
/// leaders: number of members, from 1 to team.size(), that collect the items and find the cuts together. If targets are
/// unequal, each leader holds the targets of all parts meanwhile.
/// meter: hears of RoundPart::chain, with the items of a leader and the parts that its sweeps go through.
ChainCuts chain_partition(const Team& team, const ChainItems& mine, std::int64_t begin, std::int64_t parts,
                          std::int64_t limit, const PartTargets& targets, int leaders, const Meter& meter = no_meter);
/// A good number of leaders for a chain of `items` items and `parts` parts.
int chain_leaders(std::int64_t items, std::int64_t parts, int members);

/// The sequential work of leaders while they cut a chain, for predictions of its time.
struct ChainCourse {
    double items = 0;       ///< collected by a leader
    double parts = 0;       ///< that sweeps go through
    double messages = 0;    ///< from a leader to the next
    double reductions = 0;  ///< of a few numbers, over the leaders
};
ChainCourse chain_course(double items, double parts, int leaders);

}  // namespace balance
