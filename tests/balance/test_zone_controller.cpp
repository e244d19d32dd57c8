// SPDX-License-Identifier: MIT
// Controllers of the border on a model of a machine: how soon they find the best share, and whether they stay there.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "simulated_zone.hpp"

using namespace balance;

namespace {

constexpr std::string_view paper = "cpu_load", ours = "measured_speed";
constexpr double starts[]{1, 0.75, 0.5, 0};
constexpr double rounding = 1e-9;

SimulatedMachine noisy(SimulatedMachine machine, double noise = 0.05) {
    machine.noise = noise;
    return machine;
}

// From the 4th correction (or the last, where there are fewer) to check 100, relative to the best fixed share.
double time_over_best(const SimulatedMachine& machine, const SimulatedRun& run) {
    return run.mean_seconds(std::min<std::size_t>(run.checks_until(4), 99), 100) /
           machine.step_seconds(machine.best_share());
}

// Times of a machine without noise.
ZoneTimes times_at(double share, double best = 0.87) {
    const SimulatedMachine machine = machine_with_best(best);
    ZoneTimes t;
    t.share = share;
    t.grain = 0.001;
    t.cpu_seconds = machine.cpu_seconds(share);
    t.accelerator_seconds = machine.accelerator_seconds(share);
    t.cpu_load = t.cpu_seconds / machine.step_seconds(share);
    return t;
}

bool near(double a, double b, double off) { return std::abs(a - b) <= off; }

}  // namespace

TEST_CASE("the model's machine is the paper's") {
    const SimulatedMachine machine;
    CHECK(near(machine.best_share(), 0.87, rounding));
    CHECK(near(machine.step_seconds(0.87), 1, rounding));
    CHECK(near(machine.accelerator_speed / (12 * 1.0), 0.87 / 0.13, rounding));
}

TEST_CASE("measured_speed finds the best share in at most 4 corrections and costs no more than the best fixed one") {
    for (const double best : {0.2, 0.35, 0.5, 0.7, 0.87, 0.95, 0.99})
        for (const double start : starts) {
            CAPTURE(best, start);
            const SimulatedMachine machine = machine_with_best(best);
            const SimulatedRun run = simulate(machine, ours, start, 100);
            const int corrections = run.corrections_until(best, 0.01);
            CHECK(corrections >= 0);
            CHECK(corrections <= 4);
            CHECK(run.largest_error(best, run.checks_until(4)) <= 0.01);
            CHECK(time_over_best(machine, run) < 1.02);
            CHECK(run.reversals(0, 100) <= 1);
        }
}

TEST_CASE("with 5 % noise measured_speed stays at the best share of 87 % and hardly ever turns back") {
    const SimulatedMachine machine = noisy({});
    int slow = 0, late = 0, outside = 0, reversals = 0, expensive = 0;
    double time = 0;
    constexpr int seeds = 500, runs = seeds * static_cast<int>(std::size(starts));
    for (const double start : starts)
        for (int seed = 0; seed < seeds; ++seed) {
            const SimulatedRun run = simulate(machine, ours, start, 100, seed);
            const int corrections = run.corrections_until(0.87, 0.01);
            slow += corrections < 0 || corrections > 4;
            late += run.largest_error(0.87, run.checks_until(4)) > 0.01;
            outside += run.largest_error(0.87, 20) > 0.01;
            reversals += run.reversals(20, 70);
            CHECK(run.reversals(20, 70) <= 1);
            const double over = time_over_best(machine, run);
            time += over / runs;
            expensive += over > 1.02;
            CHECK(over < 1.03);
        }
    CAPTURE(slow, late, outside, reversals, expensive, time);
    CHECK(slow <= runs / 500);
    CHECK(late <= runs / 50);  // with less than a handful of measurements
    CHECK(outside <= runs / 500);
    CHECK(reversals <= runs / 50);  // in 50 checks of each run
    CHECK(expensive <= runs / 100);
    CHECK(time < 1.005);
}

