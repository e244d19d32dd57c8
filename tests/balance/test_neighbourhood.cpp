// SPDX-License-Identifier: MIT
// What members learn of the cells around theirs is all that they need: plans made from it are those that the whole
// partition gives.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "balance/partition/neighbourhood.hpp"
#include "balance/partition/plan.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid grids[] = {{{23, 17, 1}, {true, false, false}},
                      {{31, 12, 1}, {true, true, false}},
                      {{16, 16, 1}, {false, false, false}},
                      {{9, 8, 7}, {true, false, true}, 3}};
constexpr std::int64_t processes = 13;

bool same(const Plan& a, const Plan& b) {
    return a.local == b.local &&
           std::ranges::equal(a.links, b.links, [](const PeerMoves<Move>& x, const PeerMoves<Move>& y) {
               return x.member == y.member && x.outgoing == y.outgoing && x.incoming == y.incoming;
           });
}

}  // namespace

TEST_CASE("around a home are all owners of its cells and of those next to it, with all that their members host") {
    for (const Grid& grid : grids)
        for (const int members : {1, 2, 3, 5, 13, 16}) {
            const Partition partition = random_partition(grid, processes, members);
            const Hosts hosts(processes, members);
            const auto known = ThreadTeam::run(members, [&](const Team& team) {
                return around_home(team, grid, hosted_of(partition, hosts, team.rank()));
            });
            for (int m = 0; m < members; ++m) {
                const Box home = Homes{grid, members}.of(m);
                std::set<std::int64_t> needed, members_needed;
                const IndexRange own = hosts.processes_of(m);
                for (std::int64_t p = own.begin; p < own.end; ++p) needed.insert(p);
                const Box frame = with_halo(home, halo_of(grid, 1));
                const ProcessBoxes all = all_of(partition);
                for (std::int64_t p = 0; p < processes && !home.empty(); ++p)
                    for (const Box& b : all.of(p))
                        for (int x = -1; x <= 1; ++x)
                            for (int y = -1; y <= 1; ++y)
                                for (int z = -1; z <= 1; ++z) {
                                    const std::array<int, 3> image{x * grid.periodic[0] * grid.cells[0],
                                                                   y * grid.periodic[1] * grid.cells[1],
                                                                   z * grid.periodic[2] * grid.cells[2]};
                                    if (!intersection(shifted(b, image), frame).empty()) needed.insert(p);
                                }
                for (const std::int64_t p : needed) members_needed.insert(hosts.member_of(p));
                for (const std::int64_t p : needed)
                    for (std::int64_t q = hosts.processes_of(hosts.member_of(p)).begin;
                         q < hosts.processes_of(hosts.member_of(p)).end; ++q) {
                        const auto place = std::ranges::find(known[m].processes, q) - known[m].processes.begin();
                        REQUIRE(place < known[m].size());
                        CHECK(std::ranges::equal(known[m].of(place), all.of(q)));
                    }
                for (const std::int64_t p : known[m].processes) CHECK(members_needed.contains(hosts.member_of(p)));
                CHECK(std::ranges::is_sorted(known[m].processes));
            }
        }
}

TEST_CASE("plans of halos and of migrations need no more than what members are told") {
    for (const Grid& grid : grids)
        for (const int members : {1, 2, 3, 5, 13, 16})
            for (const int width : {1, 2}) {
                const Partition old = random_partition(grid, processes, 7 * members),
                                next = random_partition(grid, processes, 7 * members + 1);
                const Hosts hosts(processes, members);
                constexpr TileShape tile{4, 3, 5};
                const auto good = ThreadTeam::run(members, [&](const Team& team) {
                    const auto local = [&](const Partition& p) {
                        LocalPartition known{hosted_of(p, hosts, team.rank()), {}};
                        known.around_home = around_home(team, grid, known.hosted);
                        return known;
                    };
                    const LocalPartition before = local(old), after = local(next);
                    const MigrationKnowledge known = around_migration(team, grid, before, after, width);
                    const Decomposition of_old(grid, known.before, hosts, tile),
                        of_next(grid, known.after, hosts, tile), whole_old(grid, old, hosts, tile),
                        whole_next(grid, next, hosts, tile);
                    const int r = team.rank();
                    return static_cast<int>(same(move_plan(of_old, of_next, r), move_plan(whole_old, whole_next, r)) &&
                                            same(halo_plan(of_next, r, width), halo_plan(whole_next, r, width)));
                });
                CHECK(good == std::vector<int>(members, 1));
            }
}

TEST_CASE("a decomposition says so where it is asked for more than it knows") {
    const Grid grid{{8, 4, 1}};
    const Partition two = one_box_each({{{0, 0, 0}, {4, 4, 1}}, {{4, 0, 0}, {8, 4, 1}}});
    const Hosts hosts(2, 2);
    const Decomposition first(grid, hosted_of(two, hosts, 0), hosts, {2, 2});
    CHECK(first.tiles_of(0).size() == 4);
    CHECK_THROWS_AS(first.tiles_of(1), std::logic_error);
    CHECK_THROWS_AS(halo_plan(first, 0, 1), std::logic_error);
}
