// SPDX-License-Identifier: MIT
// The model of Shu et al. (2000): limits of its table 1, the order of its overlaps, what falls and rises, its optimum.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "predict/data_parallel.hpp"

using namespace predict;

namespace {

struct Case {
    double D, P, e;
    PointTimes times;
    Iterations iterations;
    double alpha() const { return times.transfer / times.calculate; }
    double beta() const { return times.start / times.calculate; }
};

double speed_up(const Case& c, Overlapped overlapped = Overlapped::nothing) {
    return sequential_seconds(c.D * c.D, c.times, c.iterations) /
           parallel_seconds(square(c.D, c.P, c.e), c.times, c.iterations, overlapped);
}

Case random_case(std::mt19937_64& random) {
    const auto up_to = [&](double most) {
        return std::exp(std::uniform_real_distribution(0.0, std::log(most))(random));
    };
    Case c{};
    c.P = std::floor(up_to(64));
    c.D = c.P * std::floor(up_to(500));
    c.e = std::floor(up_to(5));
    c.times = {1e-9 * up_to(1000), 1e-9 * up_to(1000), 1e-6 * up_to(100)};
    c.iterations.serial = std::floor(up_to(1000));
    c.iterations.parallel = c.iterations.serial * up_to(3);
    c.iterations.inner = up_to(20);
    return c;
}

}  // namespace

TEST_CASE("eq. (5) from the times of eqs. (2) and (3)") {
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i) {
        const Case c = random_case(random);
        const double sum_inner = c.iterations.parallel * c.iterations.inner;
        const double s = c.iterations.serial * c.D * c.D * c.P * c.P /
                         (c.iterations.parallel * (8 * c.e * c.D * c.P * c.alpha() + 8 * c.P * c.P * c.beta()) +
                          sum_inner * c.D * c.D);
        CHECK(speed_up(c) == Approx(s));
    }
}

TEST_CASE("limits of table 1") {
    std::mt19937_64 random(2);
    for (int i = 0; i < 1000; ++i) {
        const Case c = random_case(random);
        const double one = c.iterations.serial, p = c.iterations.parallel, sum = p * c.iterations.inner, D = c.D,
                     P = c.P, e = c.e, alpha = c.alpha(), beta = c.beta();
        Case l = c;
        l.D = 1e15;
        CHECK(speed_up(l) == Approx(one * P * P / sum));
        l = c, l.times.transfer = 0;
        CHECK(speed_up(l) == Approx(one * D * D * P * P / (8 * p * P * P * beta + sum * D * D)));
        l = c, l.times.start = 0;
        CHECK(speed_up(l) == Approx(one * D * P * P / (8 * e * p * P * alpha + sum * D)));
        l = c, l.P = D;
        CHECK(speed_up(l) == Approx(one * D * D / (p * (8 * e * alpha + 8 * beta) + sum)));
        l = c, l.iterations.parallel = D * D;
        CHECK(speed_up(l) ==
              Approx(one * P * P / (8 * e * D * P * alpha + 8 * P * P * beta + D * D * c.iterations.inner)));
        l = c, l.iterations.inner = D * D / (P * P);
        CHECK(speed_up(l) ==
              Approx(one * D * D * std::pow(P, 4) /
                     (p * (8 * e * D * P * P * P * alpha + 8 * std::pow(P, 4) * beta + std::pow(D, 4)))));
        l = c, l.e = 1;
        CHECK(speed_up(l) == Approx(one * D * D * P * P / (p * (8 * D * P * alpha + 8 * P * P * beta) + sum * D * D)));
    }
}

