// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>
#include <utility>

#include "balance/grid/for_each.hpp"
#include "balance/partition/plan.hpp"

using namespace balance;

namespace {

int wrap(int c, int n) { return ((c % n) + n) % n; }

std::vector<Move> incoming_and_local(const Plan& plan) {
    std::vector<Move> all = plan.local;
    for (const PeerMoves<Move>& link : plan.links) all.insert(all.end(), link.incoming.begin(), link.incoming.end());
    return all;
}

PeerMoves<Move> link_with(const Plan& plan, int rank) {
    for (const PeerMoves<Move>& link : plan.links)
        if (link.member == rank) return link;
    return {rank, {}, {}};
}

template <class Use>
void for_each_place(const Box& box, Use use) {
    for_each_cell(box, [&](int x, int y, int z) { use(std::array{x, y, z}); });
}

// All images of the cells around the tiles of a rank come once, from their owner.
void check_halos(const Decomposition& d, int rank, int width, const Plan& plan) {
    const Grid& grid = d.grid();
    for (std::int64_t p = d.processes_of(rank).begin; p < d.processes_of(rank).end; ++p) {
        const std::vector<Box> tiles = d.tiles_of(p);
        for (int t = 0; t < static_cast<int>(tiles.size()); ++t) {
            std::map<std::array<int, 3>, int> filled;
            for (const Move& m : incoming_and_local(plan)) {
                if (m.target != TileId{p, t}) continue;
                const Box owner = d.tiles_of(m.source.process)[m.source.tile];
                for_each_place(m.box, [&](std::array<int, 3> c) {
                    REQUIRE(owner.contains(c));
                    for (int a = 0; a < 3; ++a) c[a] += m.image[a] * grid.cells[a];
                    ++filled[c];
                });
            }
            std::size_t expected = 0;
            const std::size_t found = filled.size();
            for_each_place(with_halo(tiles[t], halo_of(grid, width)), [&](const std::array<int, 3>& c) {
                bool there = !tiles[t].contains(c);
                for (int a = 0; a < 3; ++a) there = there && (grid.periodic[a] || wrap(c[a], grid.cells[a]) == c[a]);
                expected += there;
                REQUIRE(filled[c] == there);
            });
            CHECK(found == expected);
        }
    }
}

}  // namespace

TEST_CASE("a halo plan fills every cell of a halo once, from its owner, and both sides list the same") {
    std::vector<Grid> grids;
    for (const std::array<int, 3> cells : {std::array{12, 9, 1}, {5, 4, 1}, {2, 2, 1}})
        for (const std::array<bool, 3> periodic :
             {std::array{true, true, false}, {true, false, false}, {false, false, false}})
            grids.push_back({cells, periodic, 2});
    for (const std::array<int, 3> cells : {std::array{7, 5, 6}, {5, 2, 4}, {2, 3, 2}})
        for (const std::array<bool, 3> periodic :
             {std::array{true, true, true}, {true, false, true}, {false, false, true}, {false, false, false}})
            grids.push_back({cells, periodic, 3});
    for (const Grid& grid : grids)
        for (const int ranks : {1, 2, 3})
            for (const std::int64_t processes : {3, 4})
                for (const int width : {1, 2}) {
                    const Decomposition d(grid, one_box_each(even_partition(grid, processes)), Hosts(processes, ranks),
                                          {3, 3, 3});
                    std::vector<Plan> plans;
                    for (int r = 0; r < ranks; ++r) plans.push_back(halo_plan(d, r, width));
                    for (int r = 0; r < ranks; ++r) {
                        check_halos(d, r, width, plans[r]);
                        for (int other = 0; other < ranks; ++other) {
                            if (other == r) continue;
                            CHECK((link_with(plans[r], other).outgoing == link_with(plans[other], r).incoming));
                        }
                    }
                }
}

TEST_CASE("a halo wider than a periodic axis is refused") {
    const Grid grid{{2, 9, 1}, {true, true, false}};
    const Decomposition d(grid, one_box_each(even_partition(grid, 1)), Hosts(1, 1), {8, 8});
    CHECK_THROWS_AS(halo_plan(d, 0, 3), std::invalid_argument);
}

