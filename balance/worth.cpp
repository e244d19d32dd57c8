// SPDX-License-Identifier: MIT
#include "balance/worth.hpp"

#include <algorithm>
#include <vector>

namespace balance {

std::array<std::vector<double>, WorthTotals::count> WorthTotals::lists_of(std::span<const ProcessTimes> hosted) {
    std::array<std::vector<double>, count> lists;
    for (const ProcessTimes& p : hosted) {
        const std::array<double, count> values{p.seconds, p.speed, p.seconds * p.speed, p.even, p.even / p.speed};
        for (std::size_t i = 0; i < count; ++i) lists[i].push_back(values[i]);
    }
    return lists;
}

LoadPeaks peaks_of(const WorthTotals& all, double dearest) {
    if (all.even.sum == 0) return {};
    const double mean = all.even.sum / all.speed.sum;
    return {all.even_seconds.largest / mean, dearest / all.speed.largest / mean};
}

double heaviest_cell_share(const Team& team, std::span<const std::int64_t> load, double capacity, double fastest) {
    std::int64_t all = 0, dearest = 0;
    for (const std::int64_t l : load) all += l, dearest = std::max(dearest, l);
    all = team.sum_of(all), dearest = team.max_of(dearest);
    return all == 0 ? 0 : static_cast<double>(dearest) / fastest * capacity / static_cast<double>(all);
}

void add(WorthSums& worth, double steps, const WorthTotals& all, const LoadPeaks& shape) {
    const double mean = all.work.sum / all.speed.sum, longest = all.seconds.largest;
    worth.steps += steps;
    worth.measured += steps * longest;
    worth.perfect += steps * mean;
    worth.even += steps * mean * shape.even;
    // The dearest cell was on some process, so it took no longer than the slowest one, whatever the loads say.
    worth.possible += steps * std::clamp(mean * shape.dearest, mean, std::max(mean, longest));
}

WorthSummary worth_summary(const WorthSums& w, double other_seconds) {
    WorthSummary v;
    if (!(w.measured > 0)) return v;
    v.perfect_saves = (w.measured - w.perfect) / (w.measured + other_seconds);
    v.most_lbe = w.perfect / w.possible;
    v.saved = 1 - (w.measured + other_seconds) / (w.even + other_seconds);
    return v;
}

void Stages::add(std::int64_t step, bool rebuilt, bool is_due, bool balancing, double seconds,
                 double balancing_seconds) {
    const bool first = usual + balanced == 0;
    if (balancing) {
        const double rebuild = seconds - balancing_seconds;
        if (rebuilt) least_rebuild = balanced == 0 ? rebuild : std::min(least_rebuild, rebuild);
        balanced += rebuilt;
        balanced_seconds += seconds;
        alone_seconds += balancing_seconds;
    } else {
        ++usual;
        usual_seconds += seconds;
    }
    if (!rebuilt) return;
    if (is_due && !first) {
        ++due;
        steps_to_due += step - last_rebuild;
    }
    last_rebuild = step;
}

double Stages::extra_seconds(std::int64_t steps) const {
    const double usual_rebuild = usual > 0 ? usual_seconds / static_cast<double>(usual) : least_rebuild;
    // One at the start, and then one after as many steps as it took where nothing came before.
    double needed = static_cast<double>(balanced);
    if (due > 0)
        needed = std::clamp(1 +
                                static_cast<double>(steps) * static_cast<double>(due) /
                                    static_cast<double>(std::max<std::int64_t>(1, steps_to_due)) -
                                static_cast<double>(usual),
                            0.0, static_cast<double>(balanced));
    return alone_seconds + std::max(0.0, balanced_seconds - alone_seconds - needed * usual_rebuild);
}

NetSavings net_savings(const WorthSums& w, double seconds, double measured_seconds, double balancing_seconds) {
    NetSavings n{seconds, seconds - balancing_seconds, balancing_seconds};
    if (w.measured > 0) n.without_seconds += measured_seconds * (w.even / w.measured - 1);
    return n;
}

}  // namespace balance