TEST_CASE("with 5 % noise measured_speed works for accelerators of any speed") {
    for (const double best : {0.2, 0.35, 0.5, 0.7, 0.95, 0.99}) {
        const SimulatedMachine machine = noisy(machine_with_best(best));
        int reversals = 0, expensive = 0;
        double time = 0, error = 0;
        constexpr int seeds = 100, runs = seeds * static_cast<int>(std::size(starts));
        for (const double start : starts)
            for (int seed = 0; seed < seeds; ++seed) {
                const SimulatedRun run = simulate(machine, ours, start, 100, seed);
                reversals += run.reversals(20, 70);
                const double over = time_over_best(machine, run);
                time += over / runs;
                expensive += over > 1.02;
                CHECK(over < 1.03);
                error = std::max(error, run.largest_error(best, 20));
            }
        CAPTURE(best, reversals, expensive, time, error);
        CHECK(reversals <= runs / 25);
        CHECK(expensive <= runs / 50);
        CHECK(time < 1.01);
        CHECK(error < 0.11 * best * (1 - best));  // 0.027 at 50 %, where 5 % of a time shift the share most
    }
}

TEST_CASE("measured_speed follows a speed that doubles or halves within 4 corrections") {
    for (const double noise : {0.0, 0.05})
        for (const double factor : {2.0, 0.5})
            for (const double best : {0.3, 0.87}) {
                const double then = best * factor / (best * factor + 1 - best);
                int slow = 0;
                for (int seed = 0; seed < 100; ++seed) {
                    const auto change = [&](SimulatedMachine& m, int check) {
                        if (check == 60) m.accelerator_speed *= factor;
                    };
                    const SimulatedRun run =
                        simulate(noisy(machine_with_best(best), noise), ours, 0.5, 100, seed, change);
                    const int corrections = run.corrections_until(then, 0.01, 60);
                    slow += corrections < 0 || corrections > 4;
                    CHECK(run.largest_error(then, 70) < (noise > 0 ? 0.04 : 0.01));
                    CHECK(run.reversals(60, 100) <= (noise > 0 ? 3 : 0));
                }
                CAPTURE(noise, factor, best);
                CHECK(slow <= (noise > 0 ? 5 : 0));
            }
}

TEST_CASE("measured_speed follows a smaller change soon, too") {
    for (int seed = 0; seed < 50; ++seed) {
        const auto change = [](SimulatedMachine& m, int check) {
            if (check == 60) m.accelerator_speed *= 1.3;
        };
        const SimulatedRun run = simulate(noisy({}), ours, 0.5, 100, seed, change);
        const double then = 0.87 * 1.3 / (0.87 * 1.3 + 0.13);
        CHECK(run.largest_error(then, 80) < 0.015);
    }
}

TEST_CASE("cpu_load behaves as in the paper") {
    const SimulatedMachine machine;
    const auto corrections = [&](double start) {
        const SimulatedRun run = simulate(machine, paper, start, 300);
        CHECK(run.reversals(0, 300) == 0);
        CHECK(!run.corrected.back());  // it has come to rest in the band
        CHECK(run.largest_error(0.87, 299) <= 0.02);
        return run.corrections_until(0.87, 0.02);
    };
    CHECK(near(corrections(1), 4, 1));
    CHECK(near(corrections(0.75), 4, 1));
    CHECK(near(corrections(0.5), 9, 3));
    CHECK(near(corrections(0), 150, 20));
}

TEST_CASE("cpu_load does not jump back and forth, whatever the strips and the speeds") {
    for (const int strips : {5, 7, 20, 100, 1000})
        for (const double best : {0.02, 0.2, 0.5, 0.87, 0.97})
            for (const double start : starts)
                for (const double noise : {0.0, 0.05}) {
                    CAPTURE(strips, best, start, noise);
                    SimulatedMachine machine = noisy(machine_with_best(best), noise);
                    machine.strips = machine.room = strips;
                    const SimulatedRun run = simulate(machine, paper, start, 1000);
                    CHECK(run.reversals(500, 1000) <= (noise > 0 ? 80 : 15));
                    double jump = 0;
                    for (std::size_t c = 500; c < 1000; ++c)
                        jump = std::max(jump, std::abs(run.shares[c + 1] - run.shares[c]));
                    CHECK(jump <= std::max(1.0 / strips, 0.05) + rounding);
                }
}

