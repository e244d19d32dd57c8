// SPDX-License-Identifier: MIT
// Speeds found from times, in a world that only the test knows (speed_world.hpp).
#include <algorithm>
#include <catch2/catch.hpp>
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

TEST_CASE("cells that are dearer than they look are not taken for slow processes") {
    World w;
    w.balancings = 20;
    for (const double surcharge : {1.3, 2.0})
        for (w.seed = 0; w.seed < 3; ++w.seed) {
            w.surcharge = surcharge;
            const Outcome outcome = simulate(SerialTeam(), w);
            CAPTURE(surcharge, w.seed, outcome.relative, outcome.efficiency);
            CHECK(largest_error(w, outcome.relative) < 0.03);
            CHECK(outcome.efficiency.back() > (surcharge < 2 ? 0.95 : 0.88));
        }
}

TEST_CASE("what follows from known speeds is what follows from the list of all of them, whichever differ") {
    std::mt19937_64 random(3);
    for (int c = 0; c < 60; ++c) {
        const std::size_t processes = 1 + random() % 300;
        std::vector<double> given(processes, c % 3 == 2 ? 0.7 : 1.0);
        for (std::size_t n = c % 4 == 0 ? 0 : random() % (c % 5 == 0 ? 600 : 5); n > 0; --n)
            given[random() % processes] = 0.1 + 0.001 * static_cast<double>(random() % 3000);
        Speeds speeds(static_cast<std::int64_t>(processes), {});
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
    Speeds speeds(4, {});
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
        Speeds speeds(static_cast<std::int64_t>(processes), {});
        speeds.set(given);
        return speeds.bytes();
    };
    CHECK(bytes(1'000'000) == bytes(10));
}

TEST_CASE("equal speeds stay exactly equal") {
    World w;
    w.noise = 0.01;
    CHECK(simulate(SerialTeam(), w).relative == std::vector<double>(40, 1.0));
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
    for (const std::int64_t processes : {40, 120}) {  // of the many the search looks at some
        World w = some_slow(processes);
        w.balancings = 5;
        w.noise = 0.01;
        w.slow_from = 2;  // the first looks find nothing
        const Outcome alone = simulate(SerialTeam(), w);
        CHECK(std::ranges::count(alone.relative, alone.relative.front()) < processes);
        for (const int members : test::teams({2, 3, 50})) {  // of more members than processes the first one hosts none
            const std::vector<Outcome> all =
                ThreadTeam::run(members, [&](const Team& team) { return simulate(team, w); });
            CHECK(all[0] == alone);
            for (const Outcome& o : all) CHECK(o.relative == alone.relative);
        }
    }
}

TEST_CASE("blocks of a checkpoint that the grid does not have tell nothing") {
    World w = some_slow();
    w.balancings = 2;
    const SerialTeam team;
    std::vector<double> memory = simulate(team, w).memory;
    const std::size_t before_parts = Prior::count + 1 + 40 * (1 + features), part = 4 + features - 1;
    const auto parts = static_cast<std::size_t>(memory[before_parts]);
    for (std::size_t i = 0; i < parts; ++i)
        for (const std::size_t place : {1, 2}) memory[before_parts + 1 + i * part + place] = 1 << 29;
    Speeds speeds(w.processes, {});
    REQUIRE(speeds.restore({0, 40}, std::vector<double>(40, 1.0), memory));
    const Outcome outcome = simulate(team, w, speeds);
    CHECK(outcome.efficiency.size() == 2);
    CHECK(std::ranges::all_of(outcome.relative, [](double s) { return s > 0.1 && s < 10; }));
}

TEST_CASE("searches that find nothing are made more and more seldom") {
    // How many balancings are let pass before the next search.
    const auto passed = [](Patience& patience, double left) {
        int n = 0;
        while (!patience.over(left)) ++n;
        return n;
    };
    Patience patience(400);
    CHECK(passed(patience, 1) == 0);
    for (const int expected : {1, 2, 4, 8, 8}) {
        patience.tell(1, true);
        CHECK(passed(patience, 1.9) == expected);
    }
    patience.tell(1, true);
    CHECK(passed(patience, 2.1) == 0);  // there is more to explain
    Patience again(400);
    again.set_numbers(patience.numbers());
    CHECK(passed(again, 1) == passed(patience, 1));
    patience.tell(1, false);
    CHECK(passed(patience, 1) == 0);
    CHECK(patience.numbers() == std::array<double, 3>{});
    Patience few(40);
    few.tell(1, true);
    CHECK(passed(few, 1) == 0);
}

