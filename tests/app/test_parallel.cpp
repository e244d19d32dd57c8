// SPDX-License-Identifier: MIT
// The loop over tiles: every item once, whoever does it.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "app/engine/thread_schedule.hpp"

TEST_CASE("each item is done once by any number of threads, also where the work lies at one end") {
    const int before = omp_get_max_threads();
    for (const int threads : {1, 2, 3, 7}) {
        omp_set_num_threads(threads);
        for (const std::size_t n : {0, 1, 2, 6, 7, 100, 1000})
            for (int round = 0; round < 20; ++round) {
                std::vector<std::atomic<int>> done(n);
                std::atomic<long> waste{0};
                app::parallel_for(n, [&](std::size_t i) {
                    if (i < n / 8)
                        for (int k = 0; k < 500; ++k) waste += k;
                    ++done[i];
                });
                bool once = true;
                for (const auto& d : done) once = once && d == 1;
                REQUIRE(once);
            }
        std::atomic<int> others{0};
        CHECK_THROWS_AS(
            app::parallel_for(50, [&](std::size_t i) { i == 17 ? throw std::runtime_error("one") : ++others; }),
            std::runtime_error);
        CHECK(others == 49);
    }
    omp_set_num_threads(before);
}

TEST_CASE("items are dealt to threads in shares of about equal weight, the heaviest of each first") {
    for (const std::size_t threads : {1, 2, 3, 16})
        for (const std::size_t n : {0, 1, 5, 40, 1000}) {
            std::vector<std::size_t> items;
            for (std::size_t i = 0; i < n; ++i) items.push_back(3 * i);
            const auto weight = [](std::size_t i) { return static_cast<std::int64_t>(i * i % 17); };
            const app::ThreadSchedule runs = app::split_by_weight(items, threads, weight);
            REQUIRE(runs.first.size() == threads + 1);
            CHECK((runs.first.front() == 0 && runs.first.back() == n));
            std::vector<std::size_t> sorted = runs.items;
            if (threads == 1) CHECK(sorted == items);
            std::sort(sorted.begin(), sorted.end());
            CHECK(sorted == items);
            std::int64_t total = 0, top = 0;
            for (std::size_t i : items) total += weight(i);
            for (std::size_t t = 0; t < threads; ++t) {
                std::int64_t sum = 0;
                for (std::size_t k = runs.first[t]; k < runs.first[t + 1]; ++k) {
                    sum += weight(runs.items[k]);
                    if (k > runs.first[t] && threads > 1) CHECK(weight(runs.items[k - 1]) >= weight(runs.items[k]));
                }
                top = std::max(top, sum);
            }
            CHECK(static_cast<double>(top) <= static_cast<double>(total) / static_cast<double>(threads) + 17);
        }
    // The tiles of a melt of 256,000 particles; consecutive ones would be 46 and 54 %.
    const std::vector<std::int64_t> tiles{12 * 12 * 12, 12 * 12 * 14, 12 * 14 * 12, 12 * 14 * 14,
                                          14 * 12 * 12, 14 * 12 * 14, 14 * 14 * 12, 14 * 14 * 14};
    const app::ThreadSchedule even =
        app::split_by_weight({0, 1, 2, 3, 4, 5, 6, 7}, 2, [&](std::size_t i) { return tiles[i]; });
    std::int64_t first = 0;
    for (std::size_t k = 0; k < even.first[1]; ++k) first += tiles[even.items[k]];
    CHECK(std::abs(first - 26 * 26 * 26 / 2) < 26 * 26 * 26 / 200);
    std::vector<int> done(6, 0);
    const app::ThreadSchedule runs = app::split_by_weight({5, 3, 1}, 2, [](std::size_t i) { return i; });
    app::parallel_runs(
        runs.first, [&](std::size_t k) { ++done[runs.items[k]]; }, [] {});
    CHECK((done == std::vector<int>{0, 1, 0, 1, 0, 1}));
}