TEST_CASE("cpu_load keeps the border inside the band, and moves it the right way outside") {
    for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0})
        for (const double load : {0.0, 0.5, 0.84, 0.85, 0.9, 0.95, 0.96, 1.0}) {
            CAPTURE(share, load);
            ControllerState state;
            ZoneTimes t = times_at(share);
            t.cpu_load = load;
            const BorderStep step = next_share(paper, t, state);
            const bool up = load > 0.95 && share < 1, down = load < 0.85 && share > 0;
            CHECK((step.share > share) == up);
            CHECK((step.share < share) == down);
            CHECK(step.decision == (up     ? BorderDecision::grow_accelerator
                                    : down ? BorderDecision::grow_cpu
                                           : BorderDecision::kept));
        }
}

TEST_CASE("a zone that is empty does not shrink, and one without room gets nothing") {
    for (const double end : {0.0, 1.0}) {
        ControllerState state;
        ZoneTimes t = times_at(std::abs(end - 0.01));
        t.grain = 0.02;
        t.cpu_load = end;  // the zone at that end has too much to do
        next_share(paper, t, state);
        t.share = end;  // it lost its last strip
        for (int check = 0; check < 3; ++check) {
            const BorderStep step = next_share(paper, t, state);
            CHECK(step.share == end);
            CHECK(step.decision == BorderDecision::kept);
        }
    }
    ControllerState state;
    ZoneTimes t = times_at(0);
    t.most = t.grain = 0;
    CHECK(next_share(ours, t, state).decision == BorderDecision::kept);
}

TEST_CASE("cpu_load never takes more than half of a zone at once") {
    for (double share = 0.0005; share < 1; share += 0.0005)
        for (const double load : {0.0, 1.0}) {
            ControllerState state;
            ZoneTimes t = times_at(share);
            t.cpu_load = load;
            const double next = next_share(paper, t, state).share;
            CHECK(next >= share / 2);
            CHECK(1 - next >= (1 - share) / 2 - rounding);
        }
}

TEST_CASE("measured_speed learns how large the noise is") {
    for (const double noise : {0.002, 0.3})
        for (int seed = 0; seed < 50; ++seed) {
            const SimulatedRun run = simulate(noisy(machine_with_best(0.5), noise), ours, 0.5, 300, seed);
            CHECK(run.largest_error(0.5, 100) < (noise < 0.01 ? 0.003 : 0.12));
            CHECK(run.reversals(100, 300) <= 4);
        }
}

TEST_CASE("measured_speed copes with costs that don't depend on the zones") {
    for (const double best : {0.3, 0.87})
        for (const double cpu : {0.0, 0.3})
            for (const double accelerator : {0.0, 0.1, 0.3})
                for (const double start : starts) {
                    CAPTURE(best, cpu, accelerator, start);
                    SimulatedMachine machine = machine_with_best(best);
                    machine.cpu_fixed_seconds = cpu, machine.accelerator_fixed_seconds = accelerator;
                    const SimulatedRun run = simulate(machine, ours, start, 100);
                    CHECK(run.mean_seconds(20, 100) < 1.02 * machine.step_seconds(machine.best_share()));
                    CHECK(run.reversals(0, 100) <= 1);
                }
}

TEST_CASE("an accelerator that only costs time gets nothing in the end") {
    SimulatedMachine machine = machine_with_best(0.3);
    machine.accelerator_fixed_seconds = 2;  // the CPU alone takes 1.43 s
    for (const double start : starts)
        for (const double noise : {0.0, 0.05}) {
            const SimulatedRun run = simulate(noisy(machine, noise), ours, start, 200);
            CHECK(run.shares.back() == 0);
            CHECK(run.reversals(20, 200) == 0);
        }
}

