// SPDX-License-Identifier: MIT
// What balancing does as a run goes on, and how many ranks are wanted: on loads and times that can be followed by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "balance/model/work.hpp"
#include "tools/predict/activity.hpp"
#include "tools/predict/course.hpp"
#include "tools/predict/forecast.hpp"
#include "tools/predict/timeline.hpp"

using namespace predict;

namespace {

// A row of 8 cells; `dear` of them cost ten times as much as the others, one second.
Snapshot row_at(std::int64_t step, std::vector<int> dear) {
    Snapshot s{step,
               {{{8, 1, 1}, {false, false, false}}, std::vector<std::int64_t>(8), std::vector<std::int64_t>(8, 2)},
               std::vector<balance::CellCounts>(8, {2, 6, 10})};
    for (int c = 0; c < 8; ++c) s.field.load[c] = balance::to_ticks(0.1);
    for (const int c : dear) s.field.load[c] = balance::to_ticks(1);
    return s;
}

Rules rules_of(const char* criterion, double move_seconds, balance::BalanceClock clock = balance::BalanceClock::work) {
    Rules rules;
    rules.policy.clock = clock;
    rules.policy.criterion.name = criterion;
    rules.policy.speeds = balance::SpeedSource::given;
    rules.policy.partition.kind = "rcb";
    rules.policy.partition.processes = 2;
    rules.policy.partition.sticky = false;
    rules.policy.counting.work.move = move_seconds;
    rules.migration_seconds = [=](const balance::Partition&) { return move_seconds; };
    return rules;
}

int cells_of_first(const balance::Partition& p) { return p.boxes[0].extent(0); }

Forecast forecast_of(std::int64_t ranks, double seconds) {
    Forecast f;
    f.ranks = ranks;
    f.terms.compute = seconds;
    return f;
}

}  // namespace

TEST_CASE("a run that always migrates follows its loads; one that stays where it is has nothing to move") {
    const std::vector<Snapshot> moving{row_at(0, {0}), row_at(10, {7}), row_at(20, {7})};
    const Course course = follow(moving, 2, rules_of("every", 1));
    REQUIRE(course.stretches.size() == 3);
    CHECK(cells_of_first(course.stretches[0].partition) == 4);  // by particles, of which all cells have 2
    CHECK(cells_of_first(course.stretches[1].partition) == 7);  // the dear one is alone
    CHECK(course.kept == 0);
    CHECK(course.partitioned == 2);
    CHECK(course.migrations == std::vector<std::size_t>{1});  // the last partition is the one before
}

TEST_CASE("with gain a run migrates when it has lost more than a migration costs") {
    // Each step of the second snapshot takes 1.3 s on the slower process, 0.85 s if all were possible, and 1 s with the
    // best partition, of which the run knows from the first balancing on.
    const std::vector<Snapshot> moving{row_at(0, {0}), row_at(10, {7}), row_at(20, {7}), row_at(30, {7})};
    const double lost = 10 * (1.3 - 0.85);
    // 3 cells of 2 particles move, 3 for each of the processes. What was lost before is known, what it costs is found
    // when the partition is made.
    const Course cheap = follow(moving, 2, rules_of("gain", 0.9 * lost / 3));
    CHECK(cheap.migrations == std::vector<std::size_t>{1});
    CHECK(cells_of_first(cheap.stretches[1].partition) == 7);
    CHECK(cheap.kept == 2);  // nothing is lost any more
    const Course dear = follow(moving, 2, rules_of("gain", 2 * lost / 3));
    CHECK(dear.migrations == std::vector<std::size_t>{3});  // by then it has lost 10.5 s
    CHECK(dear.partitioned == 2);                           // at first, when it did not know the costs, and now
    CHECK(dear.kept == 1);
    const Course never = follow(moving, 2, rules_of("gain", 100 * lost));
    CHECK(never.migrations.empty());
    CHECK(cells_of_first(never.stretches.back().partition) == 4);
    CHECK(follow(std::span(moving).first(1), 2, rules_of("gain", 1)).stretches.size() == 1);
}

