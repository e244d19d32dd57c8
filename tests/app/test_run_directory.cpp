// SPDX-License-Identifier: MIT
// Which states belong to which run.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "app/deck/deck.hpp"
#include "app/output/directory/run_json.hpp"
#include "app/output/summary/prediction.hpp"

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

TEST_CASE("a summary.json that somebody has changed is not the end of a run, whatever its values are") {
    CHECK(app::ends_with(R"({"steps": 7, "state_hash": "00000000000000ff"})", 7, 255));
    for (const char* text : {R"({"steps": "x", "state_hash": "00000000000000ff"})", R"({"steps": 7, "state_hash": 3})",
                             R"({"steps": [7]})", R"({"steps": 1e300, "state_hash": null})", R"({"steps": 7})", "[]",
                             R"({"steps": 8, "state_hash": "00000000000000ff"})", "{", ""}) {
        INFO(text);
        CHECK_FALSE(app::ends_with(text, 7, 255));
    }
}

TEST_CASE("a run.json with a step that is no whole number says nothing") {
    app::Trajectory found;
    const auto lineage = [&](const std::string& step) {
        return app::lineage_in(R"({"dt": 0.5, "precision": "mixed", "starts": [{"id": "ff", "step": )" + step + "}]}",
                               found);
    };
    CHECK(lineage("7") == Lineage{{255, 7}});
    for (const char* step : {"1e300", "7.5", "\"7\"", "null", "[7]"}) CHECK(lineage(step).empty());
}

TEST_CASE("a predict.json whose numbers are of another kind is refused") {
    const auto prediction = [](const std::string& particles, const std::string& threads) {
        return app::prediction_in(R"({"particles": )" + particles + R"(, "threads": )" + threads +
                                      R"(, "forecasts": [{"ranks": 2, "step_seconds": 5, "seconds":
                    {"compute": 1, "imbalance": 1, "rebalancing": 1, "communication": 2}}]})",
                                  2, 100);
    };
    CHECK(prediction("100", "3").threads == 3);
    for (const char* particles : {"99", "\"100\"", "[[]]", "null"})
        CHECK_THROWS_AS(prediction(particles, "3"), std::invalid_argument);
    for (const char* threads : {"1e300", "2.5", "\"3\""})
        CHECK_THROWS_AS(prediction("100", threads), std::invalid_argument);
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
