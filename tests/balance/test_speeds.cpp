// SPDX-License-Identifier: MIT
// Speeds found by a reference, in a world that only the test knows (speed_world.hpp).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "sanitized.hpp"
#include "speed_world.hpp"
#include "thread_team.hpp"

using namespace test;

TEST_CASE("slow processes are found, with and without noise") {
    World w = some_slow();
    for (const double noise : {0.0, 0.01}) {
        w.noise = noise;
        const Outcome outcome = simulate(SerialTeam(), w);
        CAPTURE(noise, outcome.efficiency);
        CHECK(largest_error(w, outcome.relative) < 0.03);
        CHECK(outcome.efficiency.front() < 0.6);
        CHECK(outcome.efficiency.back() > 0.93);
    }
}

TEST_CASE("where all processes differ, the balance profits") {
    World w;
    for (std::size_t p = 0; p < w.speed.size(); ++p) w.speed[p] = 0.7 + 0.6 * static_cast<double>(p * 17 % 40) / 40;
    const Outcome with = simulate(SerialTeam(), w);
    w.use = false;
    const Outcome without = simulate(SerialTeam(), w);
    const auto later = [](const Outcome& o) {  // the first balancings are the same search in the dark for both
        return std::accumulate(o.efficiency.begin() + 4, o.efficiency.end(), 0.0) / 8;
    };
    CAPTURE(with.efficiency, without.efficiency);
    CHECK(later(with) > 0.93);
    CHECK(later(without) < 0.87);
}

TEST_CASE("slow neighbours are found") {
    World w;
    std::fill_n(w.speed.begin() + 10, 6, 0.7);
    const Outcome outcome = simulate(SerialTeam(), w);
    CAPTURE(outcome.relative, outcome.efficiency);
    CHECK(largest_error(w, outcome.relative) < 0.06);
}

TEST_CASE("cells that are dearer than they look are never taken for slow processes") {
    World w;
    w.noise = 0.01;
    for (const double surcharge : {1.3, 2.0}) {
        w.surcharge = surcharge;
        const Outcome outcome = simulate(SerialTeam(), w);
        CAPTURE(surcharge, outcome.efficiency);
        CHECK(outcome.relative == std::vector<double>(40, 1.0));
        CHECK(outcome.efficiency.back() > (surcharge < 2 ? 0.94 : 0.88));
    }
}

TEST_CASE("what follows from known speeds is what follows from the list of all of them, whichever differ") {
    std::mt19937_64 random(3);
    for (int c = 0; c < 60; ++c) {
        const std::size_t processes = 1 + random() % 300;
        std::vector<double> given(processes, c % 3 == 2 ? 0.7 : 1.0);
        for (std::size_t n = c % 4 == 0 ? 0 : random() % (c % 5 == 0 ? 600 : 5); n > 0; --n)
            given[random() % processes] = 0.1 + 0.001 * static_cast<double>(random() % 3000);
        Speeds speeds(static_cast<std::int64_t>(processes));
        speeds.set(given);
        const double mean = std::accumulate(given.begin(), given.end(), 0.0) / static_cast<double>(processes);
        std::vector<double> relative;
        std::vector<std::int64_t> targets;
        for (const double s : given) {
            relative.push_back(s / mean);
            targets.push_back(std::llround(s / mean * (1 << 20)));
        }
        const bool alike = std::ranges::all_of(given, [&](double s) { return s == given[0]; });
        REQUIRE(speeds.found() == given);
        REQUIRE(speeds.relative() == relative);
        REQUIRE(speeds.capacity() == std::accumulate(relative.begin(), relative.end(), 0.0));
        REQUIRE(speeds.fastest() == std::ranges::max(relative));
        REQUIRE(speeds.at_mean_speed(given) == [&] {
            std::vector<double> work = given;
            for (std::size_t p = 0; p < processes; ++p) work[p] *= relative[p];
            return work;
        }());
        REQUIRE(speeds.targets().equal() == alike);
        REQUIRE(speeds.targets().each() == (alike ? std::vector<std::int64_t>() : targets));
    }
}