TEST_CASE("more overlap never takes longer: T >= T1 >= T2 >= T3, also where a subdomain is all rim") {
    std::mt19937_64 random(3);
    int all_rim = 0;
    for (int i = 0; i < 10000; ++i) {
        const Case c = random_case(random);
        const Subdomain part = i % 2 ? square(c.D, c.P, c.e) : strip(c.D, c.D, std::int64_t(c.P), c.e);
        const auto t = [&](Overlapped o) { return parallel_seconds(part, c.times, c.iterations, o); };
        const double rounding = 1e-12 * t(Overlapped::nothing);
        CHECK(t(Overlapped::nothing) >= t(Overlapped::links));
        CHECK(t(Overlapped::links) >= t(Overlapped::compute) - rounding);
        CHECK(t(Overlapped::compute) >= t(Overlapped::hardware) - rounding);
        all_rim += part.inner == 0;
    }
    CHECK(all_rim > 100);
    CHECK(square(10, 5, 3).inner == 0);
}

TEST_CASE("the speed-up falls as I_p, I_m, e, alpha or beta rise") {
    std::mt19937_64 random(4);
    for (int i = 0; i < 1000; ++i) {
        const Case c = random_case(random);
        for (double Iterations::*number : {&Iterations::parallel, &Iterations::inner}) {
            Case more = c;
            more.iterations.*number *= 1.1;
            CHECK(speed_up(more) < speed_up(c));
        }
        for (double PointTimes::*time : {&PointTimes::transfer, &PointTimes::start}) {
            Case more = c;
            more.times.*time *= 1.1;
            CHECK(speed_up(more) < speed_up(c));
        }
        Case more = c;
        more.e += 1;
        CHECK(speed_up(more) < speed_up(c));
        // It depends on the ratios of the times alone.
        more = c;
        more.times = {3 * c.times.calculate, 3 * c.times.transfer, 3 * c.times.start};
        CHECK(speed_up(more) == Approx(speed_up(c)));
    }
}

TEST_CASE("the best count is that of brute force") {
    std::mt19937_64 random(5);
    int inside = 0, at_the_end = 0;
    for (int i = 0; i < 300; ++i) {
        const Case c = random_case(random);
        const double power = std::uniform_real_distribution(0.0, 3.0)(random);
        const auto seconds = [&](std::int64_t P) {  // iterations grow with the number of subdomains
            Iterations n = c.iterations;
            n.parallel *= 1 + 1e-4 * std::pow(double(P), power);
            return parallel_seconds(square(1e4, double(P), c.e), c.times, n);
        };
        const std::int64_t last = 1 + std::int64_t(random() % 3000);
        std::int64_t best = 1;
        for (std::int64_t P = 2; P <= last; ++P)
            if (seconds(P) < seconds(best)) best = P;
        const BestCount found = best_count(seconds, 1, last);
        CHECK(found.count == best);
        CHECK(found.seconds == seconds(best));
        inside += best > 100 && best < last;
        at_the_end += best == last;
    }
    CHECK(inside > 20);
    CHECK(at_the_end > 20);
}

TEST_CASE("the best of a thousand million counts is found by few trials") {
    for (const std::int64_t best : {1, 77, 899'999'999, 1'000'000'000}) {
        std::int64_t trials = 0;
        const auto seconds = [&](std::int64_t count) { return ++trials, std::abs(double(count - best)); };
        CHECK(best_count(seconds, 1, 1'000'000'000).count == best);
        CHECK(trials < 200'000);
    }
}

TEST_CASE("strips have the paper's widths") {
    const std::vector<double> by_count{27, 20, 16, 14, 12, 11};  // table 3: 50 columns, 2 .. 7 parts, overlap 4
    for (std::int64_t p = 2; p <= 7; ++p) CHECK(strip(50, 850, p, 4).points == by_count[p - 2] * 850);
    for (const auto& [overlap, width] : std::vector<std::pair<double, double>>{{1, 26}, {2, 26}, {4, 27}, {8, 29}})
        CHECK(strip(50, 850, 2, overlap).points == width * 850);  // table 2; at 1 the wider of 25 and 26
    CHECK(strip(50, 850, 1, 4).points == 50 * 850);
    CHECK(strip(50, 850, 1, 4).messages == 0);
    CHECK(strip(50, 850, 2, 4).messages == 2);
    CHECK(strip(50, 850, 3, 4).messages == 4);
}
