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
    std::vector<int> moves;       ///< of each check: 1 to a larger share, -1 to a smaller one, 0: kept
    std::vector<double> seconds;  ///< of a step before each check

    /// The number of checks up to and including the one of the given correction; all where there are fewer.
    std::size_t checks_until(int correction) const {
        std::size_t check = 0;
        for (int found = 0; check < moves.size() && found < correction; ++check) found += moves[check] != 0;
        return check;
    }
    /// Corrections that turn back, in checks [begin, end).
    int reversals(std::size_t begin, std::size_t end) const {
        int before = 0, found = 0;
        for (std::size_t c = begin; c < end; ++c) {
            if (moves[c] == 0) continue;
            found += moves[c] == -before;
            before = moves[c];
        }
        return found;
    }
    /// The first number of corrections after which the share is within `off` of `best` until the end of the checks, or
    /// until check `end`; -1: never.
    int corrections_until(double best, double off, std::size_t end) const {
        std::size_t check = end;
        while (check > 0 && std::abs(shares[check] - best) <= off) --check;
        if (check == end) return -1;
        if (check == 0 && std::abs(shares[0] - best) <= off) return 0;
        return static_cast<int>(std::count_if(moves.begin(), moves.begin() + check + 1, [](int m) { return m != 0; }));
    }
    double seconds_between(std::size_t begin, std::size_t end) const {
        double sum = 0;
        for (std::size_t c = begin; c < end; ++c) sum += seconds[c];
        return sum;
    }
};

/// Lets a controller check the border `checks` times, with equal numbers of steps between them. change(machine, check):
/// called before the steps of each check.
inline SimulatedRun simulate(
    SimulatedMachine machine, balance::ControllerKind kind, double start, int checks, std::uint64_t seed = 1,
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
        run.moves.push_back((step.decision == balance::BorderDecision::towards_cpu) -
                            (step.decision == balance::BorderDecision::towards_accelerator));
        run.shares.push_back(share_near(step.share));
    }
    return run;
}
