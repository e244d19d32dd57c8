// SPDX-License-Identifier: MIT
// How many ranks? The most that keep an efficiency, and the fewest that reach a time.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "tools/predict/forecast.hpp"

namespace predict {

/// Forecasts by ranks, made on demand. Some partitions are luckier than others, so an efficiency does not fall with
/// every rank. Searches double the ranks until the answer is passed. Then they halve the interval.
class Forecasts {
public:
    /// make: for so many ranks. most: no more ranks than these are tried.
    Forecasts(std::function<Forecast(std::int64_t)> make, std::int64_t most) : make_(std::move(make)), most_(most) {}

    const Forecast& of(std::int64_t ranks);
    const std::map<std::int64_t, Forecast>& all() const { return known_; }

    /// The speed-up over one rank, divided by the ranks.
    double efficiency(std::int64_t ranks);
    /// The most ranks with at least this efficiency, up to `most`.
    std::int64_t most_with_efficiency(double efficiency);
    /// The fewest ranks whose step takes no longer; nothing where none up to `most` does, or twice as many ranks take
    /// longer before one does.
    std::optional<std::int64_t> fewest_within(double step_seconds);

private:
    /// The last good number of ranks, from 1 on. 1 is good. `most` if all are good.
    std::int64_t last_good(const std::function<bool(std::int64_t)>& good);

    std::function<Forecast(std::int64_t)> make_;
    std::int64_t most_;
    std::map<std::int64_t, Forecast> known_;
};

/// The forecast with the most ranks that keeps this efficiency. forecasts: ascending, the first one for one rank.
const Forecast& most_with_efficiency(std::span<const Forecast> forecasts, double efficiency);

}  // namespace predict
