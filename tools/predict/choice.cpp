// SPDX-License-Identifier: MIT
// How many ranks? The most that keep an efficiency, and the fewest that reach a time.
#include <algorithm>

#include "tools/predict/forecast.hpp"

namespace predict {

const Forecast& Forecasts::of(std::int64_t ranks) {
    const auto found = known_.find(ranks);
    return found != known_.end() ? found->second : known_.emplace(ranks, make_(ranks)).first->second;
}

double Forecasts::efficiency(std::int64_t ranks) {
    return of(1).terms.seconds() / of(ranks).terms.seconds() / static_cast<double>(ranks);
}

std::int64_t Forecasts::last_good(const std::function<bool(std::int64_t)>& good) {
    std::int64_t low = 1, high = 2;
    while (high <= most_ && good(high)) low = std::exchange(high, 2 * high);
    if (high > most_) {
        if (low == most_ || good(most_)) return most_;
        high = most_;
    }
    while (high - low > std::max<std::int64_t>(1, low / 50)) {  // 2 % are near enough: each one takes its time
        const std::int64_t middle = low + (high - low) / 2;
        (good(middle) ? low : high) = middle;
    }
    return low;
}

std::int64_t Forecasts::most_with_efficiency(double wanted) {
    return last_good([&](std::int64_t ranks) { return efficiency(ranks) >= wanted; });
}

std::optional<std::int64_t> Forecasts::fewest_within(double step_seconds) {
    const auto too_long = [&](std::int64_t ranks) { return of(ranks).terms.seconds() > step_seconds; };
    if (!too_long(1)) return 1;
    for (std::int64_t ranks = 2; ranks <= most_ && too_long(ranks); ranks *= 2)
        if (of(ranks).terms.seconds() >= of(ranks / 2).terms.seconds()) return std::nullopt;  // more only harm
    last_good(too_long);
    for (const auto& [ranks, f] : known_)
        if (f.terms.seconds() <= step_seconds) return ranks;
    return std::nullopt;
}

const Forecast& most_with_efficiency(std::span<const Forecast> forecasts, double efficiency) {
    const Forecast* most = &forecasts.front();
    for (const Forecast& f : forecasts)
        if (forecasts.front().terms.seconds() / f.terms.seconds() >= efficiency * static_cast<double>(f.ranks))
            most = &f;
    return *most;
}

}  // namespace predict
