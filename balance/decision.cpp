// SPDX-License-Identifier: MIT
#include "balance/decision.hpp"

#include <algorithm>
#include <cmath>

namespace balance {

bool History::accepts(std::span<const double> values, std::int64_t processes, std::int64_t step) {
    if (values.size() != numbers || processes < 1) return false;
    if (!std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v <= 1e30; })) return false;
    const History h = from_numbers(values.first<numbers>());
    constexpr double rounding = 1.000001;
    // The mean of times lies between the largest over their number and the largest.
    const auto times = [&](double mean, double largest) {
        const double slack = (rounding - 1) * h.sum_max, n = static_cast<double>(processes);
        return mean <= largest + slack && largest <= n * (mean + slack);
    };
    const auto whole = [](double v) { return v == std::floor(v); };
    return times(h.sum_mean, h.sum_max) && times(h.early_mean, h.early_max) &&
           times(h.sum_mean - h.early_mean, h.sum_max - h.early_max) && h.early_mean <= h.sum_mean &&
           h.early_max <= h.sum_max && h.lbe_reachable > 0 && h.lbe_reachable <= rounding && h.lbe_model <= rounding &&
           h.load_step <= static_cast<double>(step) && whole(h.load_step) && whole(h.ghost_cells) && whole(h.updates);
}

void spend(std::span<const double> times, double steps, Watch& watch) {
    watch.spent.resize(times.size(), 0.0);
    for (std::size_t p = 0; p < times.size(); ++p) watch.spent[p] += times[p] * steps;
}

void account(History& history, Watch& watch, const OverAll& times, const OverAll& spent, double steps,
             BalanceClock clock, const Criterion& criterion, std::optional<double> left) {
    watch.memory.resize(criterion.memory_size(), 0.0);
    const bool early = history.updates == 0;
    history.sum_mean += times.mean;
    history.sum_max += times.largest;
    if (early) {
        history.early_mean += times.mean;
        history.early_max += times.largest;
    }
    // Loads that have never seen a measured time may be all wrong. Where the times are better balanced than they allow,
    // they are, and say nothing of what could be reached.
    const bool refuted = early && times.mean > history.lbe_reachable * times.largest;
    const Opportunity now{.steps = steps,
                          .mean = times.mean,
                          .largest = times.largest,
                          .spent_mean = spent.mean,
                          .spent_largest = spent.largest,
                          .reachable = refuted ? 1 : history.lbe_reachable,
                          .lost_before = history.lost_seconds,
                          .left = left,
                          .untried = early,
                          .scatters = clock == BalanceClock::wall};
    history.lost_seconds = criterion.lost(now, watch.memory);
}

Decision decide(const History& history, const Criterion& criterion) {
    if (criterion.balances(history.lost_seconds, history.move_seconds)) return Decision::none;
    return criterion.weighs_partitions() ? Decision::kept_gain : Decision::kept_criterion;
}

Decision decide(const History& history, const Criterion& criterion, bool measured, const Moved& moved, double sunk) {
    if (measured && criterion.weighs_partitions() &&
        !criterion.balances(history.lost_seconds, history.move_seconds - sunk))
        return Decision::kept_gain;
    return moved.cells == 0 ? Decision::kept_same : Decision::moved;
}

}  // namespace balance
