// SPDX-License-Identifier: MIT
#include "balance/worth.hpp"

#include <algorithm>
#include <vector>

namespace balance {

LoadShape shape_of(const Team& team, const Owners& even, std::span<const std::int64_t> load, std::int64_t processes,
                   std::span<const double> speeds) {
    const std::vector<std::int64_t> sums = sums_by_process(team, even, load, processes);
    std::int64_t dearest = 0;
    for (const std::int64_t l : load) dearest = std::max(dearest, l);
    team.max(std::span(&dearest, 1));
    double all = 0, capacity = 0, slowest = 0, fastest = 0;
    for (std::size_t p = 0; p < sums.size(); ++p) {
        const double speed = speeds.empty() ? 1 : speeds[p], mine = static_cast<double>(sums[p]);
        all += mine;
        capacity += speed;
        slowest = std::max(slowest, mine / speed);
        fastest = std::max(fastest, speed);
    }
    if (all == 0) return {};
    const double mean = all / capacity;
    return {slowest / mean, static_cast<double>(dearest) / fastest / mean};
}

void WorthMeter::add(double steps, std::span<const double> times, std::span<const double> speeds) {
    double work = 0, capacity = 0;
    for (std::size_t p = 0; p < times.size(); ++p) {
        const double speed = speeds.empty() ? 1 : speeds[p];
        work += times[p] * speed;
        capacity += speed;
    }
    const double mean = work / capacity;
    sum_.steps += steps;
    sum_.measured += steps * *std::max_element(times.begin(), times.end());
    sum_.perfect += steps * mean;
    open_ += steps * mean;
}

void WorthMeter::settle(const LoadShape& from, const LoadShape& to) {
    sum_.even += open_ * (from.even + to.even) / 2;
    sum_.possible += open_ * std::max(1.0, (from.dearest + to.dearest) / 2);
    open_ = 0;
}

Worth WorthMeter::worth(const LoadShape& shape) const {
    WorthMeter copy = *this;
    copy.settle(shape, shape);
    return copy.sum_;
}

Verdict verdict_of(const Worth& w, double other_seconds) {
    Verdict v;
    if (!(w.measured > 0)) return v;
    v.perfect_saves = (w.measured - w.perfect) / (w.measured + other_seconds);
    v.most_lbe = w.perfect / w.possible;
    v.saved = 1 - (w.measured + other_seconds) / (w.even + other_seconds);
    return v;
}

}  // namespace balance
