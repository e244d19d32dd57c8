// SPDX-License-Identifier: MIT
// The search for slow ones of many processes: among what times it looks, and that it finds what a search among all
// finds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <memory>

#include "speed_world.hpp"
#include "thread_team.hpp"

using namespace test;

namespace {

// 20 x 20 processes of 8 x 8 cells in blocks of 2 x 2, which are elsewhere in each record; cells of a zone cost 1.5
// times as much as they look.
struct Moving {
    static constexpr int side = 20, cells = 8 * side, processes = side * side;
    static constexpr std::array<int, 3> blocks{cells / 2, cells / 2, 1};
    std::vector<double> speed = std::vector<double>(processes, 1.0), known = speed;
    double noise = 0.01;
    bool zone = false;

    std::vector<SpeedRecord> records() const {
        std::mt19937 random(3);
        std::vector<SpeedRecord> records(most_records);
        for (int k = 0; k < static_cast<int>(most_records); ++k)
            for (int p = 0; p < processes; ++p) {
                std::vector<double> share(cells * cells / 4);
                double cost = 0;
                for (int i = 0; i < 64; ++i) {
                    const int x = (p / side * 8 + i / 8 + 5 * k) % cells, y = (p % side * 8 + i % 8 + 3 * k) % cells;
                    cost += (zone && x >= 40 && x < 72 && y < 80 ? 1.5 : 1.0) / 64;
                    share[x / 2 * (cells / 2) + y / 2] += 1.0 / 64;
                }
                for (std::size_t b = 0; b < share.size(); ++b)
                    if (share[b] > 0) records[k].shares.push_back({p, static_cast<std::int32_t>(b), share[b]});
                records[k].excess.push_back(std::log(cost / speed[p]) +
                                            noise * std::normal_distribution<double>()(random));
            }
        return records;
    }
};

// What the searches tell: multiplications, and numbers of the matrix.
struct Told final : Meter {
    void part(RoundPart part, std::int64_t products, std::int64_t entries) const override {
        if (part == RoundPart::search && entries > 0) searches.emplace_back(products, entries);
    }
    mutable std::vector<std::pair<std::int64_t, std::int64_t>> searches;
};

struct Search {
    explicit Search(const Moving& m) : Search(m.records(), m.known) {}
    Search(const std::vector<SpeedRecord>& records, const std::vector<double>& known)
        : fitted(involved(left_of_all(records, known), records, known, Moving::blocks)),
          part(static_cast<double>(std::ranges::count(fitted, true)) / static_cast<double>(fitted.size())),
          found(separate(records, known, fitted, Moving::blocks, told)),
          found_by_all(separate(records, known, std::vector<bool>(fitted.size(), true), Moving::blocks, told)) {}
    double beside_all() const {
        double most = 0;
        for (std::size_t p = 0; p < found.size(); ++p) most = std::max(most, std::abs(found[p] / found_by_all[p] - 1));
        return most;
    }
    Told told;
    std::vector<bool> fitted;
    double part;  // of all times
    std::vector<double> found, found_by_all;
};

}  // namespace

TEST_CASE("a search among the times that matter finds what one among all times finds") {
    const auto check = [](const Moving& world, double most_of_all) {
        const Search search(world);
        CAPTURE(search.part, search.found, search.beside_all());
        CHECK(search.part < most_of_all);
        CHECK(search.beside_all() < 0.02);
        for (int p = 0; p < Moving::processes; ++p) {
            if (world.speed[p] == 1) CHECK(search.found[p] == 1);
            else CHECK(std::abs(search.found[p] / world.speed[p] - 1) < 0.03);
        }
    };
    Moving few;
    few.speed[5] = few.speed[210] = 0.5;
    check(few, 0.1);
    Moving zone;
    zone.zone = true;
    check(zone, 0.4);
    Moving both = zone;
    for (int p = 5; p < Moving::processes; p += 10) both.speed[p] = 0.5;
    check(both, 1);
    Moving changed;  // what is known of one is no longer true, of the others it is
    for (int p = 5; p < Moving::processes; p += 10) changed.speed[p] = changed.known[p] = 0.5;
    changed.speed[105] = 1;
    check(changed, 0.2);
}

TEST_CASE("few times are fitted by an elimination, many step by step where that takes longer") {
    Moving few;
    few.speed[5] = few.speed[210] = 0.5;
    const Search search(few);
    REQUIRE(search.told.searches.size() == 2);
    // Sixty steps in each of three rounds multiply some hundred times for each number of the matrix.
    const auto [eliminating, entries] = search.told.searches[0];
    const auto [stepping, of_all] = search.told.searches[1];
    CAPTURE(entries, of_all, eliminating, stepping);
    CHECK(eliminating > 0);
    CHECK(eliminating < 100 * entries);
    CHECK(stepping > 100 * of_all);
    CHECK(stepping < 400 * of_all);
}

