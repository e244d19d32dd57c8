// SPDX-License-Identifier: MIT
// Schedules of messages and overlap change no bit of a run, however the ranks share nodes.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "app/deck/setup.hpp"
#include "tests/app/run.hpp"

using namespace app;

namespace {

constexpr std::int64_t steps = 20;

struct Looks : Observer {
    Due due(std::int64_t step) const override { return {step % 7 == 0, step == steps, false, false}; }
};

const char* const colliding = R"(
system:
  box: [80.0, 60.0]
  boundary: [periodic, reflecting]
  slabs:
    - {lower: [4, 6], upper: [38, 45], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [12.0, 1.0]}
    - {lower: [40, 10], upper: [76, 55], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [-12.0, 0.0]}
run: {dt: 0.0005, steps: 20}
grid: {tile: 6}
balance: {every: 9, clock: work, migrate: always}
)";

std::uint64_t hash_of(const std::vector<std::string>& settings) {
    const auto change = [](Setup& setup, const Deck& deck) { setup.network = network_of(deck.comm, test::world()); };
    test::Run<Looks> run(colliding, settings, {.change = change});
    return run.steps(0, steps).engine.state_hash();
}

// Whether the combination of settings with this sum of indices is tried: of more than three ranks one in three, of
// which the sums are multiples of 3. There each setting still meets each pair of others.
bool runs(std::size_t sum) { return test::world().size() <= 3 || sum % 3 == 0; }

}  // namespace

TEST_CASE("one hash, whatever the schedule, the overlap and the nodes") {
    const std::uint64_t hash = hash_of({"comm.order=plain", "comm.aggregate=none", "comm.overlap=none"});
    const std::vector<std::string> orders = balance::all_words<comm::MessageOrder>(),
                                   aggregates = balance::all_words<comm::Aggregate>(),
                                   overlaps = balance::all_words<comm::Overlap>(), nodes{"auto", "1", "2", "3"};
    for (std::size_t o = 0; o < orders.size(); ++o)
        for (std::size_t a = 0; a < aggregates.size(); ++a)
            for (std::size_t l = 0; l < overlaps.size(); ++l)
                for (std::size_t n = 0; n < nodes.size(); ++n) {
                    if (orders[o] != "near_first" && nodes[n] == "3") continue;
                    if (!runs(o + a + l + n)) continue;
                    CAPTURE(orders[o], aggregates[a], overlaps[l], nodes[n]);
                    CHECK(hash_of({"comm.order=" + orders[o], "comm.aggregate=" + aggregates[a],
                                   "comm.overlap=" + overlaps[l], "comm.ranks_per_node=" + nodes[n]}) == hash);
                }
}

TEST_CASE("limits of messages change no bit either") {
    const std::uint64_t hash = hash_of({});
    const std::array<std::string, 3> aggregates{"process", "node", "auto"}, thresholds{"1", "300", "auto"},
        pieces{"64", "1000", "auto"};
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t t = 0; t < 3; ++t)
            for (std::size_t p = 0; p < 3; ++p) {
                if (!runs(a + t + p)) continue;
                CAPTURE(aggregates[a], thresholds[t], pieces[p]);
                CHECK(hash_of({"comm.aggregate=" + aggregates[a], "comm.threshold_bytes=" + thresholds[t],
                               "comm.piece_bytes=" + pieces[p], "comm.ranks_per_node=1"}) == hash);
            }
}
