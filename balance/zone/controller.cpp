// SPDX-License-Identifier: MIT
#include "balance/zone/controller.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

namespace balance {
namespace {

// Logarithms make both zones alike: exchanged, they change the sign. A share s is told by log(s / (1 - s)), so that the
// logarithm of the ratio of speeds is that of the best share.
double log_odds(double share) { return std::log(share / (1 - share)); }
double share_of(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

// What is remembered between checks.
struct Memory {
    // Of all kinds: the ratio of speeds.
    double ratio = 0;              // mean of the logarithms that were measured
    double weight = 0;             // how many measurements it stands for; 0: none
    double variance = 2 * 0.0025;  // of one measurement; at first for an error of 5 % of each time
    double recent = 0;             // mean that forgets soon
    double doubted = 0;            // a measurement that the mean makes unlikely, if there is a doubt
    double doubts = 0;             // 1: the last one was such
    // Of cpu_load.
    double wanted = 0;     // share, in parts of strips
    double gain = 1;       // 1, less after the direction changed
    double direction = 0;  // of the last correction: 1 to larger shares, -1, 0: none
    double corrected = 0;  // the share that it met

    static constexpr std::size_t numbers = 10;
    std::array<double, numbers> to_numbers() const {
        return {ratio, weight, variance, recent, doubted, doubts, wanted, gain, direction, corrected};
    }
    static Memory from_numbers(std::span<const double, numbers> v) {
        return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]};
    }
};

constexpr double most_weight = 48;       // measurements: older ones are forgotten
constexpr double absurd = 16;            // logarithm of a ratio of speeds that no machine has
constexpr double most_variance = 1;      // of a measurement
constexpr double least_variance = 1e-8;  // keeps what is exact from making the next measurement a doubt

bool accepted(std::span<const double> v) {
    if (v.size() != Memory::numbers) return false;
    if (!std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); })) return false;
    const Memory m = Memory::from_numbers(v.first<Memory::numbers>());
    const auto is_share = [](double share) { return share >= 0 && share <= 1; };
    return std::abs(m.ratio) <= absurd && m.weight >= 0 && m.weight <= most_weight && m.variance >= least_variance &&
           m.variance <= most_variance && std::abs(m.recent) <= absurd && std::abs(m.doubted) <= absurd &&
           (m.doubts == 0 || m.doubts == 1) && is_share(m.wanted) && m.gain > 0 && m.gain <= 1 &&
           std::abs(m.direction) <= 1 && is_share(m.corrected);
}

Memory memory_of(const ControllerState& state) {
    if (!accepted(state.values)) return {};
    return Memory::from_numbers(std::span(state.values).first<Memory::numbers>());
}

// Forgets what was measured but for `ratio`, which stands for some measurements.
void start_again(Memory& m, double ratio, double weight) {
    m.ratio = m.recent = ratio;
    m.weight = weight;
    m.doubts = 0;
}

// Adds what the deviation of a measurement from the mean says about the variance.
void learn_variance(Memory& m, double squared) {
    const double known = std::min(4 + m.weight, 32.0);
    m.variance = std::clamp(m.variance + (squared - m.variance) / (known + 1), least_variance, most_variance);
}

constexpr double unlikely = 4.5;       // standard deviations of a measurement
constexpr double unlikely_mean = 3.5;  // and of the mean of the last few

// One measurement more. One alone that is unlikely is left out; two that agree are a change of speeds.
void add(Memory& m, double measured) {
    if (m.weight == 0) return start_again(m, measured, 1);
    const double deviation = measured - m.ratio;
    const double squared = deviation * deviation * m.weight / (m.weight + 1);
    const double limit = unlikely * unlikely * m.variance;
    if (squared > limit) {
        const double apart = measured - m.doubted;
        if (m.doubts == 1 && apart * apart / 2 <= limit) return start_again(m, (measured + m.doubted) / 2, 2);
        m.doubted = measured;
        m.doubts = 1;
        return;
    }
    m.doubts = 0;
    learn_variance(m, squared);
    m.weight = std::min(m.weight + 1, most_weight);
    m.ratio += deviation / m.weight;
    // A smaller change shows in the mean of the last few, whose variance is a seventh of one measurement's.
    m.recent = m.weight < 8 ? m.ratio : m.recent + (measured - m.recent) / 4;
    const double off = m.recent - m.ratio;
    if (off * off > unlikely_mean * unlikely_mean * m.variance / 7) start_again(m, m.recent, 4);
}

// Adds what the times of both zones say, if they say anything.
bool observe(const ZoneTimes& t, Memory& m) {
    const auto sensible = [](double seconds) { return seconds > 0 && std::isfinite(seconds); };
    if (!(t.share > 0 && t.share < 1) || !sensible(t.cpu_seconds) || !sensible(t.accelerator_seconds)) return false;
    const double measured = log_odds(t.share) + std::log(t.cpu_seconds / t.accelerator_seconds);
    if (!(std::abs(measured) < absurd)) return false;
    add(m, measured);
    return m.doubts == 0;
}

BorderStep kept(const ZoneTimes& t) { return {t.share, BorderDecision::kept}; }

// direction: positive to larger shares.
BorderDecision towards(double direction) {
    return direction > 0 ? BorderDecision::towards_cpu : BorderDecision::towards_accelerator;
}

// The CPU's load is to lie between these.
constexpr double band_begin = 0.85, band_end = 0.95;

