// SPDX-License-Identifier: MIT
// What the ranks find out about each pass together, and when.
#include <catch2/catch.hpp>
#include <random>

#include "app/common/errors.hpp"
#include "app/engine/agreement.hpp"
#include "comm/agreed.hpp"

namespace {

const comm::Communicator& world() {
    static const comm::Communicator c;
    return c;
}

md::StepResult moved_by(double displacement) {
    md::StepResult r;
    r.displacement2 = static_cast<float>(displacement * displacement);
    return r;
}

}  // namespace

TEST_CASE("every rank knows of a displacement beyond the limit before it uses the lists again") {
    std::mt19937 same(3);  // the same numbers on all ranks
    const auto random = [&] { return std::uniform_real_distribution<double>(0, 1)(same); };
    std::int64_t late = 0;
    for (int trial = 0; trial < 200; ++trial) {
        app::Agreement agreement(world(), true);
        double step = 0.01 + random();
        for (int lists = 0; lists < 5; ++lists) {
            const double limit = 20 * (0.1 + random());
            agreement.lists_built(limit);
            CHECK(!agreement.displaced());
            std::vector<double> displacement(world().size(), 0.0);
            double largest = 0;
            for (int pass = 0; pass < 200 && !agreement.displaced(); ++pass) {
                step *= 0.8 + random() / 2;  // grows by at most 1.3
                for (double& d : displacement) d += step * random();
                displacement[pass % world().size()] += step - step * random();
                for (const double d : displacement) largest = std::max(largest, d);
                agreement.add(moved_by(displacement[world().rank()]), 0, true);
                if (largest > limit * 1.000001) CHECK(agreement.displaced());
                if (largest < limit * 0.999999) CHECK(!agreement.displaced());
            }
        }
        agreement.finish();
        late += agreement.passes_late();
    }
    CHECK(late > 1000);
}

TEST_CASE("nobody waits while particles are far from the limit, and everybody where they are near") {
    app::Agreement agreement(world(), true);
    agreement.lists_built(100);
    for (int pass = 1; pass <= 10; ++pass) agreement.add(moved_by(pass), 0, true);
    CHECK(agreement.passes_late() == 9);  // in the first pass no step of a particle is known
    for (int pass = 11; pass <= 100; ++pass) agreement.add(moved_by(pass), 0, true);
    CHECK(agreement.passes_late() == 97);
    CHECK(agreement.passes() == 100);
    CHECK(!agreement.displaced());
    agreement.add(moved_by(101), 0, true);
    CHECK(agreement.displaced());

    app::Agreement at_once(world(), false);
    at_once.lists_built(100);
    for (int pass = 1; pass <= 10; ++pass) at_once.add(moved_by(pass), 0, true);
    CHECK(at_once.passes_late() == 0);
}

TEST_CASE("a particle that leaves the lists unforeseen ends the run on its rank") {
    app::Agreement agreement(world(), true);
    agreement.lists_built(100);
    for (int pass = 1; pass <= 10; ++pass) agreement.add(moved_by(pass), 0, true);
    const bool last = world().rank() == world().size() - 1;
    if (last) CHECK_THROWS_AS(agreement.add(moved_by(150), 0, true), md::SimulationError);
    else agreement.add(moved_by(11), 0, true);
    agreement.finish();
    CHECK(agreement.displaced());
}

TEST_CASE("faults and wishes to stop come one pass late, and at once after a pass that moves nothing") {
    const int last = world().size() - 1;
    for (const bool moved : {true, false}) {
        app::Agreement agreement(world(), true);
        agreement.lists_built(100);
        for (int pass = 1; pass <= 3; ++pass) agreement.add(moved_by(pass), 0, true);
        agreement.add(moved_by(4), world().rank() == last ? 2 : 0, moved);
        CHECK(agreement.stop() == (moved ? 0 : 2));
        agreement.finish();
        CHECK(agreement.stop() == 2);

        md::StepResult faulty = moved_by(5);
        if (world().rank() == last) faulty.fault = {md::FaultKind::speed, 7};
        int passes_ago = -1;
        try {
            agreement.add(faulty, 0, moved);
            agreement.add(moved_by(6), 0, true);
        } catch (const md::SimulationError& e) {
            passes_ago = e.passes_ago;
            CHECK(comm::thrown_by_all(e, world()));
            CHECK(std::string(e.what()) == "particle 7 moves more than a cell in one step");
        }
        CHECK(passes_ago == (moved ? 1 : 0));
    }
}

TEST_CASE("particles that are lost, or there twice, are told by their numbers, as late as faults") {
    const int last = world().size() - 1;
    for (const std::int64_t more : {-2, 0, 3})
        for (const bool moved : {true, false}) {
            CAPTURE(more, moved);
            app::Agreement agreement(world(), true);
            agreement.lists_built(100);
            // Each rank was given 10, and all of them went one rank further.
            const std::int64_t mine = world().rank() == last ? 10 + more : 10;
            for (int pass = 1; pass <= 3; ++pass) agreement.add(moved_by(pass), 0, true, {10, 10});
            std::string text;
            int passes_ago = -1;
            try {
                agreement.add(moved_by(4), 0, moved, {mine, 10});
                agreement.add(moved_by(5), 0, true, {10, 10});
                agreement.finish();
            } catch (const md::SimulationError& e) {
                text = e.what();
                passes_ago = e.passes_ago;
                CHECK(comm::thrown_by_all(e, world()));
            }
            const std::string all = std::to_string(10 * world().size());
            CHECK(text == (more == 0  ? ""
                           : more < 0 ? "2 of " + all + " particles are lost"
                                      : "there are " + std::to_string(10 * world().size() + 3) + " particles, and " +
                                            all + " at the start"));
            CHECK(passes_ago == (more == 0 ? -1 : moved ? 1 : 0));
        }
}

TEST_CASE("an error is thrown by the ranks of the communicator that agreed on it, and by no others") {
    const comm::Communicator half = world().split(world().rank() % 2);
    const auto error_of = [](const comm::Communicator& comm, bool good) -> std::pair<std::string, bool> {
        try {
            comm::require(comm, good, [] { return std::runtime_error("together"); });
        } catch (const comm::Agreed<std::runtime_error>& e) {
            return {e.what(), comm::thrown_by_all(e, world())};
        }
        return {"", false};
    };
    const bool last = world().rank() == world().size() - 1;
    const auto all = error_of(world(), !last), none = error_of(world(), true), part = error_of(half, false);
    CHECK(all == std::pair<std::string, bool>("together", true));
    CHECK(none == std::pair<std::string, bool>("", false));
    CHECK(part == std::pair<std::string, bool>("together", half.size() == world().size()));
    CHECK(!comm::thrown_by_all(std::runtime_error("alone"), world()));
}

TEST_CASE("the first failure of all ranks is thrown on all, with its code, its text and the rank that had it") {
    const int last = world().size() - 1;
    std::string text;
    bool by_all = false;
    try {
        app::agreed(world(), [&] {
            if (world().rank() == last) throw app::InputError(std::string(1001, 'x') + "; remedy");
            return 1;
        });
    } catch (const comm::Agreed<app::InputError>& e) {
        text = e.what();
        by_all = comm::thrown_by_all(e, world());
    }
    const std::string whose = last > 0 ? "rank " + std::to_string(last) + ": " : "";
    CHECK(text == whose + std::string(1001, 'x') + "; remedy");
    CHECK(by_all);
    CHECK(app::agreed(world(), [] { return 7; }) == 7);
}