TEST_CASE("few strips: measured_speed takes the best of them") {
    for (const int strips : {2, 3, 5, 7, 20})
        for (const double best : {0.2, 0.5, 0.6, 0.87, 0.97})
            for (const double start : starts) {
                CAPTURE(strips, best, start);
                SimulatedMachine machine = machine_with_best(best);
                machine.strips = machine.room = strips;
                const SimulatedRun run = simulate(machine, ours, start, 100);
                CHECK(run.mean_seconds(10, 100) <= 1.1 * machine.step_seconds(machine.best_share()));
                CHECK(run.reversals(10, 100) == 0);
            }
}

TEST_CASE("a border stays within its limits") {
    for (const std::string_view kind : {paper, ours})
        for (const int room : {0, 1, 20, 600})
            for (const double start : starts) {
                CAPTURE(room, start);
                SimulatedMachine machine = noisy({});
                machine.room = room;
                const SimulatedRun run = simulate(machine, kind, start, 100);
                CHECK(*std::max_element(run.shares.begin(), run.shares.end()) <= room / 1000.0);
                if (kind == ours) CHECK(run.shares.back() == room / 1000.0);
                ZoneTimes t = times_at(0.5);
                t.least = 0.4, t.most = 0.51;
                ControllerState state;
                CHECK(next_share(kind, t, state).share == 0.51);
            }
}

TEST_CASE("zones without times, or with absurd ones, move nothing") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    for (const double seconds : {0.0, -1.0, nan, infinite, -infinite, 1e-300, 1e300})
        for (const bool cpu : {true, false}) {
            CAPTURE(seconds, cpu);
            ControllerState state;
            ZoneTimes t = times_at(0.5);
            (cpu ? t.cpu_seconds : t.accelerator_seconds) = seconds;
            CHECK(next_share(ours, t, state).decision == BorderDecision::kept);  // nothing is known yet
            CHECK(relative_speed(state) == 0);
            state = {};
            double share = 0.5;
            for (int check = 0; check < 20; ++check) share = next_share(ours, times_at(share), state).share;
            CHECK(near(share, 0.87, 0.002));
            t = times_at(share);
            (cpu ? t.cpu_seconds : t.accelerator_seconds) = seconds;
            CHECK(next_share(ours, t, state).share == share);
            CHECK(near(relative_speed(state), 0.87 / 0.13, 0.02));
        }
    ControllerState state;
    ZoneTimes t = times_at(0.5);
    t.cpu_load = nan;
    CHECK(next_share(paper, t, state).decision == BorderDecision::kept);
}

TEST_CASE("one measurement that does not fit is left out, whatever the share") {
    for (const double factor : {0.01, 0.3, 3.0, 100.0}) {
        ControllerState state;
        double share = 0.5;
        for (int check = 0; check < 60; ++check) {
            ZoneTimes t = times_at(share);
            if (check % 10 == 9) t.accelerator_seconds *= factor;
            share = next_share(ours, t, state).share;
            if (check > 2) CHECK(near(share, 0.87, 0.002));
        }
    }
}

TEST_CASE("fixed keeps the share, and all kinds find the relative speed") {
    for (const std::string_view kind : {paper, ours, std::string_view("fixed")})
        for (const double share : {0.3, 0.8}) {
            ControllerState state;
            CHECK(relative_speed(state) == 0);
            const BorderStep step = next_share(kind, times_at(share), state);
            CHECK(near(relative_speed(state), 0.87 / 0.13, 1e-6));
            if (kind != "fixed") continue;
            CHECK(step.share == share);
            CHECK(step.decision == BorderDecision::kept);
        }
}

TEST_CASE("a state that no controller made counts as none") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    ControllerState good;
    next_share(ours, times_at(0.5), good);
    const ZoneTimes t = times_at(0.6);
    for (const std::string_view kind : {paper, ours}) {
        ControllerState none;
        const BorderStep first = next_share(kind, t, none);
        const auto counts_as_none = [&](std::vector<double> values) {
            ControllerState state{std::move(values)};
            CHECK(relative_speed(state) == 0);
            CHECK(next_share(kind, t, state).share == first.share);
            CHECK(state == none);
        };
        counts_as_none({});
        counts_as_none({1, 2, 3});
        counts_as_none(std::vector<double>(1000, 0.5));
        std::vector<double> longer = good.values;
        longer.push_back(0);
        counts_as_none(longer);
        longer.pop_back();
        longer.insert(longer.end(), {0.5, 2, 0, 0.5});  // no gain of cpu_load
        counts_as_none(longer);
        for (std::size_t i = 0; i < good.values.size(); ++i)
            for (const double bad : {nan, 1e300, -1e300}) {
                CAPTURE(i, bad);
                std::vector<double> values = good.values;
                values[i] = bad;
                counts_as_none(values);
            }
    }
}