TEST_CASE("a checkpoint keeps what is waited for, and one without that loads") {
    // A region is dearer than it looks: there is something to explain, and no process is slow.
    World w;
    w.processes = 120;
    w.speed.assign(120, 1.0);
    w.surcharge = 1.1;
    w.balancings = 3;
    const SerialTeam team;
    const Outcome outcome = simulate(team, w);
    const std::span<const double> memory(outcome.memory);
    REQUIRE(memory[memory.size() - 3] > 0);  // it waits
    Speeds speeds(w.processes, {});
    const Range all{0, w.processes};
    REQUIRE(speeds.restore(all, outcome.relative, memory));
    CHECK(speeds.memory(team) == outcome.memory);
    REQUIRE(speeds.restore(all, outcome.relative, memory.first(memory.size() - Patience::count)));
    CHECK(speeds.memory(team).size() == memory.size() - Patience::count);
    CHECK_FALSE(speeds.restore(all, outcome.relative, memory.first(memory.size() - 1)));
}

// Finds speeds with nothing but what a checkpoint keeps.
class Restarting {
public:
    explicit Restarting(std::int64_t processes) : processes_(processes), speeds_(processes, {}) {}
    void learn(const Team& team, const Grid& grid, const ProcessCells& cells, std::span<const CellCounts> counts,
               std::span<const double> times) {
        Speeds next(processes_, {});
        const std::vector<double> memory = speeds_.memory(team);
        const std::vector<double> all = all_gather<double>(team, memory);  // as from a file
        if (!next.restore(cells.hosted(), speeds_.found(), std::span<const double>(all)))
            throw std::logic_error("what was saved is refused");  // no assertion: there are threads
        speeds_ = std::move(next);
        speeds_.learn(team, grid, cells, counts, times);
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

TEST_CASE("what is kept of earlier records is what a restart computes anew") {
    for (const double surcharge : {1.0, 1.3}) {  // speeds change; costs are fitted anew as well
        World w = some_slow(120);
        w.surcharge = surcharge;
        w.noise = 0.01;
        w.balancings = 9;
        w.change_at = 6;
        const Outcome without = simulate(SerialTeam(), w);
        CHECK(without == simulate(SerialTeam(), w, Restarting(w.processes)));
        CHECK(without ==
              ThreadTeam::run(3, [&](const Team& team) { return simulate(team, w, Restarting(w.processes)); })[0]);
        // Once their speeds are known, what is usual is something else.
        for (std::size_t p = 0; p < w.speed.size(); ++p) w.speed[p] = 0.7 + 0.6 * static_cast<double>(p * 17 % 40) / 40;
        CHECK(simulate(SerialTeam(), w) == simulate(SerialTeam(), w, Restarting(w.processes)));
    }
}

TEST_CASE("noise alone needs no search, a slow process and a slow half do") {
    std::mt19937 random(5);
    const auto explained = [](const auto& records, const auto& known) {
        return std::ranges::max(left_of_all(records, known)) == 0;
    };
    const auto records_of = [&](int processes, int balancings, double noise, auto slowness) {
        std::normal_distribution<double> normal(0, noise);
        std::vector<SpeedRecord> records(balancings);
        for (SpeedRecord& r : records)
            for (int p = 0; p < processes; ++p) r.excess.push_back(normal(random) + slowness(p));
        return records;
    };
    const auto alike = [](int) { return 0.0; };
    const std::vector<double> many(400, 1.0), few(4, 1.0);
    for (const double noise : {0.001, 0.01, 0.03})
        for (const int balancings : {1, 6}) CHECK(explained(records_of(400, balancings, noise, alike), many));
    for (const double noise : {0.001, 0.01}) {
        CHECK_FALSE(explained(records_of(400, 6, noise, [](int p) { return p == 7 ? 0.08 : 0.0; }), many));
        CHECK_FALSE(explained(records_of(400, 6, noise, [](int p) { return p < 200 ? 0.5 : 0.0; }), many));
        CHECK_FALSE(explained(records_of(400, 1, noise, [](int p) { return p == 7 ? 0.2 : 0.0; }), many));
    }
    const auto apart = [](int p) { return p % 2 ? 0.03 : -0.03; };
    CHECK_FALSE(explained(records_of(4, 1, 1e-6, apart), few));  // so few do not show their noise
    CHECK(explained(records_of(400, 1, 1e-6, apart), many));
    std::vector<double> known = many;
    known[7] = std::exp(-0.2);
    CHECK(explained(records_of(400, 6, 0.01, [](int p) { return p == 7 ? 0.2 : 0.0; }), known));
    CHECK_FALSE(explained(records_of(400, 6, 0.01, alike), known));  // it is slow no longer
}
