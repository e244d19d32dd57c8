// SPDX-License-Identifier: MIT
#include "balance/zone/relative_speed.hpp"

#include <algorithm>

#include "balance/zone/controller.hpp"

namespace balance {
namespace {

constexpr double most_weight = 48;       // Measurements; older ones are forgotten.
constexpr double absurd = 16;            // Logarithm of a ratio of speeds that no machine has.
constexpr double most_variance = 1;      // Of a measurement.
constexpr double least_variance = 1e-8;  // After exact measurements, the next one is not doubted at once.

constexpr double unlikely = 4.5;       // standard deviations of a measurement
constexpr double unlikely_mean = 3.5;  // and of the mean of the last few

}  // namespace

bool RelativeSpeed::possible() const {
    return std::abs(ratio) <= absurd && weight >= 0 && weight <= most_weight && variance >= least_variance &&
           variance <= most_variance && std::abs(recent) <= absurd && std::abs(doubted) <= absurd &&
           (doubts == 0 || doubts == 1);
}

// Forgets what was measured but for the ratio, which stands for some measurements.
void RelativeSpeed::start_again(double measured, double measurements) {
    ratio = recent = measured;
    weight = measurements;
    doubts = 0;
}

// Adds what the deviation of a measurement from the mean says about the variance.
void RelativeSpeed::learn_variance(double squared) {
    const double known = std::min(4 + weight, 32.0);
    variance = std::clamp(variance + (squared - variance) / (known + 1), least_variance, most_variance);
}

// One measurement more. One alone that is unlikely is left out; two that agree are a change of speeds.
void RelativeSpeed::add(double measured) {
    if (weight == 0) return start_again(measured, 1);
    const double deviation = measured - ratio;
    const double squared = deviation * deviation * weight / (weight + 1);
    const double limit = unlikely * unlikely * variance;
    if (squared > limit) {
        const double apart = measured - doubted;
        if (doubts == 1 && apart * apart / 2 <= limit) return start_again((measured + doubted) / 2, 2);
        doubted = measured;
        doubts = 1;
        return;
    }
    doubts = 0;
    learn_variance(squared);
    weight = std::min(weight + 1, most_weight);
    ratio += deviation / weight;
    // A smaller change shows in the mean of the last few, whose variance is a seventh of one measurement's.
    recent = weight < 8 ? ratio : recent + (measured - recent) / 4;
    const double off = recent - ratio;
    if (off * off > unlikely_mean * unlikely_mean * variance / 7) start_again(recent, 4);
}

bool RelativeSpeed::observe(const ZoneTimes& t) {
    const auto sensible = [](double seconds) { return seconds > 0 && std::isfinite(seconds); };
    if (!(t.share > 0 && t.share < 1) || !sensible(t.cpu_seconds) || !sensible(t.accelerator_seconds)) return false;
    const double measured = log_odds(t.share) + std::log(t.cpu_seconds / t.accelerator_seconds);
    if (!(std::abs(measured) < absurd)) return false;
    add(measured);
    return doubts == 0;
}

}  // namespace balance
