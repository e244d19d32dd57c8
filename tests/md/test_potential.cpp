// SPDX-License-Identifier: MIT
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "md/potential.hpp"
#include "tests/md/other_parameters.hpp"

TEST_CASE("the force is minus the derivative of the energy, for every potential and shift") {
    for (const md::PotentialSpec& kind : test::every_kind())
        for (const md::Shift shift : {md::Shift::none, md::Shift::energy, md::Shift::force})
            for (const double softening : {0.0, 0.4}) {
                md::PotentialSpec spec = kind;
                spec.epsilon = 1.3, spec.sigma = 1.1, spec.softening = softening, spec.shift = shift;
                CAPTURE(spec.kind, spec.own[0], spec.own[1]);
                for (double r = 0.9; r < 2.49; r += 0.01) {
                    const double h = 1e-6;
                    const double slope =
                        (md::pair_value(spec, r + h).energy - md::pair_value(spec, r - h).energy) / (2 * h);
                    CHECK(md::pair_value(spec, r).force == Approx(-slope).epsilon(1e-6).margin(1e-7));
                }
            }
}

TEST_CASE("shifts do what they say at the cutoff") {
    const double just_inside = 2.5 * (1 - 1e-9);
    for (const md::PotentialSpec& kind : test::every_kind()) {
        const auto at = [&](md::Shift s, double r) {
            md::PotentialSpec spec = kind;
            spec.shift = s;
            return md::pair_value(spec, r);
        };
        CHECK(std::abs(at(md::Shift::none, just_inside).energy) > 1e-6);
        CHECK(std::abs(at(md::Shift::energy, just_inside).energy) < 1e-8);
        CHECK(at(md::Shift::energy, just_inside).force == Approx(at(md::Shift::none, just_inside).force));
        CHECK(std::abs(at(md::Shift::force, just_inside).energy) < 1e-8);
        CHECK(std::abs(at(md::Shift::force, just_inside).force) < 1e-8);
        CHECK(at(md::Shift::none, 2.5).energy == 0);
    }
}

TEST_CASE("textbook values") {
    const md::PotentialSpec lj{"lennard_jones", 1, 1, 5.0, 0, md::Shift::none};
    CHECK(md::pair_value(lj, 1.0).energy == Approx(0).margin(1e-14));
    CHECK(md::pair_value(lj, std::pow(2.0, 1.0 / 6)).energy == Approx(-1));
    CHECK(md::pair_value(lj, std::pow(2.0, 1.0 / 6)).force == Approx(0).margin(1e-12));
    CHECK(md::pair_value(lj, 1.0).force == Approx(24));
    const md::PotentialSpec soft{"soft_sphere", 2, 1, 5.0, 0, md::Shift::none};
    CHECK(md::pair_value(soft, 1.0).energy == Approx(2));
    CHECK(md::pair_value(soft, 1.0).force == Approx(24));
}

TEST_CASE("Mie's depth is epsilon whatever its exponents, and 12-6 is Lennard-Jones bit by bit") {
    md::PotentialSpec mie{"mie", 1.3, 1.1, 5.0, 0, md::Shift::none};
    for (int n = 4; n <= 64; n += 2)
        for (int m = 2; m < n; m += 2) {
            mie.own[0] = n, mie.own[1] = m;
            CAPTURE(n, m);
            const double ratio = static_cast<double>(n) / m, least = 1.1 * std::pow(ratio, 1.0 / (n - m));
            CHECK(md::pair_value(mie, least).energy == Approx(-1.3).epsilon(1e-13));
            CHECK(md::pair_value(mie, least).force == Approx(0).margin(1e-10));
            const double c = n / (n - m + 0.0) * std::pow(ratio, m / (n - m + 0.0)), x = 1.1 / 1.5;
            CHECK(md::pair_value(mie, 1.5).energy ==
                  Approx(c * 1.3 * (std::pow(x, n) - std::pow(x, m))).epsilon(1e-12));
        }
    for (const md::Shift shift : {md::Shift::none, md::Shift::energy, md::Shift::force})
        for (const double softening : {0.0, 0.4})
            for (double r = 0.5; r < 2.5; r += 0.01) {
                const md::PairValue a = md::pair_value({"lennard_jones", 1.3, 1.1, 2.5, softening, shift}, r),
                                    b = md::pair_value({"mie", 1.3, 1.1, 2.5, softening, shift}, r);
                CHECK((a.energy == b.energy && a.force == b.force));
            }
}

TEST_CASE("powers are those of repeated multiplication") {
    for (int n = 1; n <= 32; ++n) CHECK(md::power(2.0, n) == std::ldexp(1.0, n));
    CHECK(md::power(3.0, 31) == 617673396283947.0);
}

TEST_CASE("parameters that don't go together are found") {
    md::PotentialSpec mie{"mie"};
    CHECK(md::conflict(mie).empty());
    mie.own[1] = 12;
    CHECK(md::conflict(mie) == "repulsive must be larger than attractive");
    CHECK(md::conflict({"lennard_jones"}).empty());
    CHECK(md::own_parameters("lennard_jones").empty());
    CHECK(md::own_parameters("mie").size() == 2);
}

TEST_CASE("a pair too close for floats feels an infinite force, not an undefined one") {
    md::PotentialSpec spec{"mie"};
    spec.own[0] = 64, spec.own[1] = 62;
    const auto steep = md::make_potential<md::Mie, float, false>(spec, {});
    for (float s = 1e-30f; s < 0.5f; s *= 1.5f) CHECK(steep.force_over_r(s) > 0);
    CHECK(std::isinf(steep.force_over_r(1e-3f)));
    const double safe = std::sqrt(md::smallest_safe_r2(spec, std::array{262144.0})[0]);
    CHECK((safe > 0.5 && safe < 1 && std::isfinite(steep.force_over_r(static_cast<float>(safe * safe)))));
}

TEST_CASE("the safe distance bounds every force beyond it") {
    for (const double limit : {100.0, 4096.0, 131072.0}) {
        const md::PotentialSpec spec;
        const double safe = std::sqrt(md::smallest_safe_r2(spec, std::array{limit})[0]);
        for (double r = safe; r < 2.5; r += 1e-3) CHECK(std::abs(md::pair_value(spec, r).force) <= limit);
        CHECK(std::abs(md::pair_value(spec, safe - 0.01).force) > limit);
    }
    CHECK(md::smallest_safe_r2({"lennard_jones", 1, 1.2, 2.5, 0.75, md::Shift::force}, std::array{4096.0})[0] ==
          0);  // softened: finite everywhere
}
