// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <vector>

#include "balance/worth.hpp"

using namespace balance;

TEST_CASE("the shape of a load: even partition and dearest cell, against a mean process") {
    const SerialTeam team;
    const Grid grid{{4, 2, 1}, {false, false, false}};
    const std::vector<std::int64_t> load{8, 1, 1, 2, 0, 1, 2, 1};  // column by column: halves of 12 and 4
    const Owners even(grid, grid.box(), one_box_each(even_partition(grid, 2)));
    const LoadShape shape = shape_of(team, even, load, 2);
    CHECK(shape.even == 12.0 / 8);
    CHECK(shape.dearest == 8.0 / 8);
    // A mean process of speeds 1 and 3 takes 16 / 4; the first one 12 / 1, and the second one could have the dear cell.
    const LoadShape unequal = shape_of(team, even, load, 2, std::vector<double>{1, 3});
    CHECK(unequal.even == 12.0 / 4);
    CHECK(unequal.dearest == Approx(8.0 / 3 / 4));
    CHECK(shape_of(team, even, std::vector<std::int64_t>(8, 0), 2).even == 1);
    CHECK(dearest_of(team, load, std::vector<double>{1, 1}) == shape.dearest);
    CHECK(dearest_of(team, load, std::vector<double>{1, 3}) == Approx(unequal.dearest));
    CHECK(dearest_of(team, std::vector<std::int64_t>(8, 0), std::vector<double>{1, 3}) == 0);
}

TEST_CASE("a run adds up, step by step") {
    Worth w;
    add(w, 10, std::vector<double>{1, 3}, {1.5, 0.5});  // mean 2
    add(w, 5, std::vector<double>{2, 2}, {1.5, 1.5});
    add(w, 1, std::vector<double>{4, 4}, {2, 3});
    CHECK(w.steps == 16);
    CHECK(w.measured == 10 * 3 + 5 * 2 + 4);
    CHECK(w.perfect == 10 * 2 + 5 * 2 + 4);
    CHECK(w.even == Approx(20 * 1.5 + 10 * 1.5 + 4 * 2));
    // No cell can be dearer than the slowest process was, whatever the loads say.
    CHECK(w.possible == Approx(20 + 10 + 4));
    Worth dear;
    add(dear, 10, std::vector<double>{1, 3}, {1, 1.25});
    add(dear, 10, std::vector<double>{1, 3}, {1, 1.75});
    CHECK(dear.possible == Approx(10 * 2 * 1.25 + 10 * 3));
    Worth unequal;  // 3 seconds' work on a speed of 1 and 9 on one of 3: 3 seconds each
    add(unequal, 1, std::vector<double>{6, 2}, {2, 0}, std::vector<double>{1, 3});
    CHECK(unequal.perfect == 3);
    CHECK(unequal.even == 6);
}

TEST_CASE("verdicts are parts of the whole time") {
    const Worth w{10, 80, 60, 75, 120};
    const Verdict of_compute = verdict_of(w, 0), of_run = verdict_of(w, 20);
    CHECK(of_compute.perfect_saves == 0.25);
    CHECK(of_compute.most_lbe == 0.8);
    CHECK(of_compute.saved == Approx(1.0 / 3));
    CHECK(of_run.perfect_saves == 0.2);
    CHECK(of_run.saved == Approx(1 - 100.0 / 140));
    CHECK(verdict_of({10, 80, 60, 75, 40}, 0).saved == -1);  // balancing can lose
    CHECK(verdict_of({}, 1).saved == 0);
}
