// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <map>
#include <stdexcept>

#include "balance/plan.hpp"

using namespace balance;

namespace {

int wrap(int c, int n) { return ((c % n) + n) % n; }

}  // namespace

TEST_CASE("a frame plan fills every frame cell once, from its owner, and both sides list the same") {
    for (const std::array<int, 3> cells : {std::array{12, 9, 1}, {5, 4, 1}, {2, 2, 1}})
        for (const std::array<bool, 3> periodic : {std::array{true, true, false}, {true, false, false}, {false, false, false}})
            for (const int ranks : {1, 2, 3})
                for (const std::int64_t processes : {3, 4})
                    for (const int width : {1, 2}) {
                        const Grid grid{cells, periodic};
                        const Decomposition d(grid, one_box_each(even_partition(grid, processes)), ranks, {3, 3});
                        std::vector<FramePlan> plans;
                        for (int r = 0; r < ranks; ++r) plans.push_back(frame_plan(d, r, width));
                        for (int r = 0; r < ranks; ++r) {
                            for (std::int64_t p = d.processes_of(r).begin; p < d.processes_of(r).end; ++p) {
                                const std::vector<Box> tiles = d.tiles_of(p);
                                for (int t = 0; t < static_cast<int>(tiles.size()); ++t) {
                                    std::map<std::array<int, 3>, int> filled;
                                    for (const Move& m : plans[r].incoming) {
                                        if (m.target != TileId{p, t}) continue;
                                        const Box owner = d.tiles_of(m.source.process)[m.source.tile];
                                        for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x)
                                            for (int y = m.box.lower[1]; y < m.box.upper[1]; ++y) {
                                                REQUIRE(owner.contains({x, y, 0}));
                                                ++filled[{x + m.image[0] * cells[0], y + m.image[1] * cells[1], 0}];
                                            }
                                    }
                                    std::size_t expected = 0;
                                    const Box frame = framed(tiles[t], {width, width, 0});
                                    for (int x = frame.lower[0]; x < frame.upper[0]; ++x)
                                        for (int y = frame.lower[1]; y < frame.upper[1]; ++y) {
                                            if (tiles[t].contains({x, y, 0})) continue;
                                            if (!periodic[0] && wrap(x, cells[0]) != x) continue;
                                            if (!periodic[1] && wrap(y, cells[1]) != y) continue;
                                            ++expected;
                                            REQUIRE(filled[{x, y, 0}] == 1);
                                        }
                                    CHECK(filled.size() == expected);
                                }
                            }
                            for (int other = 0; other < ranks; ++other) {
                                if (other == r) continue;
                                std::vector<Move> sent, received;
                                for (const Move& m : plans[r].outgoing)
                                    if (d.rank_of(m.target.process) == other) sent.push_back(m);
                                for (const Move& m : plans[other].incoming)
                                    if (d.rank_of(m.source.process) == r) received.push_back(m);
                                CHECK((sent == received));
                            }
                        }
                    }
}

TEST_CASE("a frame wider than a periodic axis is refused") {
    const Grid grid{{2, 9, 1}, {true, true, false}};
    const Decomposition d(grid, one_box_each(even_partition(grid, 1)), 1, {8, 8});
    CHECK_THROWS_AS(frame_plan(d, 0, 3), std::invalid_argument);
}
