// SPDX-License-Identifier: MIT
// Two decisions: whether a run balances, and whether a new partition is taken. A criterion decides by the times, and by
// the history of the times before.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "balance/criterion/criterion.hpp"
#include "balance/over_all.hpp"
#include "balance/partition/quality.hpp"
#include "balance/words.hpp"

namespace balance {

/// Where measured times come from: thread timers, or counted work (deterministic).
enum class BalanceClock { wall, work };
constexpr auto words_of(BalanceClock) {
    return std::to_array<Word<BalanceClock>>({{BalanceClock::wall, "wall"}, {BalanceClock::work, "work"}});
}
/// Where a run has the speeds of its processes from.
enum class SpeedSource {
    measured,  ///< found by Speeds
    given,     ///< by the deck's machine
    off,       ///< all equal
};
constexpr auto words_of(SpeedSource) {
    return std::to_array<Word<SpeedSource>>(
        {{SpeedSource::measured, "measured"}, {SpeedSource::given, "given"}, {SpeedSource::off, "off"}});
}

enum class Decision {
    none,            ///< No decision yet.
    moved,           ///< The new partition is in use.
    kept_gain,       ///< A migration would not pay (Criterion::weighs_partitions()).
    kept_criterion,  ///< Another criterion asks for no balancing.
    kept_same,       ///< The new partition is the old one.
    kept_clock,      ///< The times are too short for the clock.
    kept_limit,      ///< No partition keeps the limit of particles.
};
/// As balance.csv spells them.
constexpr auto words_of(Decision) {
    return std::to_array<Word<Decision>>({{Decision::none, ""},
                                          {Decision::moved, "moved"},
                                          {Decision::kept_gain, "kept: gain"},
                                          {Decision::kept_criterion, "kept: criterion"},
                                          {Decision::kept_same, "kept: same"},
                                          {Decision::kept_clock, "kept: clock"},
                                          {Decision::kept_limit, "kept: limit"}});
}

/// The history of one model's balancings. Checkpoints hold its numbers in this order.
struct History {
    /// Mean and maximum of the processes' times, summed over all balancings, seconds a step. Their ratio is the overall
    /// LBE.
    double sum_mean = 0, sum_max = 0;
    double lost_seconds = 0;   ///< Loss since the last migration by not migrating, as the criterion counts it.
    double move_seconds = 0;   ///< Cost of a migration; by the wall clock with the decision for it.
    double lbe_reachable = 1;  ///< LBE_m of the last partition that was computed.
    double ghost_cells = 0;    ///< Ghost cells of the partition in use.
    double lbe_model = 1;      ///< LBE_m of the partition in use, by the loads of load_step.
    double load_step = 0;      ///< Step at which the loads were modelled.
    double early_mean = 0, early_max = 0;  ///< Part of the sums before the first measured update.
    double updates = 0;                    ///< Updates of the model from measured times.

    static constexpr std::size_t numbers = 11;
    std::array<double, numbers> to_numbers() const {
        return {sum_mean,  sum_max,   lost_seconds, move_seconds, lbe_reachable, ghost_cells,
                lbe_model, load_step, early_mean,   early_max,    updates};
    }
    static History from_numbers(std::span<const double, numbers> v) {
        return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10]};
    }
    /// Refuses numbers that no history of `processes` processes up to `step` can have. No number may be negative or
    /// huge. Means lie between their bounds, also without the early part. Efficiencies are at most 1. Counts are whole.
    static bool accepts(std::span<const double> values, std::int64_t processes, std::int64_t step);
};

/// The opportunities to balance since the last migration; empty after one.
struct Watch {
    std::vector<double> spent;   ///< seconds of each process that the member hosts
    std::vector<double> memory;  ///< of the criterion
};

/// times: of the processes that the member hosts, seconds a step, over `steps` steps; they are added to what was spent
/// before.
void spend(std::span<const double> times, double steps, Watch& watch);
/// Adds the processes' times over `steps` steps, and asks the criterion for the loss. Until a model has learnt from
/// times, its loads may be all wrong. If the times refute them, perfect balance counts as reachable. times: seconds a
/// step. spent: Watch::spent. left: steps until the end of the run, if it is known.
void account(History& history, Watch& watch, const OverAll& times, const OverAll& spent, double steps,
             BalanceClock clock, const Criterion& criterion, std::optional<double> left = {});

/// Whether the run balances now: none, or why the partition in use is kept.
Decision decide(const History& history, const Criterion& criterion);
/// The decision on a new partition.
/// moved: the difference to the partition in use, of all members.
/// measured: times have asked for the partition; otherwise it is the first one.
/// sunk: the part of its cost, in seconds, that making the partition has already used up.
Decision decide(const History& history, const Criterion& criterion, bool measured, const Moved& moved, double sunk = 0);

}  // namespace balance