TEST_CASE("the times that matter are those of suspects, of known speeds, and what lies where something shows") {
    Moving world;
    world.noise = 0;
    world.speed[210] = 0.5;
    world.speed[30] = world.known[30] = 0.5;
    std::vector<SpeedRecord> records = world.records();
    records[0].excess[210] = 0;  // there it was not slow yet
    const Search search(records, world.known);
    const auto has = [&](int k, int p) { return bool(search.fitted[k * Moving::processes + p]); };
    const auto squares_of = [&](int k, int p) {
        std::vector<std::int32_t> squares;
        for (const BlockShare& s : records[k].shares)
            if (s.process == p) squares.push_back(s.block / 80 / 2 * 80 + s.block % 80 / 2);
        return squares;
    };
    std::vector<std::int32_t> where;
    for (int k = 1; k < 6; ++k) std::ranges::copy(squares_of(k, 210), std::back_inserter(where));
    for (int k = 0; k < 6; ++k)
        for (int p = 0; p < Moving::processes; ++p) {
            const std::vector<std::int32_t> here = squares_of(k, p);
            const bool near = std::ranges::find_first_of(here, where) != here.end();
            if (has(k, p) != (p == 210 || p == 30 || near)) FAIL("process " << p << " in record " << k);
        }
    const std::vector<std::uint32_t> processes = processes_in(search.fitted, Moving::processes);
    CHECK(std::ranges::is_sorted(processes));
    for (std::uint32_t p = 0; p < Moving::processes; ++p)
        CHECK(std::ranges::count(processes, p) ==
              (has(0, p) || has(1, p) || has(2, p) || has(3, p) || has(4, p) || has(5, p)));
    for (SpeedRecord& r : records) r.shares.clear(), r.excess.resize(99);
    CHECK(std::ranges::count(involved(std::vector<double>(99), records, std::vector<double>(99, 1.0), Moving::blocks),
                             true) == 6 * 99);
}

TEST_CASE("of many processes the search is told to look at few, of few at all") {
    struct Metered : Speeds, Meter {
        explicit Metered(const World& w) : Speeds(w.processes, {}) {}
        void learn(const Team& team, const Grid& grid, const ProcessCells& cells, std::span<const CellCounts> counts,
                   std::span<const double> times) {
            Speeds::learn(team, grid, cells, counts, times, *this);
        }
        // A search begins, and then tells how many numbers its matrix has.
        void part(RoundPart part, std::int64_t, std::int64_t cells) const override {
            if (part == RoundPart::search && cells > 0) entries->push_back(cells);
        }
        std::shared_ptr<std::vector<std::int64_t>> entries = std::make_shared<std::vector<std::int64_t>>();
    };
    for (const std::int64_t processes : {40, 400}) {
        World w = equal_speeds(processes);
        w.speed[7] = 0.5;
        w.balancings = 4;
        w.slow_from = 1;  // the first search has two records, whose times are different throughout
        w.pace = 0.04;
        const Metered speeds(w);
        CAPTURE(processes, *speeds.entries);
        CHECK(largest_error(w, simulate(SerialTeam(), w, speeds).relative) < 0.03);
        REQUIRE_FALSE(speeds.entries->empty());
        const std::int64_t of_each = speeds.entries->front() / processes;  // of its blocks, and of squares of them
        if (processes < 100) CHECK(of_each > 40);
        else CHECK(of_each < 5);
    }
}

TEST_CASE("slow ones of hundreds of processes are found, beside dear cells and noise") {
    World w = some_slow(400);
    w.surcharge = 1.3;
    w.noise = 0.01;
    const Outcome outcome = simulate(SerialTeam(), w);
    CAPTURE(outcome.efficiency);
    CHECK(largest_error(w, outcome.relative) < 0.1);
    CHECK(outcome.efficiency.back() > 0.85);
}

TEST_CASE("cells that cost twice as much as they look make few of hundreds of processes slow") {
    // What the search does not look at shows how little noise there is.
    World w = equal_speeds(400);
    w.surcharge = 2;
    w.noise = 0.01;
    std::ptrdiff_t wrong = 0;
    for (w.seed = 0; w.seed < 2; ++w.seed) {
        const Outcome outcome = simulate(SerialTeam(), w);
        wrong += std::ranges::count_if(outcome.relative, [](double s) { return std::abs(s - 1) > 0.02; });
    }
    CHECK(wrong <= 12);  // 44 by the noise of those alone that it looks at
}

TEST_CASE("thousands of processes are looked at by several members, each for a part of them") {
    World w = equal_speeds(5000);
    for (std::size_t p = 40; p < w.speed.size(); p += 100) w.speed[p] = 0.5;
    w.noise = 0.01;
    w.balancings = 8;
    const Outcome alone = simulate(SerialTeam(), w);
    CAPTURE(alone.efficiency);
    CHECK(largest_error(w, alone.relative) < 0.05);
    CHECK(alone.efficiency.front() < 0.6);
    CHECK(alone.efficiency.back() > 0.88);
    struct Counted : Speeds, Meter {
        explicit Counted(const World& w) : Speeds(w.processes, {}) {}
        void learn(const Team& team, const Grid& grid, const ProcessCells& cells, std::span<const CellCounts> counts,
                   std::span<const double> times) {
            Speeds::learn(team, grid, cells, counts, times, *this);
        }
        void part(RoundPart part, std::int64_t, std::int64_t) const override { *searches += part == RoundPart::search; }
        std::shared_ptr<int> searches = std::make_shared<int>(0);
    };
    for (const int members : {2, 3}) {
        const auto all = ThreadTeam::run(members, [&](const Team& team) {
            const Counted speeds(w);
            return std::pair(simulate(team, w, speeds), *speeds.searches);
        });
        CHECK(all[0].first == alone);
        for (const auto& [outcome, searches] : all) CHECK(outcome.relative == alone.relative);
        CHECK(std::ranges::count_if(all, [](const auto& told) { return told.second > 0; }) == 2);
    }
    // Speeds beside the median of all, also where most are fitted.
    for (std::size_t p = 0; p < w.speed.size(); ++p) w.speed[p] = 0.7 + 0.6 * static_cast<double>(p * 17 % 40) / 40;
    w.balancings = 2;
    CHECK(ThreadTeam::run(2, [&](const Team& team) { return simulate(team, w); })[1].relative ==
          simulate(SerialTeam(), w).relative);
}
