// SPDX-License-Identifier: MIT
// Counted work: exact ticks for ordinary prices, never wrapped for absurd ones, and the key to blame.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "balance/model/work.hpp"
#include "cell_work.hpp"

using namespace balance;

namespace {

// The definition, in 128 bits, where nothing is large enough for its rounding or its limit to matter.
__int128 ticks_of(const WorkCosts& w, const CellCounts& c, std::int64_t neighbours, bool inside) {
    const __int128 n = c.n, over = w.capacity > 0 && n > w.capacity ? n - w.capacity : 0;
    const auto price = [](double seconds) { return static_cast<__int128>(std::llround(seconds * ticks_per_second)); };
    const __int128 ticks = price(w.cell) + n * price(w.particle) +
                           n * (c.n3 > 1 ? c.n3 - 1 : 0) * price(w.candidate / 2) + neighbours * price(w.pair / 2) +
                           over * n * price(w.spill);
    return inside ? static_cast<__int128>(std::llroundl(static_cast<double>(ticks) * w.region_factor)) : ticks;
}

struct Cases {
    std::mt19937_64 random{17};
    double real(double most) { return most * std::uniform_real_distribution<double>()(random); }
    std::int32_t whole(int most) { return static_cast<std::int32_t>(random() % (most + 1)); }
    WorkCosts costs(double most) {
        WorkCosts w;
        w.cell = real(most), w.particle = real(most), w.candidate = real(most), w.pair = real(most),
        w.spill = real(most);
        w.region_lower = {10, 10}, w.region_upper = {20, 30};
        w.region_factor = random() % 4 == 0 ? 1 : real(1000);
        w.capacity = whole(12);
        return w;
    }
    CellCounts counts(int most) {
        const std::int32_t n = whole(most), n3 = n + whole(8 * most);
        return {n, n3, n3 + whole(16 * most)};
    }
};

}  // namespace

TEST_CASE("a cell's work is the definition, to the last tick") {
    Cases cases;
    for (int i = 0; i < 20000; ++i) {
        const WorkCosts costs = cases.costs(i % 2 ? 1e-8 : 1e-3);
        const CellCounts c = cases.counts(30);
        const std::int64_t neighbours = cases.whole(2000);
        const double x = cases.real(40), y = cases.real(40);
        const __int128 expected = ticks_of(costs, c, neighbours, x >= 10 && x < 20 && y >= 10 && y < 30);
        REQUIRE(expected < most_ticks);
        REQUIRE(cell_work(costs, c, neighbours, x, y) == static_cast<std::int64_t>(expected));
        double seconds = 0;
        for (double s : cell_work_by_key(costs, c, neighbours, x, y)) seconds += s;
        REQUIRE(seconds == Approx(to_seconds(static_cast<std::int64_t>(expected))).epsilon(1e-5).margin(1e-9));
    }
}

TEST_CASE("rounding is that of the standard library, to the last bit of a fraction") {
    Cases cases;
    std::vector<double> values{0.0, -0.0, 0.5, 1.5, 2.5, std::nextafter(0.5, 0), 4503599627370495.5, 5e-324, 0x1p61};
    for (int i = 0; i < 10000; ++i) {
        const double value = std::ldexp(cases.real(1), static_cast<int>(cases.random() % 62));
        values.insert(values.end(), {value, std::floor(value) + 0.5});
    }
    for (const double value : values) {
        REQUIRE(rounded(value) == std::llround(value));
        REQUIRE(rounded(-value) == std::llround(-value));
    }
}

TEST_CASE("work that 64 bits cannot hold counts as the most that may be summed") {
    constexpr std::int32_t huge = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    WorkCosts costs{1e-3, 1e-3, 1e-3, 1e-3, {0, 0}, {1, 1}, 1000, 1, 1e-3};
    for (const double x : {0.5, 5.0}) {  // in the region and beside it
        CHECK(cell_work(costs, {huge, huge, huge}, all, x, 0.5) == most_ticks);
        CHECK(cell_work(costs, {100000, 900000, 2500000}, 0, x, 0.5) == most_ticks);
        CHECK(cell_work(costs, {1, 1, 1}, all, x, 0.5) == most_ticks);
    }
    // The factor alone, and just below it.
    const CellCounts none{};
    costs = {1e-3, 0, 0, 0, {0, 0}, {1, 1}, 4096e3, 0, 0};
    CHECK(cell_work(costs, none, 0, 0.5, 0.5) == most_ticks);
    costs.region_factor = 4095e3;
    CHECK(cell_work(costs, none, 0, 0.5, 0.5) < most_ticks);
    CHECK(cell_work(costs, none, 0, 5, 5) == to_ticks(1e-3));
}

