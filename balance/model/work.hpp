// SPDX-License-Identifier: MIT
// The deterministic clock: what a cell costs, counted from what is in it and around it, never from lists or rebuilds.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "balance/model/load_model.hpp"

namespace balance {

/// std::llround without a call, below 2^62.
inline std::int64_t rounded(double value) {
    const auto whole = static_cast<std::int64_t>(value);
    const double rest = value - static_cast<double>(whole);  // exact, and of the sign of the value
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

/// Loads and works are integers of 2^-50 seconds: their sums are exact, in any order.
inline constexpr double ticks_per_second = 1125899906842624.0;
inline std::int64_t to_ticks(double seconds) { return rounded(std::clamp(seconds, 0.0, 1000.0) * ticks_per_second); }
inline double to_seconds(std::int64_t ticks) { return static_cast<double>(ticks) / ticks_per_second; }

/// The steps at which a disturbance of a study is there.
struct ActiveSteps {
    std::int64_t from_step = 0;
    std::optional<std::int64_t> to_step{};  ///< the first step at which it is gone
    std::optional<std::int64_t> period{};   ///< steps; it is there in every other period only
    friend bool operator==(const ActiveSteps&, const ActiveSteps&) = default;
};
bool is_active(const ActiveSteps& steps, std::int64_t step);

/// Processes that run slower than the others, for studies of unequal machines (deck section balance.work.slow).
struct Slowdown {
    double fraction = 0;  ///< of the processes, spread evenly over their numbers
    double speed = 0.5;   ///< of each of them; the others have 1
    ActiveSteps active{};
    friend bool operator==(const Slowdown&, const Slowdown&) = default;
};
/// Speed of a process at a step.
double speed_of(const Slowdown& slow, std::int64_t process, std::int64_t step);

/// Seconds a step for each thing counted (deck section balance.work).
struct WorkCosts {
    double cell = 2e-9;         ///< An empty cell.
    double particle = 6e-9;     ///< Integration and sorting of a particle.
    double candidate = 0.3e-9;  ///< Particle in the 3 x 3 cells around another: n (n3 - 1) / 2 a cell.
    double pair = 1.6e-9;       ///< Pair within the cutoff: (neighbours of the cell's particles) / 2.
    /// For studies of costs that no feature of a model shows. Cells between two corners (lengths) cost `factor` times
    /// as much. Particles beyond `capacity` in a cell cost `spill` each and per particle there, as if they fell out of
    /// a cache.
    std::array<double, 2> region_lower{0, 0}, region_upper{0, 0};
    double region_factor = 1;
    std::int64_t capacity = 0;
    double spill = 0;
    double balancing = 0;  ///< A balancing without the moves, on each process.
    double ghost = 0;      ///< A step's exchange of a ghost cell, for each of a mean process.
    double move = 2e-7;    ///< A particle that moves to another process: packing, sending, sorting in.
    Slowdown slow{};
    ActiveSteps region_active{};
    friend bool operator==(const WorkCosts&, const WorkCosts&) = default;
};

/// The prices at a step: the region's factor counts only while it is active.
WorkCosts costs_at(WorkCosts costs, std::int64_t step);

/// No sum of works may reach this many ticks (4096 s a step): sums of 64-bit integers stay exact below.
inline constexpr std::int64_t most_ticks = std::int64_t{1} << 62;

/// Whether a cell at (x, y) (centre, lengths) lies in the region that costs `factor` times as much.
inline bool in_region(const WorkCosts& costs, double x, double y) {
    return x >= costs.region_lower[0] && x < costs.region_upper[0] && y >= costs.region_lower[1] &&
           y < costs.region_upper[1];
}

/// Ticks a step of cells. neighbours: directed pairs within the cutoff, for each cell. All cells lie in the region, or
/// all beside it. The result is at most most_ticks.
void cell_works(const WorkCosts& costs, bool in_region, std::span<const CellCounts> counts,
                std::span<const std::int64_t> neighbours, std::span<std::int64_t> work);

/// Keys of balance.work that make up a cell's work; the last one adds (factor - 1) times what the others make in the
/// region.
inline constexpr std::array<const char*, 6> work_keys{"cell", "particle", "candidate",
                                                      "pair", "spill",    "region.factor"};
/// Seconds a step by key, of one cell or summed over many.
using WorkByKey = std::array<double, work_keys.size()>;

/// The parts of the work of a cell at (x, y). neighbours: its directed pairs within the cutoff.
WorkByKey cell_work_by_key(const WorkCosts& costs, const CellCounts& c, std::int64_t neighbours, double x, double y);

/// The key with the largest part in a sum of works, and its value. If the region's surcharge is more than half of the
/// sum, the key is the region's factor.
struct MostExpensiveKey {
    const char* key;
    double value;
};
MostExpensiveKey most_expensive_key(const WorkCosts& costs, const WorkByKey& sum);

/// Factor that makes integers of loads: the sum of `cells` loads of at most `largest` (any unit, >= 0) stays below
/// 2^62. Finite, also where the largest load is a denormal number; 0 where all loads are.
double load_scale(double largest, std::int64_t cells);

}  // namespace balance
