// SPDX-License-Identifier: MIT
// The loop over tiles: every item once, whoever does it.
#include <catch2/catch.hpp>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "app/parallel.hpp"

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
        CHECK_THROWS_AS(app::parallel_for(50, [&](std::size_t i) { i == 17 ? throw std::runtime_error("one") : ++others; }), std::runtime_error);
        CHECK(others == 49);
    }
    omp_set_num_threads(before);
}