TEST_CASE("speeds that are set anew leave nothing of those before") {
    Speeds speeds(4);
    const std::vector<std::vector<double>> given{
        {1, 0.5, 1, 1}, {1, 1, 1, 1}, {2, 2, 2, 2}, {2, 2, 2, 3}, {1, 2, 3, 4}};
    for (const std::vector<double>& g : given) {
        speeds.set(g);
        CHECK(speeds.found() == g);
        CHECK(speeds.targets().equal() == (g[0] == g[1] && g[0] == g[3]));
    }
    CHECK_THROWS_AS(speeds.set(std::vector<double>(3, 1.0)), std::invalid_argument);
}

TEST_CASE("a few slow ones of very many processes take no more memory than of few") {
    const auto bytes = [](std::size_t processes) {
        std::vector<double> given(processes, 2.4);
        given[3] = 0.5, given[processes - 2] = 0.7;
        Speeds speeds(static_cast<std::int64_t>(processes));
        speeds.set(given);
        return speeds.bytes();
    };
    CHECK(bytes(1'000'000) == bytes(10));
}

TEST_CASE("equal speeds stay exactly equal") {
    for (const std::int64_t processes : {2, 3, 40, 400}) {
        World w = equal_speeds(processes);
        for (const double noise : {0.0, 0.01, 0.05}) {
            w.noise = noise;
            CAPTURE(processes, noise);
            CHECK(simulate(SerialTeam(), w).relative == std::vector<double>(processes, 1.0));
        }
    }
}

TEST_CASE("among thousands of equal processes none is told apart by chance, once the noise is known") {
    constexpr std::int64_t processes = 2400;
    for (unsigned seed = 0; seed < 5; ++seed) {
        std::mt19937 random(seed);
        std::normal_distribution<double> error(0.0, 0.05);
        Speeds speeds(processes);
        for (int k = 0; k < 12; ++k) {
            std::vector<double> reference;
            for (std::int64_t p = 0; p < processes; ++p) reference.push_back(1 + error(random));
            speeds.learn(SerialTeam(), {0, processes}, reference);
            CAPTURE(seed, k);
            if (k > 0) CHECK(speeds.relative() == std::vector<double>(processes, 1.0));
        }
    }
}

TEST_CASE("the slower one of two or three is found at once, and a change as well") {
    for (const std::int64_t processes : {2, 3}) {
        World w = equal_speeds(processes);
        w.speed[1] = 0.5;
        w.noise = 0.01;
        w.balancings = 1;
        CHECK(largest_error(w, simulate(SerialTeam(), w).relative) < 0.03);
        w.slow_from = 1;  // so early hardly anything is known of the noise
        w.balancings = 2;
        CHECK(largest_error(w, simulate(SerialTeam(), w).relative) < 0.03);
        w.slow_from = 0;
        w.change_at = 8;
        w.balancings = 9;
        CHECK(simulate(SerialTeam(), w).relative == std::vector<double>(processes, 1.0));
    }
}

TEST_CASE("a mean counts from the first measurement of a speed on, and is exactly 1 where it could be") {
    constexpr double noise = 0.01;
    SpeedTrack track;
    CHECK(track.speed(noise) == 1);
    CHECK(std::isnan(track.deviation(0.5)));
    track.add(std::log(0.5), noise);
    CHECK(track.speed(noise) == Approx(0.5));
    track.add(std::log(0.51), noise);
    CHECK(track.speed(noise) == Approx(std::sqrt(0.5 * 0.51)));
    track.add(std::log(0.8), noise);
    CHECK(track.speed(noise) == Approx(0.8));
    SpeedTrack near;
    near.add(-3.4 * noise, noise);
    CHECK(near.speed(noise) == 1);
    near.add(-3.4 * noise, noise);
    CHECK(near.speed(noise) == Approx(std::exp(-3.4 * noise)));
    near = SpeedTrack();
    for (int i = 0; i < 8; ++i) near.add(-0.009, 0.002);
    CHECK(near.speed(0.002) == 1);
    for (int i = 0; i < 20; ++i) track.add(std::log(0.99 + 0.002 * (i % 2)), noise);
    CHECK(track.speed(noise) == 1);
    for (const double far : {-20., 20.}) {
        SpeedTrack limited;
        limited.add(far, noise);
        CHECK(limited.speed(noise) == (far < 0 ? slowest_speed : fastest_speed));
    }
}

