// SPDX-License-Identifier: MIT
// A model of a machine with a CPU and an accelerator, on which controllers of their border are tried: times are
// computed from given speeds, and what a controller gets to see of them has an error.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "balance/zone/border.hpp"
#include "balance/zone/controller.hpp"

/// 12 cores that do one unit of work a second each, beside an accelerator.
struct SimulatedMachine {
    static constexpr double cores = 12;
    double accelerator_speed = cores * 0.87 / 0.13;               ///< units of work a second
    double work = cores / 0.13;                                   ///< of a step: it takes 1 s at best
    double cpu_fixed_seconds = 0, accelerator_fixed_seconds = 0;  ///< of a step, whatever the zone
    int strips = 1000, room = 1000;  ///< of equal load; those that the accelerator may have
    double noise = 0;                ///< standard deviation of measured times, relative

    double cpu_seconds(double share) const { return share < 1 ? cpu_fixed_seconds + (1 - share) * work / cores : 0; }
    double accelerator_seconds(double share) const {
        return share > 0 ? accelerator_fixed_seconds + share * work / accelerator_speed : 0;
    }
    /// Of a step, in seconds: both compute at the same time.
    double step_seconds(double share) const { return std::max(cpu_seconds(share), accelerator_seconds(share)); }
    /// The share of the fastest fixed border.
    double best_share() const {
        double best = 0;
        for (int border = 0; border <= room; ++border)
            if (const double share = double(border) / strips; step_seconds(share) < step_seconds(best)) best = share;
        return best;
    }
};

/// The machine whose best share is `share` where times are proportional to loads; a step takes 1 s at best.
inline SimulatedMachine machine_with_best(double share) {
    SimulatedMachine machine;
    machine.accelerator_speed = SimulatedMachine::cores * share / (1 - share);
    machine.work = SimulatedMachine::cores / (1 - share);
    return machine;
}

/// What happened at the checks of the border.
struct SimulatedRun {
    std::vector<double> shares;   ///< before each check, and after the last one
    std::vector<bool> corrected;  ///< whether a check decided to move the border
    std::vector<double> seconds;  ///< of a step before each check

    int corrections(std::size_t begin, std::size_t end) const {
        return static_cast<int>(std::count(corrected.begin() + static_cast<std::ptrdiff_t>(begin),
                                           corrected.begin() + static_cast<std::ptrdiff_t>(end), true));
    }
    /// The number of checks up to a correction, the first being 1; where there are fewer, up to the last of them.
    std::size_t checks_until(int correction) const {
        std::size_t check = 0;
        const int last = std::min(correction, corrections(0, corrected.size()));
        for (int found = 0; found < last; ++check) found += corrected[check];
        return check;
    }
    /// Corrections until the share is within `off` of `best` for the first time from check `begin` on; -1: never.
    int corrections_until(double best, double off, std::size_t begin = 0) const {
        for (std::size_t c = begin; c < shares.size(); ++c)
            if (std::abs(shares[c] - best) <= off) return corrections(begin, c);
        return -1;
    }
    /// The largest distance of the share from `best` after check `begin`.
    double largest_error(double best, std::size_t begin) const {
        double largest = 0;
        for (std::size_t c = begin; c < shares.size(); ++c) largest = std::max(largest, std::abs(shares[c] - best));
        return largest;
    }
    /// How often the border turns back in checks [begin, end).
    int reversals(std::size_t begin, std::size_t end) const {
        double before = 0;
        int found = 0;
        for (std::size_t c = begin; c < end; ++c) {
            const double move = shares[c + 1] - shares[c];
            found += move * before < 0;
            if (move != 0) before = move;
        }
        return found;
    }
    /// Mean seconds of a step before checks [begin, end).
    double mean_seconds(std::size_t begin, std::size_t end) const {
        double sum = 0;
        for (std::size_t c = begin; c < end; ++c) sum += seconds[c];
        return sum / static_cast<double>(end - begin);
    }
};

/// Lets a controller check the border `checks` times, with equal numbers of steps between them. change(machine, check):
/// called before the steps of each check.
inline SimulatedRun simulate(
    SimulatedMachine machine, std::string_view kind, double start, int checks, std::uint64_t seed = 1,
    const std::function<void(SimulatedMachine&, int)>& change = [](SimulatedMachine&, int) {}) {
    const std::vector<std::int64_t> strip_loads(machine.room, 1);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> error(0, 1);
    const auto measured = [&](double seconds) { return seconds * std::max(0.1, 1 + machine.noise * error(random)); };
    balance::ControllerState state;
    SimulatedRun run;
    const auto share_near = [&](double share) {
        return balance::share_at(strip_loads, machine.strips, balance::border_at(strip_loads, machine.strips, share));
    };
    run.shares.push_back(share_near(start));
    for (int check = 0; check < checks; ++check) {
        change(machine, check);
        const double share = run.shares.back();
        balance::ZoneTimes times;
        times.share = share;
        times.most = double(machine.room) / machine.strips;
        times.grain = 1.0 / machine.strips;
        times.cpu_seconds = measured(machine.cpu_seconds(share));
        times.accelerator_seconds = measured(machine.accelerator_seconds(share));
        times.cpu_load = times.cpu_seconds / std::max(times.cpu_seconds, times.accelerator_seconds);
        run.seconds.push_back(machine.step_seconds(share));
        const balance::BorderStep step = balance::next_share(kind, times, state);
        run.corrected.push_back(step.decision != balance::BorderDecision::kept);
        run.shares.push_back(share_near(step.share));
    }
    return run;
}
