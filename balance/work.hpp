// SPDX-License-Identifier: MIT
// The deterministic clock: what a cell costs, counted from what is in it and around it, never from lists or rebuilds.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "balance/load_model.hpp"

namespace balance {

/// Loads and works are integers of 2^-50 seconds: their sums are exact, in any order.
inline constexpr double ticks_per_second = 1125899906842624.0;
inline std::int64_t to_ticks(double seconds) { return std::llround(std::clamp(seconds, 0.0, 1000.0) * ticks_per_second); }
inline double to_seconds(std::int64_t ticks) { return static_cast<double>(ticks) / ticks_per_second; }

/// Seconds a step for each thing counted (deck section balance.work).
struct WorkCosts {
    double cell = 2e-9;         ///< an empty cell
    double particle = 6e-9;     ///< integration, sorting
    double candidate = 0.3e-9;  ///< particle in the 3 x 3 cells around another: n (n3 - 1) / 2 a cell
    double pair = 1.6e-9;       ///< within the cutoff: (neighbours of the cell's particles) / 2
    /// For studies of costs that no feature of a model shows: cells between two corners (lengths) cost `factor` times as much;
    /// particles beyond `capacity` in a cell cost `spill` each and per particle there, as when they fall out of a cache.
    std::array<double, 2> region_lower{0, 0}, region_upper{0, 0};
    double region_factor = 1;
    std::int64_t capacity = 0;
    double spill = 0;
    friend bool operator==(const WorkCosts&, const WorkCosts&) = default;
};

/// Ticks a step of a cell at (x, y) (centre, lengths) with `neighbours` directed pairs within the cutoff.
inline std::int64_t cell_work(const WorkCosts& costs, const CellCounts& c, std::int64_t neighbours, double x, double y) {
    const std::int64_t n = c.n, over = costs.capacity > 0 ? std::max<std::int64_t>(0, n - costs.capacity) : 0;
    std::int64_t ticks = to_ticks(costs.cell) + n * to_ticks(costs.particle) + n * std::max(0, c.n3 - 1) * to_ticks(costs.candidate / 2) +
                         neighbours * to_ticks(costs.pair / 2) + over * n * to_ticks(costs.spill);
    const bool inside = x >= costs.region_lower[0] && x < costs.region_upper[0] && y >= costs.region_lower[1] && y < costs.region_upper[1];
    if (inside) ticks = std::llround(static_cast<double>(ticks) * costs.region_factor);
    return ticks;
}

}  // namespace balance
