// SPDX-License-Identifier: MIT
// What a member of a growing team does for a balancing, and what it keeps of the others.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "balance/model/evaluate.hpp"
#include "balance/partition/neighbourhood.hpp"
#include "balance/partition/partition.hpp"
#include "balance/partition/quality.hpp"
#include "balance/partition/scattered.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

constexpr int cells_a_side = 12;  // of a member's home: the grid grows with the team
Grid grid_for(int members) {
    int across = 1;
    while (across * across < members) across *= 2;
    return {{across * cells_a_side, members / across * cells_a_side, 1}, {true, true, false}};
}

struct Balancing {
    ThreadTeam::Counts counts;
    std::int64_t bytes = 0;
};
// The second of two balancings with r1 and strips, one process on each member: the first one's loads are arbitrary.
Balancing balance_once(const Team& team) {
    const Grid grid = grid_for(team.size());
    const Homes homes{grid, team.size()};
    const Box home = homes.of(team.rank());
    const Hosts hosts(team.size(), team.size());
    const auto model = make_model("r1", ModelConstants{});
    std::vector<CellCounts> counts;
    std::vector<double> state;
    std::vector<std::int64_t> particles;
    for (int x = home.lower[0]; x < home.upper[0]; ++x)
        for (int y = home.lower[1]; y < home.upper[1]; ++y) {
            const int n = 2 + (x * 7 + y * 5) % 4 + (std::abs(x - grid.cells[0] / 2) < grid.cells[0] / 8 ? 3 : 0);
            counts.push_back({n, 8 * n, 22 * n});
            state.push_back(model->first_state(counts.back()));
            particles.push_back(n);
        }
    PartitionOptions options;
    options.processes = team.size();
    ProcessBoxes kept = even_processes(grid, team.size(), hosts.processes_of(team.rank()));
    Scattered<Split> splits;
    ThreadTeam::Counts before;
    for (int round = 0; round < 2; ++round) {
        before = ThreadTeam::counts_of(team);
        const ProcessBoxes around = around_home(team, grid, kept);
        const Owners owners(grid, home, around);
        const std::vector<std::int64_t> sums = sums_by_process(team, owners, particles, team.size());
        const std::vector<double> times{static_cast<double>(sums[team.rank()])};
        const CellLoads loads =
            evaluate(*model, team, grid, ProcessCells::at_home(team, grid, around, hosts), counts, state, times);
        kept = make_partition({team, grid, hosts, loads.load, particles}, options, splits);
        sums_by_process(team, Owners(grid, home, around_home(team, grid, kept)), loads.load, team.size());
    }
    const ThreadTeam::Counts after = ThreadTeam::counts_of(team);
    return {{after.messages - before.messages, after.collectives - before.collectives}, kept.bytes() + splits.bytes()};
}

}  // namespace

TEST_CASE("a member's messages, collective calls and memory do not grow with the team, but for logarithms") {
    for (const int members : {2, 4, 8, 16, 32, 64}) {
        const auto all = ThreadTeam::run(members, balance_once);
        std::int64_t collectives = 0, messages = 0, bytes = 0;  // collectives: also in blocks of the team, which differ
        for (const Balancing& b : all) {
            collectives = std::max(collectives, b.counts.collectives);
            messages = std::max(messages, b.counts.messages);
            bytes = std::max(bytes, b.bytes);
        }
        const double levels = std::log2(members);
        CAPTURE(members, messages, collectives, bytes);
        CHECK(static_cast<double>(collectives) < 30 + 2 * levels);
        CHECK(static_cast<double>(messages) < 40 + 8 * levels);  // eight deliveries
        CHECK(bytes < 1000);
    }
}

TEST_CASE("what is kept in parts comes back whole on every member") {
    const Grid grid{{23, 17, 1}, {true, false, false}};
    for (const int members : {1, 2, 3, 7}) {
        const Partition partition = random_partition(grid, 9, members);
        const std::vector<Split> splits{{0, 3}, {1, 1}, {-1, 0}, {0, 1}, {1, 2}};
        const auto good = ThreadTeam::run(members, [&](const Team& team) {
            const ProcessBoxes part = hosted_of(partition, Hosts(9, members), team.rank());
            const Scattered<Split> list(team, splits), none(team, {});
            return static_cast<int>(whole(team, part) == partition && list.whole(team) == splits &&
                                    none.whole(team).empty());
        });
        CHECK(good == std::vector<int>(members, 1));
    }
}
