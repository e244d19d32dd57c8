// SPDX-License-Identifier: MIT
// The best schedule of balancings, against all schedules there are, and on costs whose answer is known.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "balance/criterion/optimum.hpp"

using namespace balance;

namespace {

using Pair = std::function<double(std::int64_t i, std::int64_t j)>;

ScheduleCosts costs_of(std::int64_t opportunities, const Pair& interval, const Pair& balancing) {
    return {opportunities, [=](std::int64_t i) {
                std::vector<ScheduleCosts::Step> steps;
                for (std::int64_t j = i + 1; j <= opportunities; ++j)
                    steps.push_back({interval(i, j), balancing(i, j)});
                return steps;
            }};
}

double seconds_of(const ScheduleCosts& costs, const std::vector<std::int64_t>& balanced) {
    double seconds = 0;
    std::int64_t partition = 0;
    std::size_t next = 0;
    for (std::int64_t j = 1; j <= costs.opportunities; ++j) {
        const ScheduleCosts::Step step = costs.from(partition)[j - partition - 1];
        seconds += step.interval;
        if (next == balanced.size() || balanced[next] != j) continue;
        seconds += step.balancing;
        partition = j;
        ++next;
    }
    return seconds;
}

// Over all 2^n schedules.
double least_of_all(const ScheduleCosts& costs) {
    double least = INFINITY;
    for (std::uint32_t bits = 0; bits < 1u << costs.opportunities; ++bits) {
        std::vector<std::int64_t> balanced;
        for (std::int64_t j = 1; j <= costs.opportunities; ++j)
            if (bits >> (j - 1) & 1) balanced.push_back(j);
        least = std::min(least, seconds_of(costs, balanced));
    }
    return least;
}

}  // namespace

TEST_CASE("the schedule is the best of all schedules of 12 opportunities") {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    int with_balancings = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const std::int64_t n = trial < 12 ? trial + 1 : 12;
        const double dear = std::pow(10.0, 3 * uniform(random) - 2);  // of a balancing, against an interval
        std::vector<std::vector<double>> interval(n + 1, std::vector<double>(n + 1)), balancing = interval;
        for (auto& row : interval)
            for (double& x : row) x = 1 + uniform(random);
        for (auto& row : balancing)
            for (double& x : row) x = dear * uniform(random);
        const ScheduleCosts costs = costs_of(
            n, [&](std::int64_t i, std::int64_t j) { return interval[i][j]; },
            [&](std::int64_t i, std::int64_t j) { return balancing[i][j]; });
        const Schedule found = best_schedule(costs);
        CAPTURE(trial, n, dear);
        CHECK(found.seconds == Approx(least_of_all(costs)).epsilon(1e-12));
        CHECK(found.seconds == Approx(seconds_of(costs, found.balanced)).epsilon(1e-12));
        with_balancings += !found.balanced.empty();
    }
    CHECK(with_balancings > 20);
}

TEST_CASE("a loss that grows with each interval is balanced at the distance that a search finds") {
    for (const double cost : {0.5, 5.0, 20.0}) {
        const std::int64_t n = 240;
        const ScheduleCosts costs = costs_of(
            n, [](std::int64_t i, std::int64_t j) { return 1 + 0.1 * static_cast<double>(j - i); },
            [=](std::int64_t, std::int64_t) { return cost; });
        double best = INFINITY;  // of even schedules
        for (std::int64_t every = 1; every <= n; ++every) {
            std::vector<std::int64_t> balanced;
            for (std::int64_t j = every; j < n; j += every) balanced.push_back(j);
            best = std::min(best, seconds_of(costs, balanced));
        }
        const Schedule found = best_schedule(costs);
        CHECK(found.seconds <= best * (1 + 1e-12));
        CHECK(found.seconds >= 0.99 * best);
        // Intervals of k lose 0.05 k (k + 1) and cost: the best k is about sqrt(20 cost).
        CHECK(static_cast<double>(n) / static_cast<double>(found.balanced.size() + 1) ==
              Approx(std::sqrt(20 * cost)).margin(1));
    }
}

TEST_CASE("what costs nothing is done always, what costs too much never, and nothing takes no time") {
    const auto loss = [](std::int64_t i, std::int64_t j) { return static_cast<double>(j - i); };
    const auto price = [](double p) { return [p](std::int64_t, std::int64_t) { return p; }; };
    CHECK(best_schedule(costs_of(5, loss, price(0))).balanced == std::vector<std::int64_t>{1, 2, 3, 4});
    CHECK(best_schedule(costs_of(5, loss, price(100))).balanced.empty());
    CHECK(best_schedule(costs_of(5, loss, price(100))).seconds == 15);
    CHECK(best_schedule(costs_of(1, loss, price(0))).balanced.empty());
    CHECK(best_schedule(costs_of(0, loss, price(0))).seconds == 0);
    CHECK(best_schedule(costs_of(0, loss, price(0))).balanced.empty());
}
