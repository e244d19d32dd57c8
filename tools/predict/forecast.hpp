// SPDX-License-Identifier: MIT
// The time of a mean step, what it is made of, and what would make it shorter.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "tools/predict/decomposed.hpp"

namespace predict {

/// How far predicted steps were off in comparisons with runs, real and simulated, without balancing and with it
/// (docs/prediction.md): part of the step.
inline constexpr double method_error = 0.1, method_error_balanced = 0.15;

/// Seconds of a mean step; they add up to seconds().
struct Terms {
    double compute = 0;      ///< Computing of the mean rank.
    double imbalance = 0;    ///< Extra computing of the slowest rank.
    double messages = 0;     ///< Communication on a network of endless bandwidth.
    double bytes = 0;        ///< The rest of communication.
    double rebalancing = 0;  ///< Balancing and migration, spread over the steps.
    double seconds() const { return compute + imbalance + messages + bytes + rebalancing; }
    double communication() const { return messages + bytes; }
};

/// A prediction for one number of ranks.
struct Forecast {
    std::int64_t ranks = 1;
    Terms terms;
    double undivided_imbalance = -1;           ///< Imbalance if no cell of the deck could be cut; -1: not known.
    double lbe = 1;                            ///< LBE of the partition, by its own loads.
    double messages = 0, bytes = 0;            ///< Sent by a mean rank in a step.
    double low_seconds = 0, high_seconds = 0;  ///< Range by the uncertainties of machine and method.
    double balanced_seconds = 0;               ///< Seconds of a step with the same load on all ranks.
    double fast_network_seconds = 0;  ///< The same with half the latency and message cost, twice the bandwidths.
    double none_seconds = 0, links_seconds = 0, full_seconds = 0;  ///< The same by comm.overlap.
};

/// Input of a forecast beside the ranks' steps.
struct Conditions {
    comm::NodeMap nodes;
    Machine machine;
    comm::Overlap overlap = comm::Overlap::full;
    double steps_per_rebuild = 10;
    double rebalancing_seconds = 0;  ///< a step
};

/// The time of a mean step: most steps exchange positions alone. When the neighbour lists are rebuilt, records and
/// counts go first, and positions before anything is computed.
double mean_step_seconds(const RankSteps& ranks, const Conditions& conditions);

/// Terms, and the other times of a Forecast.
Forecast forecast(const RankSteps& ranks, const Conditions& conditions);

/// Extra seconds of a step by rebuilds of the neighbour lists.
double rebuild_seconds(const RankSteps& ranks, const Conditions& conditions);

/// The mean of forecasts for the same ranks, number by number. At least one. weights: one of each; their sum is 1.
Forecast mean_of(std::span<const Forecast> forecasts, std::span<const double> weights);

/// The forecast with the shortest step. forecasts: at least one.
const Forecast& best_of(std::span<const Forecast> forecasts);

/// The limit of a step: computing if it takes at least half of it, else the largest of the other terms.
struct Limit {
    std::string name;  ///< in words
    double seconds = 0;
};
Limit limit_of(const Terms& terms);

/// Forecasts by ranks, made on demand. Some partitions are luckier than others, so an efficiency does not fall with
/// every rank. Searches double the ranks until the answer is passed. Then they halve the interval.
class Forecasts {
public:
    /// make: makes the forecast for a number of ranks. most: the largest number of ranks that is tried.
    Forecasts(std::function<Forecast(std::int64_t)> make, std::int64_t most) : make_(std::move(make)), most_(most) {}

    const Forecast& of(std::int64_t ranks);
    const std::map<std::int64_t, Forecast>& all() const { return known_; }

    /// The speed-up over one rank, divided by the ranks.
    double efficiency(std::int64_t ranks);
    /// The most ranks with at least this efficiency, up to `most`.
    std::int64_t most_with_efficiency(double efficiency);
    /// The fewest ranks with a step of at most `step_seconds`. Nothing if no number of ranks up to `most` is that fast,
    /// or if doubling the ranks makes the step longer before.
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
