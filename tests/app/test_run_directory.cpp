// SPDX-License-Identifier: MIT
// Which states belong to which run.
#include <catch2/catch.hpp>

#include "app/deck/compare.hpp"
#include "app/output/lineage.hpp"

using app::is_moment_of;
using app::Lineage;

TEST_CASE("a state is a moment of the runs that went through it, and of no others") {
    // Run 1 from step 0; at step 30 somebody went back and began 2; from its step 50 began 3, from the same step 4.
    const Lineage one{{1, 0}}, two{{1, 0}, {2, 30}}, three{{1, 0}, {2, 30}, {3, 50}}, four{{1, 0}, {2, 30}, {4, 50}};
    for (const Lineage& run : {one, two, three, four}) {
        CHECK(is_moment_of(run, 70, run));
        CHECK(is_moment_of(one, 30, run));
        CHECK_FALSE(is_moment_of({{9, 0}}, 0, run));
        CHECK_FALSE(is_moment_of({}, 0, run));  // not known
    }
    CHECK(is_moment_of(two, 50, three));
    CHECK(is_moment_of(two, 40, four));
    CHECK_FALSE(is_moment_of(one, 31, two));  // the run left it before
    CHECK_FALSE(is_moment_of(two, 51, three));
    CHECK_FALSE(is_moment_of(three, 50, four));
    CHECK_FALSE(is_moment_of(two, 30, one));  // a later start
}

TEST_CASE("what differs between two decks is named key by key") {
    const std::string text = R"(
system:
  box: [40.0, 30.0]
  slabs:
    - {lower: [4, 4], upper: [18, 25], density: 1.0}
run: {dt: 0.001, steps: 10}
)";
    const app::Deck deck = app::parse_deck(text, "test.yaml");
    CHECK(app::changes(deck, deck).empty());
    const auto changed = app::changes(deck, app::parse_deck(text, "test.yaml",
                                                            {"run.dt=0.002", "system.slabs.0.velocity=[1, 2]",
                                                             "balance.compare=[a1, b1]", "balance.clock=work"}));
    REQUIRE(changed.size() == 4);
    CHECK((changed[0].key == "system.slabs.0.velocity" && changed[0].before == "[0, 0]" && changed[0].now == "[1, 2]"));
    CHECK((changed[1].key == "run.dt" && changed[1].before == "0.001" && changed[1].now == "0.002"));
    CHECK((changed[2].key == "balance.clock" && changed[2].before == "wall" && changed[2].now == "work"));
    CHECK((changed[3].key == "balance.compare" && changed[3].before == "[]" && changed[3].now == "[a1, b1]"));
}
