// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <vector>

#include "balance/worth.hpp"

using namespace balance;

namespace {

// Of processes that one member hosts. speeds, even: empty: 1, 0.
WorthTotals of_all(const std::vector<double>& seconds, const std::vector<double>& speeds = {},
                   const std::vector<double>& even = {}) {
    std::vector<ProcessTimes> hosted;
    for (std::size_t p = 0; p < seconds.size(); ++p)
        hosted.push_back({seconds[p], speeds.empty() ? 1 : speeds[p], even.empty() ? 0 : even[p]});
    const std::vector<OverAll> over = over_all(SerialTeam(), std::ssize(seconds), WorthTotals::lists_of(hosted));
    return WorthTotals::from(over);
}

}  // namespace

TEST_CASE("the shape of a load: even partition and dearest cell, against a mean process") {
    const SerialTeam team;
    const std::vector<std::int64_t> load{8, 1, 1, 2, 0, 1, 2, 1};
    const std::vector<double> even{12, 4}, seconds{1, 1};
    const LoadPeaks shape = peaks_of(of_all(seconds, {}, even), 8);
    CHECK(shape.even == 12.0 / 8);
    CHECK(shape.dearest == 8.0 / 8);
    // A mean process of speeds 1 and 3 takes 16 / 4; the first one 12 / 1, and the second one could have the dear cell.
    const LoadPeaks unequal = peaks_of(of_all(seconds, {1, 3}, even), 8);
    CHECK(unequal.even == 12.0 / 4);
    CHECK(unequal.dearest == Approx(8.0 / 3 / 4));
    CHECK(peaks_of(of_all(seconds), 0).even == 1);
    CHECK(heaviest_cell_share(team, load, 2, 1) == shape.dearest);
    CHECK(heaviest_cell_share(team, load, 1 + 3, 3) == Approx(unequal.dearest));
    CHECK(heaviest_cell_share(team, std::vector<std::int64_t>(8, 0), 1 + 3, 3) == 0);
}

TEST_CASE("a run adds up, step by step") {
    WorthSums w;
    add(w, 10, of_all({1, 3}), {1.5, 0.5});  // mean 2
    add(w, 5, of_all({2, 2}), {1.5, 1.5});
    add(w, 1, of_all({4, 4}), {2, 3});
    CHECK(w.steps == 16);
    CHECK(w.measured == 10 * 3 + 5 * 2 + 4);
    CHECK(w.perfect == 10 * 2 + 5 * 2 + 4);
    CHECK(w.even == Approx(20 * 1.5 + 10 * 1.5 + 4 * 2));
    // No cell can be dearer than the slowest process was, whatever the loads say.
    CHECK(w.possible == Approx(20 + 10 + 4));
    WorthSums dear;
    add(dear, 10, of_all({1, 3}), {1, 1.25});
    add(dear, 10, of_all({1, 3}), {1, 1.75});
    CHECK(dear.possible == Approx(10 * 2 * 1.25 + 10 * 3));
    WorthSums unequal;  // 3 seconds' work on a speed of 1 and 9 on one of 3: 3 seconds each
    add(unequal, 1, of_all({6, 2}, {1, 3}), {2, 0});
    CHECK(unequal.perfect == 3);
    CHECK(unequal.even == 6);
}

TEST_CASE("verdicts are parts of the whole time") {
    const WorthSums w{10, 80, 60, 75, 120};
    const WorthSummary of_compute = worth_summary(w, 0), of_run = worth_summary(w, 20);
    CHECK(of_compute.perfect_saves == 0.25);
    CHECK(of_compute.most_lbe == 0.8);
    CHECK(of_compute.saved == Approx(1.0 / 3));
    CHECK(of_run.perfect_saves == 0.2);
    CHECK(of_run.saved == Approx(1 - 100.0 / 140));
    CHECK(worth_summary({10, 80, 60, 75, 40}, 0).saved == -1);  // balancing can lose
    CHECK(worth_summary({}, 1).saved == 0);
}

TEST_CASE("net: the time of a run, and what it would have been without balancing") {
    // The slowest process computed 60 s of 100 s, and would have 90 s with the even partition; balancing took 12 s.
    const WorthSums w{10, 80, 60, 75, 120};
    const NetSavings gain = net_savings(w, 100, 60, 12);
    CHECK(gain.seconds == 100);
    CHECK(gain.without_seconds == Approx(100 - 12 + 30));
    CHECK(gain.balancing_seconds == 12);
    CHECK(gain.saved() == Approx(1 - 100.0 / 118));
    const NetSavings loss = net_savings(w, 100, 60, 70);  // what balancing saves is less than what it costs
    CHECK(loss.without_seconds == Approx(60));
    CHECK(loss.saved() == Approx(-40.0 / 60));
    CHECK(net_savings({10, 80, 60, 75, 80}, 100, 60, 0).saved() == 0);
    CHECK(net_savings({}, 100, 0, 10).without_seconds == 90);
}

TEST_CASE("balancing costs what its stages take, without the rebuilds that the run would have needed anyway") {
    Stages s;
    s.add(0, true, true, true, 5, 4);  // the start, with the first partition
    for (int step = 10; step <= 100; step += 10) s.add(step, true, true, false, 1, 0);
    CHECK(s.extra_seconds(100) == Approx(4));  // the run without has the other 10 rebuilds, too
    // A rebuild serves 15 steps, and each 20 there is a balancing: 1 + 60 / 15 rebuilds without, 1 + 3 x 2 with it.
    Stages both;
    both.add(0, true, true, true, 5, 4);
    for (int k = 0; k < 3; ++k) {
        both.add(20 * k + 15, true, true, false, 1, 0);
        both.add(20 * k + 20, true, false, true, 5, 4);
    }
    CHECK(both.usual == 3);
    CHECK(both.extra_seconds(60) == Approx(4 * 5 - (1 + 60.0 / 15 - 3) * 1));
    // None was ever due: all count as needed, at what the shortest took.
    Stages often;
    for (int step = 0; step <= 40; step += 10) often.add(step, true, step == 0, true, step == 20 ? 4.5 : 5, 4);
    CHECK(often.extra_seconds(40) == Approx(24.5 - 5 * 0.5));
    // Times were collected, and the partition kept without a look at the cells: nothing was rebuilt.
    Stages kept;
    kept.add(0, true, true, false, 1, 0);
    kept.add(20, false, false, true, 0.25, 0.25);
    CHECK(kept.extra_seconds(40) == Approx(0.25));
    // Other programs were at work when lists were rebuilt without a balancing: balancing itself took its time all the
    // same.
    Stages disturbed;
    disturbed.add(0, true, true, true, 5, 4);
    for (int step = 10; step <= 100; step += 10) disturbed.add(step, true, true, step % 20 == 0, step % 20 ? 9 : 5, 4);
    CHECK(disturbed.extra_seconds(100) == Approx(6 * 4));
    CHECK(Stages{}.extra_seconds(10) == 0);
}
