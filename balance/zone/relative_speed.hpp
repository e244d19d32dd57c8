// SPDX-License-Identifier: MIT
// The speed of an accelerator relative to its CPU, from the times of both zones. It is a mean of logarithms with an
// error estimate. A single measurement that does not fit is left out. If the speeds have changed, the mean starts anew.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace balance {

struct ZoneTimes;

// Logarithms make both zones alike: exchanged, they change the sign. A share s is told by log(s / (1 - s)), so that the
// logarithm of the ratio of speeds is that of the best share.
inline double log_odds(double share) { return std::log(share / (1 - share)); }
inline double share_of(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

struct RelativeSpeed {
    double ratio = 0;              ///< Mean of the measured logarithms.
    double weight = 0;             ///< Number of measurements behind it; 0: none.
    double variance = 2 * 0.0025;  ///< Variance of one measurement; at first for an error of 5 % of each time.
    double recent = 0;             ///< Mean that forgets soon.
    double doubted = 0;            ///< The last measurement, if the mean makes it unlikely.
    double doubts = 0;             ///< 1: the last measurement was unlikely.

    /// Adds what the times of both zones say. False if they say nothing, or what they say is doubted.
    bool observe(const ZoneTimes& times);

    static constexpr std::size_t numbers = 6;
    std::array<double, numbers> to_numbers() const { return {ratio, weight, variance, recent, doubted, doubts}; }
    static RelativeSpeed from_numbers(std::span<const double, numbers> v) {
        return {v[0], v[1], v[2], v[3], v[4], v[5]};
    }
    /// Whether measurements can have made these numbers, which are finite.
    bool possible() const;

private:
    void start_again(double measured, double measurements);
    void learn_variance(double squared);
    void add(double measured);
};

}  // namespace balance