// How far the border moves, by the deviation of the load from the band relative to the largest possible, and by the
// sizes of the zones. Above the band the deviation says hardly more than the direction, so that the shift is small near
// both ends; below it shows how far there is to go, but for a CPU without work, whose speed nobody knows.
double shift_of(double load, double share) {
    const double both = share * (1 - share);
    if (load > band_end) return (load - band_end) / (1 - band_end) * (1.3e-4 + 0.94 * both * both);
    return (band_begin - load) / band_begin * (0.035 + 0.8 * both);
}

BorderStep by_cpu_load(const ZoneTimes& t, Memory& m) {
    if (!(t.cpu_load < band_begin || t.cpu_load > band_end)) return kept(t);
    const double load = std::clamp(t.cpu_load, 0.0, 1.0), direction = load > band_end ? 1 : -1;
    const bool turns = direction * m.direction < 0;
    if (turns) m.gain = std::max(m.gain / 2, 1.0 / 32);
    else if (t.share != m.corrected) m.gain = std::min(1.3 * m.gain, 1.0);  // it has moved and has not arrived
    // Parts of a strip add up while the border stays where it is, but not those of the other direction.
    const double from = direction == m.direction && std::abs(m.wanted - t.share) <= t.grain ? m.wanted : t.share;
    const double shrinking = direction > 0 ? 1 - t.share : t.share;
    const double shift = std::min(m.gain * shift_of(load, from), shrinking / 2);
    m.wanted = std::clamp(from + direction * shift, t.least, t.most);
    m.direction = direction;
    m.corrected = t.share;
    return m.wanted == t.share ? kept(t) : BorderStep{m.wanted, towards(direction)};
}

constexpr double probe = 0.05;        // share of a zone whose speed nobody knows
constexpr double trust = 20;          // a zone grows or shrinks at most by this factor
constexpr double significance = 2.5;  // standard errors of the mean
constexpr double worth_having = 1.1;  // times as fast without a zone, before it is given up

// The share wanted for the zone that would get less than a strip: one strip, or none where the other one alone is
// faster. share: of this zone now. ratio: of its speed to the other one's, and its error, as logarithms.
double smallest_zone(double share, double ratio, double error, double grain) {
    if (share <= 0) return 0;
    const bool alone = share <= 1.5 * grain && log_odds(share) - ratio - error > std::log(worth_having / (1 - share));
    return alone ? 0 : grain;
}

// The share at which both zones take the same time, as far as the memory and the strips say. It is rounded to the
// nearest strip, so that it is put nearer to the one that costs less: a strip too many costs a zone a part of its time,
// and the smaller zone more.
double best_share(const ZoneTimes& t, const Memory& m, double error) {
    const double best = share_of(m.ratio);
    if (best < t.grain) return smallest_zone(t.share, m.ratio, error, t.grain);
    if (1 - best < t.grain) return 1 - smallest_zone(1 - t.share, -m.ratio, error, t.grain);
    return best + t.grain * (best - 0.5);
}

double within_trust(double share, double present) {
    if (present <= 0 || present >= 1) return share;
    const double cpu = 1 - present;
    return std::clamp(share, std::max(present / trust, 1 - trust * cpu), std::min(trust * present, 1 - cpu / trust));
}

// Whether a share is off by more than the error. A zone that is too large costs a part of itself, so that it takes less
// to make the smaller zone smaller than to make it larger.
bool worth_moving(double share, double ratio, double error) {
    const double missing = ratio - log_odds(share);
    return std::abs(missing) >= error * (1.5 - (missing > 0 ? share : 1 - share));
}

BorderStep by_measured_speed(const ZoneTimes& t, Memory& m, bool observed) {
    const bool one_zone = t.share <= 0 || t.share >= 1;
    if (!observed && !one_zone) return kept(t);
    const double error = m.weight > 0 ? significance * std::sqrt(m.variance / m.weight) : 0;
    double share = t.share;
    if (m.weight == 0) {
        const double small = std::max(probe, t.grain);
        share = t.share <= 0 ? small : 1 - small;
    } else {
        const double best = best_share(t, m, error);
        share = best > 0 && best < 1 ? within_trust(best, t.share) : best;
        if (!one_zone && !worth_moving(t.share, m.ratio, error)) return kept(t);
    }
    share = std::clamp(share, t.least, t.most);
    // Between two strips the border stays at either. Strips may be much lighter than the grain, so a zone that is to
    // become empty is not asked how small it is.
    const bool empties = !one_zone && (share <= 0 || share >= 1);
    if (!empties && std::abs(share - t.share) < 0.6 * t.grain) return kept(t);
    // What was measured at another share says less here, where times are not proportional to loads.
    if (!one_zone && share > 0 && share < 1) m.weight *= std::exp(-std::abs(log_odds(share) - log_odds(t.share)) / 0.3);
    return {share, towards(share - t.share)};
}

}  // namespace

BorderStep next_share(ControllerKind kind, const ZoneTimes& times, ControllerState& state) {
    Memory memory = memory_of(state);
    const bool observed = observe(times, memory);
    BorderStep step = kept(times);
    if (kind == ControllerKind::cpu_load) step = by_cpu_load(times, memory);
    if (kind == ControllerKind::measured_speed) step = by_measured_speed(times, memory, observed);
    const std::array<double, Memory::numbers> numbers = memory.to_numbers();
    state.values.assign(numbers.begin(), numbers.end());
    return step;
}

double relative_speed(const ControllerState& state) {
    const Memory m = memory_of(state);
    return m.weight > 0 ? std::exp(m.ratio) : 0;
}

bool check_due(std::int64_t steps_since_start, std::int64_t every) {
    if (steps_since_start <= 0 || every <= 0) return false;
    if (steps_since_start >= every) return steps_since_start % every == 0;
    return std::has_single_bit(static_cast<std::uint64_t>(steps_since_start));
}

}  // namespace balance
