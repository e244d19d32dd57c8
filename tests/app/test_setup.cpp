// SPDX-License-Identifier: MIT
// Facts of the engine that follow from a deck.
#include <catch2/catch.hpp>
#include <string>

#include "app/deck/setup.hpp"

using namespace app;

TEST_CASE("the halo is as wide as the way of a particle between two rebuilds") {
    const std::string text = R"(
system:
  box: [80, 40]
  slabs: [{lower: [1, 1], upper: [79, 39], density: 0.6}]
run: {dt: 0.001, steps: 10}
)";
    for (const char* cell : {"2.5", "4", "6"})
        for (const char* skin : {"0.1", "1", "3"}) {
            const Deck deck =
                parse_deck(text, "test.yaml", {std::string("grid.cell=") + cell, std::string("grid.skin=") + skin});
            const Setup s = make_setup(deck, "");
            for (const md::Axis& axis : s.domain.axes())
                CHECK(s.halo * axis.least_width() >= s.skin / 2 + axis.cell_width());
        }
}
