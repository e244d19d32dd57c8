// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "md/neighbour_lists.hpp"

TEMPLATE_TEST_CASE_SIG("a coarse search finds every pair within the radius and few beyond", "", ((int D), D), 2, 3) {
    const double radius = GENERATE(0.4, 1.3, 2.8, 6.5), width = GENERATE(0.9, 1.2, 3.4) * radius;
    const double cell[3] = {width, 0.9 * width, 1.1 * width};
    const int packed_bits = md::edge_bits;
    const double extent = GENERATE(0.5, 4.0, 1e4) * radius;
    const md::CoarseSearch search = md::coarse_search(D, cell, packed_bits, radius, extent);
    CHECK(search.bits + 16 >= packed_bits);
    if (search.bits + 16 > packed_bits) {
        for (int a = 0; a < D; ++a) CHECK(md::fits_before_wrap(search.bits + 16, radius, cell[a]));
        CHECK(std::ldexp(md::most_extent(search.bits + 16, radius, cell[D - 1]), -md::edge_bits) > 0.999 * extent);
    }
    const bool finer =
        md::fits_before_wrap(search.bits + 17, radius, 1.1 * width) &&
        std::ldexp(md::most_extent(search.bits + 17, radius, cell[D - 1]), -md::edge_bits) > 1.001 * extent;
    CHECK(!finer);
    // Squares are rounded by at most 1/2 each, coordinates by less than a unit.
    const double furthest = std::ldexp(std::sqrt(std::ldexp(search.limit + 0.5 * D, 15)) + std::sqrt(D), -search.bits);
    if (search.limit > 500) CHECK(furthest < 1.005 * radius);
    std::mt19937_64 random(static_cast<std::uint64_t>(1000 * radius + width));
    std::uniform_real_distribution<double> uniform(0, 1), about(0.95, 1.05);
    std::normal_distribution<double> normal;
    int found = 0, missed = 0, too_far = 0;
    for (int i = 0; i < 30000; ++i) {
        double direction[D], norm = 0, r2 = 0;
        for (double& d : direction) d = normal(random), norm += d * d;
        const double r = (i % 4 == 1 ? 0.999999 : about(random)) * radius;
        std::int64_t sum = 0;
        for (const double d : direction) {
            const double apart_by = d * r / std::sqrt(norm);
            double from = 200 * uniform(random);
            if (i % 2) {  // the worst case: rounded down by next to nothing here, by as much as possible there
                const double unit = std::ldexp(1.0, -search.bits), end = apart_by > 0 ? 1e-6 : 1 - 1e-6;
                from = (std::floor(from / unit) + end) * unit - apart_by;
            }
            const double to = from + apart_by;
            const auto coarse = [&](double x) {
                return static_cast<std::uint16_t>(std::llrint(std::floor(std::ldexp(x, search.bits))));
            };
            const auto apart = static_cast<std::int16_t>(coarse(to) - coarse(from));
            sum += (apart * apart + (1 << 14)) >> 15;
            r2 += (to - from) * (to - from);
        }
        missed += r2 < radius * radius && sum > search.limit;
        too_far += r2 > furthest * furthest && sum <= search.limit;
        found += sum <= search.limit;
    }
    CHECK(missed == 0);
    CHECK(too_far == 0);
    CHECK(found > 13500);
}