TEST_CASE("the key to blame for too much work is the one with the largest part in it") {
    WorkCosts costs{1e-3, 2e-3, 3e-3, 4e-3, {0, 0}, {1, 1}, 7, 5, 6e-3};
    const auto blamed = [&](const WorkByKey& sum) { return std::string(most_expensive_key(costs, sum).key); };
    CHECK(blamed({5, 1, 1, 1, 1, 0}) == "cell");
    CHECK(blamed({1, 5, 1, 1, 1, 0}) == "particle");
    CHECK(blamed({1, 1, 5, 1, 1, 0}) == "candidate");
    CHECK(blamed({1, 1, 1, 5, 1, 0}) == "pair");
    CHECK(blamed({1, 1, 1, 1, 5, 8}) == "spill");  // the region adds less than half
    CHECK(blamed({1, 1, 1, 1, 5, 10}) == "region.factor");
    CHECK(most_expensive_key(costs, {1, 1, 1, 5, 1, 0}).value == 4e-3);
    CHECK(most_expensive_key(costs, {1, 1, 1, 1, 5, 0}).value == 6e-3);
    CHECK(most_expensive_key(costs, {0, 0, 0, 0, 1, 6}).value == 7);
    // From a cell's counts: 10 particles, 90 around, 60 directed pairs, 5 beyond the capacity of 5.
    const CellCounts c{10, 90, 250};
    const WorkByKey inside = cell_work_by_key(costs, c, 60, 0.5, 0.5), outside = cell_work_by_key(costs, c, 60, 5, 5);
    CHECK(outside[2] == Approx(10 * 89 * 1.5e-3));
    CHECK(outside[3] == Approx(60 * 2e-3));
    CHECK(outside[4] == Approx(50 * 6e-3));
    CHECK(blamed(outside) == "candidate");
    CHECK(blamed(inside) == "region.factor");
}

TEST_CASE("loads become integers whose sum fits, from denormal numbers to huge ones") {
    CHECK(load_scale(0, 100) == 0);
    for (const double largest : {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(), 1e-9,
                                 1.0, std::numeric_limits<double>::max()}) {
        const double scale = load_scale(largest, 1000);
        CHECK(std::isfinite(scale));
        CHECK(0 * scale == 0);
        CHECK(1000 * (largest * scale) < static_cast<double>(most_ticks));
        if (largest > 1e-280) CHECK(largest * scale == Approx(std::ldexp(1.0, 61) / 1000));
    }
}

TEST_CASE("a part of the processes is slow, evenly spread, while it is to be") {
    Slowdown slow{0.1, 0.5, {20, 60, 10}};
    const auto slow_ones = [&](std::int64_t step) {
        std::vector<std::int64_t> found;
        for (std::int64_t p = 0; p < 30; ++p)
            if (speed_of(slow, p, step) != 1) found.push_back(p);
        return found;
    };
    const std::vector<std::int64_t> none, tenth{9, 19, 29};
    for (const std::int64_t step : {20, 29, 40, 59}) CHECK(slow_ones(step) == (step < 50 ? tenth : none));
    for (const std::int64_t step : {0, 19, 30, 39, 50, 60, 70}) CHECK(slow_ones(step) == none);
    slow = {1, 0.25, {}};
    CHECK(speed_of(slow, 7, 0) == 0.25);
    CHECK(speed_of({}, 7, 0) == 1);
}

TEST_CASE("a region's factor counts while it is active") {
    WorkCosts costs{1e-3, 0, 0, 0, {0, 0}, {1, 1}, 3, 0, 0};
    const auto factor = [&](std::int64_t step) {
        const WorkCosts now = costs_at(costs, step);
        CHECK(cell_work(now, {}, 0, 5, 5) == to_ticks(1e-3));
        return to_seconds(cell_work(now, {}, 0, 0.5, 0.5)) / 1e-3;
    };
    for (const std::int64_t step : {0, 1, 1000000}) CHECK(factor(step) == Approx(3));
    costs.region_active = {20, 60, 10};
    for (const std::int64_t step : {20, 29, 40, 49}) CHECK(factor(step) == Approx(3));
    for (const std::int64_t step : {0, 19, 30, 39, 50, 59, 60, 70}) CHECK(factor(step) == Approx(1));
    costs.region_active.period.reset();
    for (const std::int64_t step : {0, 19, 20, 30, 59, 60})
        CHECK(factor(step) == Approx(step >= 20 && step < 60 ? 3 : 1));
}
