// SPDX-License-Identifier: MIT
// The worth of balancing in a run. The time of the run is compared with three others: with perfect balance, with the
// best balance that the dearest cell allows, and with the even partition at the start.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/over_all.hpp"
#include "balance/team.hpp"

namespace balance {

/// Loads of a moment, relative to what a mean process has.
struct LoadPeaks {
    double even = 1;     ///< of the slowest process, were the partition even
    double dearest = 0;  ///< of the dearest cell
};
/// Numbers of each process.
struct ProcessTimes {
    double seconds = 0;  ///< a step
    double speed = 1;
    double even = 0;  ///< its load with the even partition, in any unit
};
/// Sums over all processes.
struct WorthTotals {
    OverAll seconds, speed;
    OverAll work;          ///< seconds * speed
    OverAll even;          ///< loads with the even partition
    OverAll even_seconds;  ///< the same / speed

    /// The five numbers above of each process that a member hosts, one list for each. The results of over_all() for
    /// these lists go to from().
    static constexpr std::size_t count = 5;
    static std::array<std::vector<double>, count> lists_of(std::span<const ProcessTimes> hosted);
    static WorthTotals from(std::span<const OverAll> all) { return {all[0], all[1], all[2], all[3], all[4]}; }
};

/// dearest: the load of the dearest cell, in the unit of the even partition's. Where nothing costs anything, {1, 0}.
LoadPeaks peaks_of(const WorthTotals& all, double dearest);
/// The dearest cell of a shape alone. load: of the cells of the member's home. capacity: the sum of the processes'
/// speeds; fastest: the largest of them. Collective.
double heaviest_cell_share(const Team& team, std::span<const std::int64_t> load, double capacity, double fastest);

/// Sums over steps of the seconds that a step took, or would have taken, on the slowest process.
struct WorthSums {
    double steps = 0;
    double measured = 0;  ///< as it was
    double perfect = 0;   ///< with the same time on all processes: the mean, by their speeds
    double possible = 0;  ///< the same, but no less than the dearest cell
    double even = 0;      ///< with the even partition
};

/// In each of `steps` more steps the processes took these seconds, of loads of that shape.
void add(WorthSums& worth, double steps, const WorthTotals& all, const LoadPeaks& shape);

/// Parts of 1.
struct WorthSummary {
    double perfect_saves = 0;  ///< Part of the time that perfect balance would have saved.
    double most_lbe = 1;       ///< LBE that the dearest cell allows: perfect / possible.
    double saved = 0;          ///< Part of the time that balancing saved; negative: it lost time.
};
/// other_seconds: of the run, that do not depend on the balance (communication, output, balancing); 0 where only the
/// processes' times count.
WorthSummary worth_summary(const WorthSums& worth, double other_seconds);

/// The stages between two steps in which neighbour lists were rebuilt: a run rebuilds them whenever a particle has
/// moved too far, and also wherever it balances.
struct Stages {
    std::int64_t usual = 0, balanced = 0;            ///< Stages without a balancing, and with one.
    double usual_seconds = 0, balanced_seconds = 0;  ///< Seconds of these in all.
    double alone_seconds = 0;                        ///< Seconds of balancings alone, without the rebuilds.
    double least_rebuild = 0;                        ///< Shortest rebuild of a stage with a balancing, seconds.
    std::int64_t due = 0, steps_to_due = 0;          ///< Rebuilds that were due, and the steps before them.
    std::int64_t last_rebuild = 0;

    /// Adds a stage at `step` that took `seconds`.
    /// rebuilt: the lists are new.
    /// due: the lists would be new without a balancing, too.
    /// balancing: the stage has a balancing, which took balancing_seconds.
    void add(std::int64_t step, bool rebuilt, bool due, bool balancing, double seconds, double balancing_seconds);
    /// Cost of balancing in `steps` steps: balancing itself, and the rebuilds of its stages that the same steps would
    /// not have needed. If no rebuild was ever due, all rebuilds count as needed.
    double extra_seconds(std::int64_t steps) const;
};

/// The time of a run with balancing, and what it would have been with the partition that it starts from and none.
struct NetSavings {
    double seconds = 0, without_seconds = 0;
    double balancing_seconds = 0;  ///< of `seconds`: what balancing itself took, its rows in files among it
    /// Part of the time without balancing; negative: balancing made the run longer.
    double saved() const { return without_seconds > 0 ? 1 - seconds / without_seconds : 0; }
};
/// measured_seconds: of `seconds`, what worth.measured stands for.
NetSavings net_savings(const WorthSums& worth, double seconds, double measured_seconds, double balancing_seconds);

}  // namespace balance