TEST_CASE("by the wall clock a migration costs what the last one did; before it, nothing is known to be too dear") {
    const std::vector<Snapshot> moving{row_at(0, {0}), row_at(10, {7}), row_at(20, {0}), row_at(30, {0})};
    // With the dear cell back, the slower process takes 1.6 s a step, 6 s more in 10 steps than the best partition.
    const Course run = follow(moving, 2, rules_of("gain", 7, balance::BalanceClock::wall));
    CHECK(run.migrations == std::vector<std::size_t>{1, 3});
    CHECK(run.kept == 1);
    CHECK(run.partitioned == 2);
}

TEST_CASE("ranks get cells by their speeds, unless the run is told to look away from them") {
    std::vector<Snapshot> even{row_at(0, {}), row_at(10, {}), row_at(20, {})};
    Rules rules = rules_of("every", 0);
    rules.speeds = {3, 1};
    CHECK(cells_of_first(follow(even, 2, rules).stretches[0].partition) == 6);
    rules.policy.speeds = balance::SpeedSource::off;
    const Course blind = follow(even, 2, rules);
    CHECK(cells_of_first(blind.stretches[0].partition) == 4);
    CHECK(cells_of_first(blind.stretches[1].partition) > 4);  // the slow rank's cells look dear
}

TEST_CASE("where no partition keeps the limit, a course ends as the run does") {
    const std::vector<Snapshot> moving{row_at(0, {0}), row_at(10, {7})};
    Rules rules = rules_of("every", 1);
    rules.policy.partition.kind = "chain";
    rules.policy.partition.max_size = 7;  // of 16 particles on 2 ranks
    CHECK_THROWS_AS(follow(moving, 2, rules), balance::Infeasible);
}

TEST_CASE("with lengths twice as large a run loses four times as much, in space eight times") {
    std::vector<Snapshot> moving{row_at(0, {0}), row_at(10, {7}), row_at(20, {0}), row_at(30, {0})};
    const auto migrations_in = [&](int dimensions) {
        for (Snapshot& s : moving) s.field.grid.dimensions = dimensions, s.field.length = 2;
        return follow(moving, 2, rules_of("gain", 30, balance::BalanceClock::wall)).migrations;
    };
    // By the third balancing 6 s would be lost at length 1 (above), by the fourth 12 s.
    CHECK(migrations_in(2) == std::vector<std::size_t>{1, 3});
    CHECK(migrations_in(3) == std::vector<std::size_t>{1, 2});
}

TEST_CASE("a run of a problem with longer lengths cuts inside the deck's cells") {
    std::vector<Snapshot> moving{row_at(0, {0}), row_at(10, {7}), row_at(20, {7})};
    for (Snapshot& s : moving) s.field.length = 4;
    Rules rules = rules_of("every", 0);
    rules.parts = 4;
    // Half of the load of 1.7 cells of 4 parts each lies in the last 3.4 of them.
    CHECK(cells_of_first(follow(moving, 2, rules).stretches[2].partition) == 4 * 8 - 3);
    rules.parts = 1;
    CHECK(cells_of_first(follow(moving, 2, rules).stretches[2].partition) == 7);
}

TEST_CASE("while a program works on something, it says so now and then") {
    const auto said = [](std::FILE* to) {
        {
            app::Activity activity(to, std::chrono::milliseconds(20));
            activity.begin("counts sheep");
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
        }
        std::string text;
        std::rewind(to);
        for (int c; (c = std::fgetc(to)) != EOF;) text += char(c);
        std::fclose(to);
        return text;
    };
    const std::string text = said(std::tmpfile());
    CHECK(text.find("steelyard: 0.02 s: counts sheep\nsteelyard: 0.04 s: counts sheep\n") == 0);
    { app::Activity quiet(nullptr), ends_at_once(stderr); }
}

