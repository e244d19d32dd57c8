// SPDX-License-Identifier: MIT
// Algorithm 1 against an independent reference: bisection on the multiplier.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "balance/model/projection.hpp"

using balance::project_to_sum;

namespace {

// Solves sum max(0, l + s) = t for s by bisection in long double.
std::vector<double> reference(const std::vector<double>& l, double t) {
    std::vector<double> out(l.size(), 0.0);
    if (l.empty() || t == 0) return out;
    const long double top = *std::max_element(l.begin(), l.end());
    long double low = -top, high = t;
    for (int i = 0; i < 100; ++i) {
        const long double s = (low + high) / 2;
        long double sum = 0;
        for (double x : l) sum += std::max(0.0L, x + s);
        (sum < t ? low : high) = s;
    }
    for (std::size_t i = 0; i < l.size(); ++i) out[i] = static_cast<double>(std::max(0.0L, l[i] + (low + high) / 2));
    return out;
}

struct Worst {
    double sum = 0, distance = 0;
    bool negative = false;
};

void compare(const std::vector<double>& l, double t, Worst& worst) {
    const std::vector<double> got = project_to_sum(l, t), expected = reference(l, t);
    long double sum = 0, scale = t;
    double distance = 0;
    for (std::size_t i = 0; i < l.size(); ++i) {
        sum += got[i];
        scale = std::max<long double>(scale, l[i]);
        distance = std::max(distance, std::abs(got[i] - expected[i]));
        worst.negative = worst.negative || got[i] < 0 || std::signbit(got[i]) || !std::isfinite(got[i]);
    }
    if (!l.empty() && t > 0) worst.sum = std::max(worst.sum, static_cast<double>(std::abs(sum - t) / t));
    if (scale > 0) worst.distance = std::max(worst.distance, static_cast<double>(distance / scale));
}

}  // namespace

TEST_CASE("projection equals an independent reference on every class of input") {
    const char* wanted = std::getenv("STEELYARD_PROJECTION_CASES");  // 100000 for the full check
    const int cases = wanted ? std::atoi(wanted) : 1000;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::uniform_int_distribution<int> length(1, 40);
    for (const char* kind : {"random", "ties", "zeros", "t = 0", "tiny t", "t = sum", "N = 1"}) {
        Worst worst;
        const std::string k = kind;
        for (int c = 0; c < cases; ++c) {
            std::vector<double> l(k == "N = 1" ? 1 : length(random));
            double sum = 0;
            for (double& x : l) {
                x = k == "ties"                             ? static_cast<double>(static_cast<int>(3 * uniform(random)))
                    : k == "zeros" && uniform(random) < 0.7 ? 0.0
                                                            : uniform(random);
                sum += x;
            }
            const double t = k == "t = 0"     ? 0.0
                             : k == "tiny t"  ? 1e-14 * uniform(random)
                             : k == "t = sum" ? sum
                                              : 2 * sum * uniform(random) + (sum == 0 ? uniform(random) : 0.0);
            compare(l, t, worst);
        }
        CAPTURE(kind, worst.sum, worst.distance);
        CHECK(worst.sum < 1e-12);
        CHECK(worst.distance < 1e-9);
        CHECK_FALSE(worst.negative);
    }
    Worst worst;
    for (const double part : {1e-9, 1e-3, 0.3, 0.99, 1.01, 5.0}) {
        std::vector<double> l(54000);
        double sum = 0;
        for (double& x : l) sum += x = uniform(random) * uniform(random);
        compare(l, part * sum, worst);
    }
    CHECK(worst.sum < 1e-12);
    CHECK(worst.distance < 1e-9);
    CHECK_FALSE(worst.negative);
}

TEST_CASE("projection: what is nearest, and what is refused") {
    CHECK(project_to_sum(std::vector<double>{}, 3).empty());
    CHECK(project_to_sum(std::vector<double>{1, 2}, 5) == std::vector<double>{2, 3});
    CHECK(project_to_sum(std::vector<double>{0, 4}, 2) == std::vector<double>{0, 2});
    CHECK(project_to_sum(std::vector<double>{0, 0, 0}, 3) == std::vector<double>{1, 1, 1});
    // Each cell keeps its own value: the print's sorted vector would mix them up.
    CHECK(project_to_sum(std::vector<double>{3, 0, 1}, 2) == std::vector<double>{2, 0, 0});
    const double nan = std::nan(""), infinity = INFINITY;
    for (const double t : {-1.0, nan, infinity})
        CHECK_THROWS_AS(project_to_sum(std::vector<double>{1, 2}, t), std::invalid_argument);
    for (const double x : {-1.0, nan, infinity})
        CHECK_THROWS_AS(project_to_sum(std::vector<double>{1, x, 2}, 1), std::invalid_argument);
}
