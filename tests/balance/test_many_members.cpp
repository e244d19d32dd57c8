// SPDX-License-Identifier: MIT
// Rounds on more members than a test has threads for: these take turns.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "balance/model/cell_counts.hpp"
#include "balance/model/counted_work.hpp"
#include "balance/round.hpp"
#include "turn_team.hpp"

using namespace balance;

namespace {

constexpr int processes = 300, rounds = 3;
const Grid grid{{140, 130, 1}, {true, false, false}};

std::int32_t particles_at(int x, int y, int round) {
    return 2 + (x * 7 + y * 5) % 4 + (std::abs(x - 60 - 4 * round) < 12 ? 9 : 0);
}

struct Story {
    std::vector<BalanceRow> rows;
    std::vector<ResourceRow> resources;
    Partition partition;
    double worth = 0;
    std::int64_t times_known = 0;  // of a round, how many the member knows
};

Story play(const Team& team) {
    Policy policy;
    policy.clock = BalanceClock::work;
    policy.criterion.name = "every";
    policy.partition = {.processes = processes, .sticky = true};
    policy.counting = {{.cell = 1e-9, .particle = 8e-9, .candidate = 1e-9, .pair = 4e-9}, {2.5, 2.5, 2.5}};
    policy.counting.work.slow = {.fraction = 0.1};
    const Setting setting{team, grid, {processes, team.size()}, policy, no_meter};
    Balancing state = make_balancing(setting, {}, "r1");
    const Box home = setting.home();
    Story story;
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::int32_t> particles;
        std::vector<std::int64_t> neighbours;
        for (int x = home.lower[0]; x < home.upper[0]; ++x)
            for (int y = home.lower[1]; y < home.upper[1]; ++y) {
                const std::int32_t n = particles_at(x, y, round);
                particles.push_back(n);
                neighbours.push_back(std::int64_t{n} * n * 3);
            }
        HomeCells cells{counts_around(team, grid, particles), {}};
        const CountedCells counted{home, policy.counting.cell_width, cells.counts, neighbours};
        if (round > 0) cells.work = counted_work(policy.counting.work, counted);
        Measured measured;
        measured.moment = {10 * round, 10 * (round - 1), {}};
        measured.first = round == 0;
        RoundOutcome outcome = rebalance(setting, std::move(cells), measured, state);
        story.rows.insert(story.rows.end(), outcome.rows.begin(), outcome.rows.end());
        story.resources.insert(story.resources.end(), outcome.resources.begin(), outcome.resources.end());
        story.times_known = std::ssize(outcome.seconds);
    }
    story.worth = state.worth.even;
    story.partition = whole(team, state.models.front().partition);
    return story;
}

auto values_of(const BalanceRow& r) {
    return std::tuple(r.step, r.lbe, r.mean_seconds, r.max_seconds, r.lbe_model, r.moved.cells, r.moved.particles,
                      r.ghost_cells, r.ghost_bytes, r.lbe_observed, r.decision, r.lbe_reachable);
}
auto values_of(const ResourceRow& r) { return std::tuple(r.step, r.process, r.speed, r.load, r.seconds); }
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::ranges::equal(a, b, [](const T& p, const T& q) { return values_of(p) == values_of(q); });
}

}  // namespace

TEST_CASE("hundreds of members decide what one alone does, and each knows the times of what it hosts alone") {
    const Story expected = play(SerialTeam());
    REQUIRE(expected.rows.size() == rounds - 1);
    REQUIRE(expected.resources.size() == (rounds - 1) * processes);
    CHECK(expected.rows.front().decision == Decision::moved);
    for (const int members : {97, processes}) {
        std::vector<Story> stories(members);
        turns::Turns turns(members, {});
        const auto board = turns::Team::all(turns, members);
        turns.run(std::size_t{1} << 18, [&](int m) { stories[m] = play(turns::Team(board, m)); });
        for (int m = 0; m < members; ++m) {
            const IndexRange hosted = Hosts(processes, members).processes_of(m);
            if (stories[m].times_known != hosted.size()) FAIL("member " << m);
            if (!same(stories[m].rows, expected.rows) || stories[m].worth != expected.worth ||
                stories[m].partition != expected.partition)
                FAIL("member " << m << " of " << members);
        }
        std::vector<ResourceRow> resources;
        for (const Story& s : stories) resources.insert(resources.end(), s.resources.begin(), s.resources.end());
        std::ranges::sort(resources, {}, [](const ResourceRow& r) { return std::pair(r.step, r.process); });
        CHECK(same(resources, expected.resources));
    }
}

TEST_CASE("members by turns: members that all wait are told of") {
    turns::Turns turns(3, {});
    const auto board = turns::Team::all(turns, 3);
    CHECK_THROWS_AS(turns.run(std::size_t{1} << 18,
                              [&](int m) {
                                  std::int64_t one = 1;
                                  if (m > 0) turns::Team(board, m).sum(std::span(&one, 1));
                              }),
                    std::logic_error);
}