TEST_CASE("what one controller has learnt of the speeds serves another, which begins with its own memory") {
    ControllerState state, fresh;
    for (int check = 0; check < 3; ++check) next_share(paper, times_at(0.5), state);
    CHECK(state.values.size() == RelativeSpeed::numbers + controller(paper).memory.size());
    const double speed = relative_speed(state);
    CHECK(next_share(ours, times_at(0.5), state).share == next_share(ours, times_at(0.5), fresh).share);
    CHECK(near(relative_speed(state), speed, 0.01));
    CHECK(state.values.size() == RelativeSpeed::numbers);
}

TEST_CASE("controllers have names, and only those") {
    CHECK(controller_names() == std::vector<std::string>{"cpu_load", "measured_speed", "fixed"});
    CHECK_THROWS_AS(controller("other"), std::invalid_argument);
    CHECK(controller("fixed").step == nullptr);
}

TEST_CASE("what is remembered can be put aside at any check") {
    ControllerState whole, parts;
    double share = 1;
    for (int check = 0; check < 30; ++check) {
        ZoneTimes t = times_at(share);
        t.accelerator_seconds *= 1 + 0.03 * std::sin(7.0 * check);
        const BorderStep a = next_share(ours, t, whole), b = next_share(ours, t, parts);
        CHECK(a.share == b.share);
        CHECK(whole == parts);
        parts = ControllerState{std::vector<double>(whole.values)};
        share = a.share;
    }
}

TEST_CASE("checks come after 1, 2, 4, ... steps, then at equal distances") {
    const auto due = [](std::int64_t every, std::int64_t last) {
        std::vector<std::int64_t> steps;
        for (std::int64_t step = -2; step <= last; ++step)
            if (check_due(step, every)) steps.push_back(step);
        return steps;
    };
    CHECK(due(10, 30) == std::vector<std::int64_t>{1, 2, 4, 8, 10, 20, 30});
    CHECK(due(8, 24) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 24});
    CHECK(due(1, 3) == std::vector<std::int64_t>{1, 2, 3});
    CHECK(due(100, 300) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64, 100, 200, 300});
    CHECK(due(0, 30).empty());
}

TEST_CASE("where strips have very unequal loads, the border comes to rest, and leaves a useless accelerator nothing") {
    // Vacuum on both sides of a slab, as in a box that is nearly empty.
    std::vector<std::int64_t> strips(160, 1000);
    for (std::size_t s = 120; s < 132; ++s) strips[s] = 400'000;
    const std::int64_t total = std::accumulate(strips.begin(), strips.end(), std::int64_t{0});
    for (const double speed : {0.001, 0.01, 0.05, 0.3, 1.0, 7.0})
        for (const double start : {0.0, 0.0276, 0.0439, 0.5, 1.0}) {
            CAPTURE(speed, start);
            ControllerState state;
            int border = border_at(strips, total, start), late_moves = 0;
            for (int check = 0; check < 100; ++check) {
                const double share = share_at(strips, total, border);
                const BorderStep next = next_share(
                    ours, {share, 0, 1, 400'000.0 / static_cast<double>(total), 1 - share, share / speed, 1}, state);
                if (next.decision == BorderDecision::kept) continue;
                const int there = border_at(strips, total, next.share);
                late_moves += there != border && check >= 50;
                border = there;
            }
            CHECK(late_moves == 0);
            const double share = share_at(strips, total, border), best = speed / (1 + speed);
            if (speed <= 0.01) CHECK(share == 0);
            else CHECK(std::abs(share - best) <= 400'000.0 / static_cast<double>(total));
        }
}
