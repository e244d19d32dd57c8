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
    std::int64_t smallest;      ///< the smallest limit that works for this chain and so many parts
};

/// Cuts the chain into `parts` runs such that the largest load of a run, divided by the run's target, is as small as
/// possible, and no run is larger than `limit` (0: no limit). Where the optimum leaves freedom, cuts lie nearest to
/// the shares that the targets give, so they move little when loads change little.
/// targets: what each part should get. With unequal ones the optimum is exact up to one unit of load of the part with
/// the largest target.
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

/// The same cuts of a chain of which each member has some items, in the order of the members. Each member learns of the
/// parts of its own items. begin: the place of the member's first item in the chain. leaders: members, from 1 to
/// team.size(), on which the items are collected, and who find the cuts together; where targets are unequal, each
/// leader holds those of all parts meanwhile. The meter hears of RoundPart::chain: of the items that a leader has, and
/// of the parts that its sweeps go through. Collective; throws on all members alike.
ChainCuts chain_partition(const Team& team, const ChainItems& mine, std::int64_t begin, std::int64_t parts,
                          std::int64_t limit, const PartTargets& targets, int leaders, const Meter& meter = no_meter);
/// How many leaders suit a chain of so many items that is cut into so many parts.
int chain_leaders(std::int64_t items, std::int64_t parts, int members);

/// What happens one after the other while so many leaders cut a chain, for those who predict how long that takes.
struct ChainCourse {
    double items = 0;       ///< collected by a leader
    double parts = 0;       ///< that sweeps go through
    double messages = 0;    ///< from a leader to the next
    double reductions = 0;  ///< of a few numbers, over the leaders
};
ChainCourse chain_course(double items, double parts, int leaders);

}  // namespace balance
