// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <map>
#include <stdexcept>

#include "balance/decomposition.hpp"

using namespace balance;

namespace {

// Each cell of `whole` is in exactly one of `boxes`.
void check_tiling(const Box& whole, const std::vector<Box>& boxes) {
    std::map<std::array<int, 3>, int> seen;
    for (const Box& b : boxes) {
        CHECK_FALSE(b.empty());
        for (int x = b.lower[0]; x < b.upper[0]; ++x)
            for (int y = b.lower[1]; y < b.upper[1]; ++y) ++seen[{x, y, 0}];
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == whole.cells());
    for (const auto& [cell, n] : seen) {
        if (n != 1 || !whole.contains(cell)) FAIL("a cell is owned " << n << " times");
    }
}

}  // namespace

TEST_CASE("an even partition tiles the grid with patches of nearly equal size") {
    for (const std::array<int, 3> cells : {std::array{1, 1, 1}, {7, 1, 1}, {3, 3, 1}, {40, 17, 1}, {101, 64, 1}})
        for (const std::int64_t n : {1, 2, 3, 4, 7, 9, 40, 100}) {
            const Grid grid{cells, {true, true, false}};
            CAPTURE(cells[0], cells[1], n);
            if (n > grid.box().cells()) {
                CHECK_THROWS_AS(even_partition(grid, n), std::invalid_argument);
                continue;
            }
            const std::vector<Box> patches = even_partition(grid, n);
            CHECK(static_cast<std::int64_t>(patches.size()) == n);
            check_tiling(grid.box(), patches);
            if (grid.box().cells() >= 50 * n) {
                const double mean = static_cast<double>(grid.box().cells()) / static_cast<double>(n);
                for (const Box& p : patches) CHECK(static_cast<double>(p.cells()) == Approx(mean).epsilon(0.35));
            }
        }
    for (int x = 1; x <= 6; ++x)
        for (int y = 1; y <= 6; ++y)  // down to one cell a process
            for (int n = 1; n <= x * y; ++n) check_tiling({{0, 0, 0}, {x, y, 1}}, even_partition({{x, y, 1}, {false, false, false}}, n));
}

TEST_CASE("tiles tile their patch within the limit") {
    for (const int side : {1, 4, 5, 32}) {
        const Box patch{{3, -2, 0}, {36, 21, 1}};
        const std::vector<Box> tiles = split_into_tiles(patch, side);
        for (const Box& t : tiles) CHECK((t.extent(0) <= side && t.extent(1) <= side));
        std::int64_t cells = 0;
        for (const Box& t : tiles) cells += t.cells();
        CHECK(cells == patch.cells());
    }
}

TEST_CASE("ranks host consecutive blocks of processes; both directions agree") {
    for (const int ranks : {1, 2, 3, 7, 16})
        for (const std::int64_t n : {16, 17, 40, 100}) {
            const Grid grid{{50, 40, 1}, {true, true, false}};
            const Decomposition d(grid, one_box_each(even_partition(grid, n)), ranks, 8);
            std::int64_t next = 0;
            for (int r = 0; r < ranks; ++r) {
                const Range mine = d.processes_of(r);
                CHECK(mine.begin == next);
                CHECK(mine.size() >= n / ranks);
                for (std::int64_t p = mine.begin; p < mine.end; ++p) CHECK(d.rank_of(p) == r);
                next = mine.end;
            }
            CHECK(next == n);
        }
}

TEST_CASE("the neighbour search finds what a scan of all tiles finds") {
    const Grid grid{{57, 43, 1}, {true, false, false}};
    // Two patches a process, and a process without any.
    Partition partition = one_box_each(even_partition(grid, 36));
    std::vector<std::int64_t> first{0, 0};
    for (std::int64_t b = 2; b <= 36; b += 2) first.push_back(b);
    partition.first = first;
    const Decomposition d(grid, partition, 3, 8);
    CHECK(d.processes() == 19);
    CHECK(d.tiles_of(0).empty());
    for (int x = -3; x < 60; x += 4)
        for (int y = -3; y < 46; y += 3)
            for (const int w : {1, 5, 20}) {
                const Box box{{x, y, 0}, {x + w, y + w / 2 + 1, 1}};
                std::vector<TileId> found, expected;
                d.for_each_tile_in(box, [&](const TileId& id, const Box& cells) {
                    found.push_back(id);
                    CHECK(cells == d.tiles_of(id.process)[id.tile]);
                });
                for (std::int64_t p = 0; p < d.processes(); ++p) {
                    const std::vector<Box> tiles = d.tiles_of(p);
                    for (int t = 0; t < static_cast<int>(tiles.size()); ++t)
                        if (!intersection(tiles[t], box).empty()) expected.push_back({p, t});
                }
                CHECK((found == expected));
            }
}
