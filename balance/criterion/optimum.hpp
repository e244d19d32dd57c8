// SPDX-License-Identifier: MIT
// The best schedule of balancings in hindsight: what a clairvoyant would do, whom criteria are held against (after
// Boulmier et al., arXiv 2104.01688).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace balance {

/// A series of opportunities 1 .. `opportunities` to balance, from the partition of the start, 0. Partition i is the
/// one that is made at opportunity i: it depends on the loads there alone.
struct ScheduleCosts {
    struct Step {
        double interval = 0;   ///< seconds from opportunity j - 1 to j with partition i < j
        double balancing = 0;  ///< seconds of a balancing at opportunity j that replaces partition i by partition j
    };
    std::int64_t opportunities = 0;
    /// The steps of partition i, for j = i + 1 .. opportunities.
    std::function<std::vector<Step>(std::int64_t i)> from;
};

struct Schedule {
    double seconds = 0;
    std::vector<std::int64_t> balanced;  ///< opportunities at which it balances, ascending
};

/// The schedule that takes the least time, by dynamic programming over all pairs of opportunities; calls from() once
/// for each partition. Of schedules that take equally long, one with the later last balancing.
Schedule best_schedule(const ScheduleCosts& costs);

}  // namespace balance
