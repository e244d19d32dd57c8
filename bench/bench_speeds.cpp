// SPDX-License-Identifier: MIT
// Speeds by a reference (balance/model/speeds.hpp) in worlds of unequal processes and dear cells. For each world
// bench_speeds prints the largest error of a speed in the end and the mean efficiency from the fifth balancing on: with
// references as noisy as the processes' times, with three times as noisy ones, and without speeds.
// bench_speeds [PROCESSES]: 40 by default; with more of them the grid is higher.
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>

#include "speed_world.hpp"

using namespace test;

namespace {

struct Case {
    const char* name;
    std::function<void(World&)> change;
};

const Case cases[] = {
    {"equal", [](World&) {}},
    {"equal, noise 1 %", [](World& w) { w.noise = 0.01; }},
    {"equal, noise 5 %", [](World& w) { w.noise = 0.05; }},
    {"a tenth at half speed", [](World& w) { w = some_slow(w.processes); }},
    {"a tenth at half speed, noise 1 %", [](World& w) { w = some_slow(w.processes), w.noise = 0.01; }},
    {"a tenth at half speed, noise 5 %", [](World& w) { w = some_slow(w.processes), w.noise = 0.05; }},
    {"all differ, 0.7 to 1.3",
     [](World& w) {
         for (std::size_t p = 0; p < w.speed.size(); ++p)
             w.speed[p] = 0.7 + 0.6 * static_cast<double>(p * 17 % 40) / 40;
     }},
    {"six neighbours at 0.7", [](World& w) { std::fill_n(w.speed.begin() + 10, 6, 0.7); }},
    {"dear cells, 1.3 x", [](World& w) { w.surcharge = 1.3; }},
    {"dear cells, 2 x", [](World& w) { w.surcharge = 2; }},
    {"dear cells, 2 x, noise 1 %", [](World& w) { w.surcharge = 2, w.noise = 0.01; }},
    {"dear cells, 1.3 x, a tenth at half speed", [](World& w) { w = some_slow(w.processes), w.surcharge = 1.3; }},
    {"dear cells, 2 x, a tenth at half speed, noise 1 %",
     [](World& w) { w = some_slow(w.processes), w.surcharge = 2, w.noise = 0.01; }},
    {"a tenth at half speed, equal from the 8th on", [](World& w) { w = some_slow(w.processes), w.change_at = 8; }},
};

struct Figures {
    double worst = 0, efficiency = 0;
};

// The worst error, and the mean efficiency, of several worlds.
Figures figures_of(World w) {
    constexpr int seeds = 5, first = 4;
    w.balancings = 20;
    Figures all;
    for (w.seed = 0; w.seed < seeds; ++w.seed) {
        const Outcome outcome = simulate(SerialTeam(), w);
        World end = w;
        if (w.change_at >= 0) end.speed.assign(w.speed.size(), 1.0);
        all.worst = std::max(all.worst, largest_error(end, outcome.relative));
        all.efficiency += std::accumulate(outcome.efficiency.begin() + first, outcome.efficiency.end(), 0.0) /
                          (w.balancings - first) / seeds;
    }
    return all;
}

}  // namespace

int main(int arguments, char** values) {
    std::printf(
        "| world | worst error | LBE | reference three times as noisy: worst error | LBE | no speeds: LBE |\n"
        "|---|---|---|---|---|---|\n");
    for (const Case& c : cases) {
        World w = equal_speeds(arguments > 1 ? std::stoll(values[1]) : 40);
        c.change(w);
        std::printf("| %s |", c.name);
        for (const double noise : {1.0, 3.0}) {
            w.noise_of_reference = noise;
            const Figures f = figures_of(w);
            std::printf(" %.1f | %.1f |", 100 * f.worst, 100 * f.efficiency);
        }
        w.use = false;
        std::printf(" %.1f |\n", 100 * figures_of(w).efficiency);
    }
}