TEST_CASE("a move plan takes every cell from its old tile to its new one, and both sides list the same") {
    const Grid grid{{23, 17, 1}, {true, true, false}};
    // The same cells cut in other places, and dealt to other ranks.
    const auto decomposition = [&](int shift, std::vector<std::int64_t> hosts) {
        const int x = 8 + shift, y = 5 + shift;
        return Decomposition(
            grid,
            one_box_each(
                {{{0, 0, 0}, {x, y, 1}}, {{x, 0, 0}, {23, y, 1}}, {{0, y, 0}, {x, 17, 1}}, {{x, y, 0}, {23, 17, 1}}}),
            Hosts(std::move(hosts)), {4, 4});
    };
    const Decomposition old = decomposition(0, {0, 1, 3, 4});
    for (const int shift : {0, 1, 4})
        for (const std::vector<std::int64_t>& hosts : {std::vector<std::int64_t>{0, 1, 3, 4}, {0, 2, 2, 4}}) {
            const Decomposition next = decomposition(shift, hosts);
            std::vector<Plan> plans;
            for (int r = 0; r < 3; ++r) plans.push_back(move_plan(old, next, r));
            std::map<std::array<int, 3>, int> moved;
            for (int r = 0; r < 3; ++r) {
                for (const Move& m : incoming_and_local(plans[r])) {
                    CHECK(next.rank_of(m.target.process) == r);
                    const Box from = old.tiles_of(m.source.process)[m.source.tile],
                              to = next.tiles_of(m.target.process)[m.target.tile];
                    for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x)
                        for (int y = m.box.lower[1]; y < m.box.upper[1]; ++y) {
                            REQUIRE((from.contains({x, y, 0}) && to.contains({x, y, 0})));
                            ++moved[{x, y, 0}];
                        }
                }
                for (int other = 0; other < 3; ++other)
                    CHECK((link_with(plans[r], other).outgoing == link_with(plans[other], r).incoming));
            }
            // A cell moves once, or not at all where its tile and rank stay the same.
            for (int x = 0; x < 23; ++x)
                for (int y = 0; y < 17; ++y) {
                    const auto tile_at = [&](const Decomposition& d) {
                        std::pair<int, Box> found{-1, grid.box()};
                        d.for_each_tile_in({{x, y, 0}, {x + 1, y + 1, 1}}, [&](const TileId& id, const Box& cells) {
                            found = {d.rank_of(id.process), cells};
                        });
                        return found;
                    };
                    REQUIRE(moved[{x, y, 0}] == (tile_at(old) == tile_at(next) ? 0 : 1));
                }
        }
}

TEST_CASE(
    "a block of an accelerator is a tile of its own, behind the tiles of its rank, and moves when it changes sides") {
    const Grid grid{{12, 9, 1}, {true, true, false}};
    const Box block{{2, 3, 0}, {4, 7, 1}};
    const auto with = [&](std::vector<ZoneBlock> blocks) {
        const auto n = static_cast<std::int64_t>(blocks.size());
        return Decomposition(grid, one_box_each(even_partition(grid, 4)), Hosts(4, 2), {3, 3},
                             {std::move(blocks), {0, n, n}});
    };
    const Decomposition none = with({}), first = with({{block, 0}}), second = with({{block, 1}});
    for (const Decomposition* d : {&first, &second}) {
        std::int64_t cells = 0;
        for (const int rank : {0, 1})
            for (const Box& tile : d->tiles_of_rank(rank)) {
                cells += tile.cells();
                CHECK((tile == block || intersection(tile, block).empty()));
            }
        CHECK(cells == grid.box().cells());
        const std::vector<Box> of_last = d->tiles_of(1);  // of rank 0
        CHECK(of_last.back() == block);
        for (int t = 0; t < static_cast<int>(of_last.size()); ++t)
            CHECK(d->accelerator_of({1, t}) == (of_last[t] == block ? (d == &first ? 0 : 1) : -1));
    }
    // The same cells, computed by somebody else; and by the same.
    const auto moves_block = [&](const Decomposition& old, const Decomposition& next) {
        const Plan plan = move_plan(old, next, 0);
        return std::any_of(plan.local.begin(), plan.local.end(), [&](const Move& m) { return m.box == block; });
    };
    CHECK(moves_block(first, second));
    CHECK_FALSE(moves_block(first, first));
    std::int64_t moved = 0;
    for (const Move& m : move_plan(none, first, 0).local)
        if (first.accelerator_of(m.target) == 0) moved += m.box.cells();
    CHECK(moved == block.cells());
}