TEST_CASE("a few stretches stand for all steps of a run") {
    struct Case {
        std::size_t stretches;
        std::int64_t last_step, run_steps, every;
        std::vector<std::size_t> taken;
        double of_first;
    };
    for (const Case& c :
         {Case{6, 50, 100, 10, {0, 1, 2, 3, 4, 5}, 0.1},  // the partition made at step 50 has half of the steps
          Case{6, 50, 50, 10, {0, 1, 2, 3, 4}, 0.2},      // it has none
          Case{3, 20, 10'000, 10, {1, 2}, 0.5},           // the first one has next to nothing
          Case{3, 20, 100, 0, {0, 1}, 0.5},               // no balancings
          Case{1, 0, 100, 10, {0}, 1.0},                  // one step was looked at
          Case{2, 3, 8, 10, {0}, 1.0},                    // the run ends before the first balancing
          Case{2, 3, 40, 10, {0, 1}, 0.25},               // fewer steps were looked at than lie before it
          Case{101, 1000, 5000, 10, {6, 16, 26, 36, 46, 56, 66, 76, 86, 96}, 0.1}}) {
        CAPTURE(c.stretches, c.last_step, c.run_steps, c.every);
        const std::vector<StretchShare> shares = shares_of_run(c.stretches, c.last_step, c.run_steps, c.every, 10);
        std::vector<std::size_t> taken;
        double sum = 0;
        for (const StretchShare& s : shares) {
            taken.push_back(s.stretch), sum += s.of_steps;
            CHECK(s.of_steps > 0);
        }
        CHECK(taken == c.taken);
        CHECK(shares.front().of_steps == Approx(c.of_first));
        CHECK(sum == Approx(1));
    }
}

TEST_CASE("between two snapshots cells hold the mean") {
    Snapshot a = row_at(0, {0}), b = row_at(10, {7});
    b.field.items.assign(8, 5);
    const CellField mean = between(a, b);
    CHECK(mean.load[0] == (a.field.load[0] + b.field.load[0]) / 2);
    CHECK(mean.load[0] == mean.load[7]);
    CHECK(mean.items[3] == 4);
}

TEST_CASE("a tree of messages: each round hands on what is there") {
    Machine m;
    m.inside = m.between = {0x1p-10, 0x1p20};
    m.message_seconds = 0x1p-12;
    m.copy_bytes_per_second = 1e300;
    const comm::NodeMap one(1), eight(8), nine(9);
    const double bytes = 1024, round = 0x1p-12 + 0x1p-10 + 1024 * 0x1p-20;
    CHECK(broadcast_seconds(one, m, bytes) == 0);
    CHECK(broadcast_seconds(eight, m, bytes) == Approx(3 * round));
    CHECK(broadcast_seconds(nine, m, bytes) == Approx(4 * round));
    CHECK(gather_seconds(one, m, bytes) == 0);
    // Sizes and bytes; an eighth, a quarter and half of all.
    CHECK(gather_seconds(eight, m, bytes) == Approx(6 * (0x1p-12 + 0x1p-10) + 7.0 / 8 * bytes * 0x1p-20));
}

TEST_CASE("the most ranks with an efficiency, and the fewest that are fast enough") {
    // 1 second of work, and a millisecond for each doubling: 1 / (1 + P log2(P) / 1000).
    int made = 0;
    const auto make = [&](std::int64_t ranks) {
        ++made;
        return forecast_of(ranks, 1.0 / double(ranks) + 1e-3 * std::log2(double(ranks)));
    };
    const auto efficiency = [&](double p) { return 1 / (1 + 1e-3 * p * std::log2(p)); };
    Forecasts forecasts(make, 4096);
    const std::int64_t found = forecasts.most_with_efficiency(0.7);
    CHECK(efficiency(double(found)) >= 0.7);
    CHECK(efficiency(double(found) * 1.04) < 0.7);
    CHECK(made < 20);
    const std::optional<std::int64_t> fewest = forecasts.fewest_within(0.05);
    REQUIRE(fewest);
    CHECK(make(*fewest).terms.seconds() <= 0.05);
    CHECK(make(*fewest - 1).terms.seconds() > 0.05);
    CHECK(forecasts.fewest_within(2) == 1);
    CHECK(!forecasts.fewest_within(1e-3));
    CHECK(Forecasts(make, 5).most_with_efficiency(0.1) == 5);
    CHECK(Forecasts(make, 1).most_with_efficiency(0.9) == 1);
    const std::vector<Forecast> some{make(1), make(2), make(64), make(256)};
    CHECK(most_with_efficiency(some, 0.7).ranks == 64);
    CHECK(most_with_efficiency(some, 0.01).ranks == 256);
    CHECK(most_with_efficiency(some, 0.999).ranks == 1);
}