TEST_CASE("a mean forgets, and follows a drift that no measurement shows") {
    SpeedTrack track;
    double log_speed = 0;
    for (int i = 0; i < 200; ++i) track.add(log_speed -= 0.002, 0.01);
    CHECK(track.speed(0.01) == Approx(std::exp(log_speed)).epsilon(0.02));
    SpeedTrack step;  // by less than a change
    for (int i = 0; i < 30; ++i) step.add(-0.1, 0.01);
    for (int i = 0; i < 16; ++i) step.add(-0.13, 0.01);
    CHECK(std::log(step.speed(0.01)) == Approx(-0.13 + 0.03 * std::pow(7.0 / 8, 16)));
}

TEST_CASE("where another speed becomes the usual one, all are known at once") {
    Speeds speeds(40);
    std::vector<double> reference(40, 1e-5);
    for (std::size_t p = 0; p < 18; ++p) reference[p] = 2e-5;
    for (int i = 0; i < 4; ++i) speeds.learn(SerialTeam(), {0, 40}, reference);
    CHECK(speeds.relative()[0] / speeds.relative()[39] == Approx(0.5));
    for (std::size_t p = 18; p < 22; ++p) reference[p] = 2e-5;
    speeds.learn(SerialTeam(), {0, 40}, reference);
    for (const std::size_t p : {0, 17, 18, 21}) CHECK(speeds.relative()[p] / speeds.relative()[39] == Approx(0.5));
    CHECK(speeds.relative()[22] == speeds.relative()[39]);
    CHECK_THROWS_AS(speeds.learn(SerialTeam(), {0, 40}, std::vector<double>(39, 1.0)), std::invalid_argument);
}

TEST_CASE("a process without a measurement keeps its speed") {
    Speeds speeds(40);
    std::vector<double> reference(40, 1e-5);
    reference[7] = 2e-5;
    for (int i = 0; i < 3; ++i) speeds.learn(SerialTeam(), {0, 40}, reference);
    const std::vector<double> found = speeds.found();
    CHECK(found[7] == Approx(0.5));
    for (const double nothing : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        reference[7] = nothing;
        speeds.learn(SerialTeam(), {0, 40}, reference);
        CHECK(speeds.found() == found);
    }
    speeds.learn(SerialTeam(), {0, 40}, std::vector<double>(40, 0.0));
    CHECK(speeds.found() == found);
}

TEST_CASE("where all processes get slower together, the slow ones are those of before") {
    World w = some_slow();
    w.pace = 0.2;
    const Outcome outcome = simulate(SerialTeam(), w);
    CAPTURE(outcome.relative, outcome.efficiency);
    CHECK(largest_error(w, outcome.relative) < 0.03);
    CHECK(outcome.efficiency.back() > 0.93);
    World equal;
    equal.pace = 0.2;
    CHECK(simulate(SerialTeam(), equal).relative == std::vector<double>(40, 1.0));
}

TEST_CASE("a change of speeds is followed") {
    World w = some_slow();
    w.change_at = 8;
    w.balancings = 18;
    const Outcome outcome = simulate(SerialTeam(), w);
    CAPTURE(outcome.efficiency);
    CHECK(largest_error(World{}, outcome.relative) < 0.03);
}

TEST_CASE("speeds do not depend on the number of members") {
    for (const std::int64_t processes : {40, 120, 5000}) {  // of the very many a sample tells what is usual
        World w = some_slow(processes);
        w.balancings = processes > 1000 ? 3 : 5;
        w.noise = 0.01;
        w.slow_from = 1;
        const Outcome alone = simulate(SerialTeam(), w);
        CAPTURE(processes);
        CHECK(largest_error(w, alone.relative) < 0.05);
        for (const int members : test::teams({2, 3, 50})) {  // of more members than processes the first one hosts none
            if (processes > 1000 && members > 3) continue;
            const std::vector<Outcome> all =
                ThreadTeam::run(members, [&](const Team& team) { return simulate(team, w); });
            CHECK(all[0] == alone);
            for (const Outcome& o : all) CHECK(o.relative == alone.relative);
        }
    }
}

