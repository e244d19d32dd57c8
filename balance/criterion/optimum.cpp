// SPDX-License-Identifier: MIT
#include "balance/criterion/optimum.hpp"

#include <algorithm>
#include <limits>

namespace balance {

// Whatever came before, what follows a balancing depends on its partition alone. So the best way to partition j is the
// best way to some partition i before it, all intervals up to j with partition i, and the balancing.
Schedule best_schedule(const ScheduleCosts& costs) {
    const std::int64_t n = costs.opportunities;
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> best(n + 1, never);  // seconds up to and with the balancing at j
    std::vector<std::int64_t> before(n + 1, 0);
    best[0] = 0;
    double whole = never;  // seconds of the whole series
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(n, 1); ++i) {  // a balancing at the end serves nothing
        const std::vector<ScheduleCosts::Step> steps = costs.from(i);
        double seconds = best[i];  // partition i is the best that can be had, since all before it have been seen
        for (std::int64_t j = i + 1; j <= n; ++j) {
            seconds += steps[j - i - 1].interval;
            const double through = seconds + steps[j - i - 1].balancing;
            if (j < n && through <= best[j]) best[j] = through, before[j] = i;
        }
        if (seconds <= whole) whole = seconds, last = i;
    }
    Schedule schedule{whole, {}};
    for (std::int64_t j = last; j > 0; j = before[j]) schedule.balanced.push_back(j);
    std::reverse(schedule.balanced.begin(), schedule.balanced.end());
    return schedule;
}

}  // namespace balance
