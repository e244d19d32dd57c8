// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include "md/potential.hpp"

TEST_CASE("the force is minus the derivative of the energy, for every potential and shift") {
    for (const std::string& kind : md::potential_kinds())
        for (const md::Shift shift : {md::Shift::none, md::Shift::energy, md::Shift::force})
            for (const double softening : {0.0, 0.4}) {
                const md::PotentialSpec spec{kind, 1.3, 1.1, 2.5, softening, shift};
                for (double r = 0.9; r < 2.49; r += 0.01) {
                    const double h = 1e-6;
                    const double slope = (md::pair_value(spec, r + h).energy - md::pair_value(spec, r - h).energy) / (2 * h);
                    CHECK(md::pair_value(spec, r).force == Approx(-slope).epsilon(1e-6).margin(1e-7));
                }
            }
}

TEST_CASE("shifts do what they say at the cutoff") {
    const double just_inside = 2.5 * (1 - 1e-9);
    for (const std::string& kind : md::potential_kinds()) {
        const auto at = [&](md::Shift s) { return md::pair_value({kind, 1, 1, 2.5, 0.0, s}, just_inside); };
        CHECK(std::abs(at(md::Shift::none).energy) > 1e-6);
        CHECK(std::abs(at(md::Shift::energy).energy) < 1e-8);
        CHECK(at(md::Shift::energy).force == Approx(at(md::Shift::none).force));
        CHECK(std::abs(at(md::Shift::force).energy) < 1e-8);
        CHECK(std::abs(at(md::Shift::force).force) < 1e-8);
        CHECK(md::pair_value({kind, 1, 1, 2.5, 0.0, md::Shift::none}, 2.5).energy == 0);
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

TEST_CASE("the safe distance bounds every force beyond it") {
    for (const double limit : {100.0, 4096.0, 131072.0}) {
        const md::PotentialSpec spec;
        const double safe = std::sqrt(md::smallest_safe_r2(spec, std::array{limit})[0]);
        for (double r = safe; r < 2.5; r += 1e-3) CHECK(std::abs(md::pair_value(spec, r).force) <= limit);
        CHECK(std::abs(md::pair_value(spec, safe - 0.01).force) > limit);
    }
    CHECK(md::smallest_safe_r2({"lennard_jones", 1, 1.2, 2.5, 0.75, md::Shift::force}, std::array{4096.0})[0] == 0);  // softened: finite everywhere
}