// Finds speeds with nothing but what a checkpoint keeps.
class Restarting {
public:
    explicit Restarting(std::int64_t processes) : processes_(processes), speeds_(processes) {}
    void learn(const Team& team, const IndexRange& hosted, std::span<const double> reference) {
        Speeds next(processes_);
        const std::vector<double> memory = speeds_.memory(team);
        const std::vector<double> all = all_gather<double>(team, memory);  // as from a file
        if (!next.restore(hosted, speeds_.found(), std::span<const double>(all)))
            throw std::logic_error("what was saved is refused");  // no assertion: there are threads
        speeds_ = std::move(next);
        speeds_.learn(team, hosted, reference);
    }
    std::vector<double> relative() const { return speeds_.relative(); }
    PartTargets targets() const { return speeds_.targets(); }
    std::vector<double> at_mean_speed(std::span<const double> times, std::int64_t first) const {
        return speeds_.at_mean_speed(times, first);
    }
    std::vector<double> memory(const Team& team) const { return speeds_.memory(team); }

private:
    std::int64_t processes_;
    Speeds speeds_;
};

TEST_CASE("a restart goes on as if there had been none") {
    for (const std::int64_t processes : {2, 120}) {
        World w = some_slow(processes);
        w.speed[1] = 0.7;
        w.noise = 0.01;
        w.balancings = 9;
        w.change_at = 6;
        const Outcome without = simulate(SerialTeam(), w);
        CHECK(without == simulate(SerialTeam(), w, Restarting(w.processes)));
        CHECK(without ==
              ThreadTeam::run(3, [&](const Team& team) { return simulate(team, w, Restarting(w.processes)); })[0]);
    }
}

TEST_CASE("what no run can have saved is refused, and speeds alone are taken for a first measurement") {
    World w = some_slow();
    w.balancings = 4;
    w.noise = 0.01;
    const Outcome outcome = simulate(SerialTeam(), w);
    const std::vector<double>& memory = outcome.memory;
    const IndexRange all{0, w.processes};
    const std::vector<double> found(40, 1.0);
    const auto accepts = [&](std::span<const double> f, std::span<const double> m) {
        Speeds speeds(w.processes);
        const bool good = speeds.restore(all, f, m);
        if (!good) CHECK(speeds.memory(SerialTeam()) == Speeds(w.processes).memory(SerialTeam()));
        return good;
    };
    REQUIRE(memory.size() == 1 + 39 + 40 * SpeedTrack::count);
    CHECK(accepts(found, memory));
    CHECK_FALSE(accepts(found, {}));
    CHECK(accepts(found, Speeds(w.processes).memory(SerialTeam())));
    CHECK_FALSE(accepts(found, std::span(memory).first(memory.size() - 1)));
    CHECK_FALSE(accepts(found, std::span(memory).first(memory.size() - 40)));
    CHECK_FALSE(accepts(std::vector<double>(39, 1.0), memory));
    for (const double wrong : {0.0, -1.0, 1e7, std::nan("")}) {
        std::vector<double> f = found;
        f[3] = wrong;
        CHECK_FALSE(accepts(f, memory));
    }
    for (const auto& [place, wrong] : {std::pair<std::size_t, double>{0, 38},
                                       {0, 40},
                                       {0, std::nan("")},
                                       {1, -1},
                                       {1, std::nan("")},
                                       {40, 2000},
                                       {40, std::nan("")},
                                       {41, -1},
                                       {41, 1.5},
                                       {41, 1000},
                                       {41, std::nan("")}}) {
        std::vector<double> m = memory;
        m[place] = wrong;
        CAPTURE(place, wrong);
        CHECK_FALSE(accepts(found, m));
    }
    Speeds speeds(w.processes);
    std::vector<double> slow = found;
    slow[5] = 0.5;
    REQUIRE(speeds.restore(all, slow, std::nullopt));
    CHECK(speeds.found() == slow);
    std::vector<double> reference(40, 1e-5);
    reference[5] = 2e-5;
    speeds.learn(SerialTeam(), all, reference);
    CHECK(speeds.found()[5] == Approx(0.5));
}
