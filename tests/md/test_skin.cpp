// SPDX-License-Identifier: MIT
// The search for the cheapest skin, on made-up costs of a step.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "md/skin.hpp"

namespace {

// Pairs grow with the square or cube of the reach, rebuilds come as often as the skin is thin.
double forces(double skin, int dimensions = 2) { return 2.5 * 2.5 * std::pow(1 + skin / 2.5, dimensions); }

}  // namespace

TEST_CASE("the search for the skin ends close to the cheapest one and never tries what the cells forbid") {
    const double rebuild = GENERATE(0.05, 0.3, 1.0, 4.0), start = GENERATE(0.1, 0.3, 0.6),
                 widest = GENERATE(0.6, 0.9, 3.0);
    const int dimensions = GENERATE(2, 3);
    const auto passes = [dimensions](double skin) { return forces(skin, dimensions); };
    const auto cost = [passes](double skin, double each) { return passes(skin) + each / skin; };
    md::SkinSearch search(dimensions, 2.5, start, widest);
    int disturbed = 0;
    double tried = 1e300;
    for (int i = 0; search.searching(); ++i) {
        REQUIRE(i < 60);
        REQUIRE(search.skin() <= widest + 1e-12);
        REQUIRE(search.skin() > 0.04);
        const double slower = disturbed++ % 3 ? 5.0 : 1.0;  // two trials of three are disturbed
        tried = std::min(tried, cost(search.skin(), rebuild));
        search.add(slower * passes(search.skin()), slower * rebuild / search.skin());
    }
    CHECK(cost(search.skin(), rebuild) <= 1.03 * tried);  // a narrower one is taken where it costs hardly more
    double best = 1e300;
    for (double skin = 0.05; skin <= widest; skin += 0.01) best = std::min(best, cost(skin, rebuild));
    CAPTURE(dimensions, rebuild, start, widest, search.skin());
    CHECK(cost(search.skin(), rebuild) < 1.03 * best);
}

TEST_CASE("the search turns round where the costs of rebuilds point the wrong way") {
    // Rows are computed in groups of lanes, so a skin that is a little too wide can cost far more than the square says.
    const auto in_steps = [](double skin) { return forces(skin) * (skin < 0.3 ? 1 : skin < 0.4 ? 1.25 : 1.5); };
    md::SkinSearch search(2, 2.5, 0.34, 2.0);
    while (search.searching()) search.add(in_steps(search.skin()), 1.2 / search.skin());
    CHECK(search.skin() < 0.3);
    CHECK(search.skin() > 0.25);
    md::SkinSearch at_the_widest(2, 2.5, 0.34, 0.34);
    while (at_the_widest.searching()) at_the_widest.add(in_steps(at_the_widest.skin()), 1.2 / at_the_widest.skin());
    CHECK(at_the_widest.skin() == search.skin());
}

TEST_CASE("a skin that costs far more is tried once") {
    const auto rows = [](double skin) { return forces(skin) * (skin < 0.35 ? 1 : 1.4); };
    md::SkinSearch search(2, 2.5, 0.3, 2.0);
    int wider = 0;
    while (search.searching()) {
        wider += search.skin() > 0.35;
        search.add(rows(search.skin()), 1.2 / search.skin());
    }
    CHECK(wider == 1);
    CHECK(search.skin() < 0.35);
    SECTION("but not given up for a disturbance of one trial") {
        md::SkinSearch disturbed(2, 2.5, 0.3, 2.0);
        for (int i = 0; disturbed.searching(); ++i) {
            const double slower = i % 3 == 0 ? 1.5 : 1.0;
            disturbed.add(slower * forces(disturbed.skin()), slower * 6.0 / disturbed.skin());
        }
        CHECK(disturbed.skin() > 0.5);
    }
}

TEST_CASE("the search starts again, from the skin in use, and follows a change") {
    md::SkinSearch search(2, 2.5, 0.3, 2.0);
    while (search.searching()) search.add(forces(search.skin()), 0.3 / search.skin());
    const double first = search.skin();
    int rebuilds = 0;
    for (; !search.searching(); ++rebuilds) {
        REQUIRE(search.skin() == first);
        search.add(0, 0);
    }
    CHECK(rebuilds == 16);
    while (search.searching()) search.add(forces(search.skin()), 4.0 / search.skin());
    CHECK(search.skin() > 1.5 * first);
}
