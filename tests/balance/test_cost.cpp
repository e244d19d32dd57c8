// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "balance/cost.hpp"
#include "balance/round.hpp"

using namespace balance;

namespace {

// A contender whose slowest process computes for so long from one opportunity to the next.
ContenderCost computed(const std::vector<double>& seconds) {
    ContenderCost cost{"x"};
    BalanceRow row;
    for (const double s : seconds) {
        row.step += 4, row.max_seconds = s / 4, row.load_step = 0;
        cost.add(row, 4, {}, 6, 0);
    }
    return cost;
}

std::vector<double> normal(std::size_t n, std::mt19937& random) {
    std::normal_distribution<double> around(10, 1);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(around(random));
    return values;
}

std::vector<Excess> ranking_of(const std::vector<std::vector<double>>& seconds) {
    std::vector<ContenderCost> costs;
    for (const std::vector<double>& s : seconds) costs.push_back(computed(s));
    return ranking(costs);
}

}  // namespace

TEST_CASE("costs are the sums of the rows, at the prices of balancings and moves") {
    Counting prices;
    prices.work.balancing = 0.5, prices.work.move = 3, prices.work.ghost = 0.25;
    ContenderCost cost{"x"}, of_cells{"y"};
    BalanceRow kept, weighed, moved;  // by the criterion; after a look at a new partition; into one
    kept.step = 115, kept.load_step = 100, kept.max_seconds = 2;
    weighed.step = weighed.load_step = 120, weighed.max_seconds = 1;
    moved.step = moved.load_step = 125, moved.max_seconds = 4, moved.decision = Decision::moved, moved.moved = {7, 80};
    kept.ghost_bytes = 100, moved.ghost_bytes = 50;
    for (const BalanceRow& row : {kept, weighed, moved}) cost.add(row, 5, prices, 6, 30);
    CHECK(cost.ghost_bytes == Approx(50));
    CHECK(cost.from_step == 110);
    CHECK(cost.computing_seconds == 5 * (2 + 1 + 4) + 3 * 5 * 0.25 * 30 / 6);
    CHECK(cost.balancing_seconds == 2 * 0.5 + 3 * 80 / 6.0);
    CHECK(cost.seconds() == cost.computing_seconds + cost.balancing_seconds);
    CHECK((cost.balancings == 2 && cost.migrations == 1));
    double sum = 0;
    for (const double s : cost.each) sum += s;
    CHECK(sum == Approx(cost.seconds()));
    prices.cells_move = true;
    of_cells.add(moved, 5, prices, 6, 30);
    CHECK(of_cells.balancing_seconds == 0.5 + 3 * 7 / 6.0);
}

TEST_CASE("the order of contenders is that of their seconds, whatever the unit") {
    std::mt19937 random(1);
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<std::vector<double>> all;
        for (int i = 0; i < 5; ++i) all.push_back(normal(30, random));
        const std::vector<Excess> found = ranking_of(all);
        REQUIRE(found.size() == 5);
        CHECK((found[0].part == 0 && found[0].error == 0.0 && !found[0].beyond_noise()));
        const double least = computed(all[found[0].contender]).seconds();
        for (std::size_t i = 1; i < 5; ++i) {
            CHECK(found[i].part >= found[i - 1].part);
            CHECK(computed(all[found[i].contender]).seconds() == Approx((1 + found[i].part) * least));
        }
        for (std::vector<double>& seconds : all)
            for (double& s : seconds) s *= 1024;
        const std::vector<Excess> scaled = ranking_of(all);
        for (std::size_t i = 0; i < 5; ++i) {
            CHECK((scaled[i].contender == found[i].contender && scaled[i].part == found[i].part));
            CHECK(scaled[i].error == found[i].error);
        }
    }
    CHECK(ranking_of({}).empty());
    CHECK(ranking_of({{0, 0}, {0, 0}}).empty());
}

TEST_CASE("an equal contender takes as long, and a constant difference is more than noise") {
    std::mt19937 random(2);
    for (const std::size_t n : {1, 3, 4, 15, 16, 17, 100, 1024, 1025, 5001}) {
        CAPTURE(n);
        const std::vector<double> seconds = normal(n, random);
        std::vector<double> more = seconds;
        for (double& s : more) s += 0.125;
        const std::vector<Excess> found = ranking_of({more, seconds, seconds});
        CHECK((found[0].contender == 1 && found[1].contender == 2 && found[1].part == 0));
        CHECK(!found[1].beyond_noise());
        CHECK(found[2].error.has_value() == (n >= 4));
        CHECK(found[2].beyond_noise() == (n >= 4));
        const ContenderCost cost = computed(seconds);
        CHECK(cost.each.size() == (n <= 1024 ? n : n == 1025 ? 513 : 626));  // so memory does not grow
        CHECK(std::accumulate(cost.each.begin(), cost.each.end(), 0.0) == Approx(cost.seconds()));
    }
}

TEST_CASE("noise is seldom taken for a difference, and its size is found") {
    std::mt19937 random(3);
    constexpr int trials = 1000;
    for (const std::size_t n : {20, 64, 150}) {
        CAPTURE(n);
        int beyond = 0;
        double errors = 0, differences = 0;  // mean squares
        for (int trial = 0; trial < trials; ++trial) {
            const Excess second = ranking_of({normal(n, random), normal(n, random)})[1];
            beyond += second.beyond_noise();
            errors += *second.error * *second.error / trials, differences += second.part * second.part / trials;
        }
        CHECK((beyond > 0.02 * trials && beyond < 0.1 * trials));  // 2 standard errors: 6.4 %
        CHECK(std::sqrt(errors / differences) == Approx(1).epsilon(0.1));
        CHECK(std::sqrt(errors) == Approx(std::sqrt(2.0 / static_cast<double>(n)) / 10).epsilon(0.1));
    }
}
