// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>

#include "balance/partition/decomposition.hpp"

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
            for (std::int64_t p = 0; p < n; ++p) CHECK(patches[p] == even_part(grid.box(), n, p));
            CHECK(static_cast<std::int64_t>(patches.size()) == n);
            check_tiling(grid.box(), patches);
            if (grid.box().cells() >= 50 * n) {
                const double mean = static_cast<double>(grid.box().cells()) / static_cast<double>(n);
                for (const Box& p : patches) CHECK(static_cast<double>(p.cells()) == Approx(mean).epsilon(0.35));
            }
        }
    for (int x = 1; x <= 6; ++x)
        for (int y = 1; y <= 6; ++y)  // down to one cell a process
            for (int n = 1; n <= x * y; ++n)
                check_tiling({{0, 0, 0}, {x, y, 1}}, even_partition({{x, y, 1}, {false, false, false}}, n));
}

TEST_CASE("tiles tile their box, half to one and a half times as wide as asked") {
    for (const TileShape shape : {TileShape{1, 1}, {4, 9}, {5, 5}, {16, 128}})
        for (const Box& box :
             {Box{{3, -2, 0}, {36, 21, 1}}, Box{{0, 0, 0}, {1, 400, 1}}, Box{{31, 100, 0}, {33, 130, 1}}}) {
            const std::vector<Box> tiles = split_into_tiles(box, shape);
            check_tiling(box, tiles);
            for (const Box& t : tiles)
                for (const int a : {0, 1}) {
                    CHECK(2 * t.extent(a) < 3 * shape[a] + 1);
                    CHECK((2 * t.extent(a) >= shape[a] || t.extent(a) == box.extent(a)));
                }
        }
}

TEST_CASE("where a side of a box moves, tiles away from it stay") {
    const TileShape shape{16, 32};
    const auto count_kept = [&](const Box& a, const Box& b) {
        const std::vector<Box> before = split_into_tiles(a, shape), after = split_into_tiles(b, shape);
        return std::count_if(before.begin(), before.end(),
                             [&](const Box& t) { return std::find(after.begin(), after.end(), t) != after.end(); });
    };
    const Box box{{0, 0, 0}, {160, 128, 1}};
    CHECK(count_kept(box, {{0, 0, 0}, {161, 128, 1}}) == 9 * 4);
    CHECK(count_kept(box, {{3, 0, 0}, {160, 128, 1}}) == 9 * 4);
    CHECK(count_kept(box, {{0, 0, 0}, {160, 125, 1}}) == 10 * 3);
}

TEST_CASE("joined boxes are the same cells, and a bisected box becomes whole again") {
    const Box whole{{2, 3, 0}, {32, 20, 1}};
    // Halves at different heights and widths, as a bisection leaves them.
    const std::vector<Box> leaves{{{2, 3, 0}, {9, 11, 1}},   {{9, 3, 0}, {15, 11, 1}}, {{2, 11, 0}, {5, 20, 1}},
                                  {{5, 11, 0}, {15, 20, 1}}, {{15, 3, 0}, {32, 5, 1}}, {{15, 5, 0}, {20, 20, 1}},
                                  {{20, 5, 0}, {32, 20, 1}}};
    CHECK((joined(leaves) == std::vector<Box>{whole}));
    for (std::size_t missing = 0; missing < leaves.size(); ++missing) {
        std::vector<Box> some = leaves;
        some.erase(some.begin() + static_cast<std::ptrdiff_t>(missing));
        std::vector<Box> boxes = joined(some);
        CHECK(boxes.size() < some.size());
        boxes.push_back(leaves[missing]);
        check_tiling(whole, boxes);
    }
    CHECK(joined({}).empty());
}

TEST_CASE("in space tiles get smaller where threads would get fewer than two") {
    const Grid grid{{40, 40, 40}, {true, true, true}, 3}, small{{11, 11, 11}, {true, true, true}, 3};
    CHECK((choose_tile(grid, 3.0, 64) == TileShape{5, 5, 5}));
    CHECK(split_into_tiles(small.box(), choose_tile(small, 3.0, 1)).size() == 1);
    CHECK(split_into_tiles(small.box(), choose_tile(small, 3.0, 2)).size() == 8);
    CHECK((choose_tile(small, 3.0, 1000) == TileShape{4, 4, 4}));
}

TEST_CASE("in space the tiles of a grid are about equal") {
    for (int cells = 16; cells < 200; ++cells)
        for (const int threads : {1, 2}) {
            CAPTURE(cells, threads);
            const Grid grid{{cells, 2 * cells, 60}, {true, true, true}, 3};
            std::int64_t least = INT64_MAX, most = 0;
            const std::vector<Box> tiles = split_into_tiles(grid.box(), choose_tile(grid, 3.0, threads));
            for (const Box& b : tiles) {
                least = std::min(least, b.cells());
                most = std::max(most, b.cells());
            }
            CHECK(most <= 2 * least);
        }
}

TEST_CASE("tiles get lower where threads would get too few, and where cells are high") {
    const Grid grid{{284, 327, 1}, {true, true, false}};
    CHECK((choose_tile(grid, 2.5, 1) == TileShape{24, 192}));
    CHECK((choose_tile(grid, 2.5, 2) == TileShape{24, 192}));
    CHECK((choose_tile(grid, 2.5, 5) == TileShape{16, 128}));
    CHECK((choose_tile(grid, 2.5, 1000) == TileShape{16, 32}));
    CHECK((choose_tile(grid, 5.0, 1) == TileShape{24, 96}));
    CHECK((choose_tile(grid, 1.0, 1) == TileShape{24, 192}));
    CHECK((choose_tile({{3, 3, 1}, {true, true, false}}, 10.0, 1) == TileShape{16, 16}));
}

TEST_CASE("ranks host consecutive blocks of processes; both directions agree") {
    for (const int ranks : {1, 2, 3, 7, 16})
        for (const std::int64_t n : {16, 17, 40, 100}) {
            const Grid grid{{50, 40, 1}, {true, true, false}};
            const Decomposition d(grid, one_box_each(even_partition(grid, n)), Hosts(n, ranks), {8, 8});
            std::int64_t next = 0;
            for (int r = 0; r < ranks; ++r) {
                const IndexRange mine = d.processes_of(r);
                CHECK(mine.begin == next);
                CHECK(mine.size() >= n / ranks);
                for (std::int64_t p = mine.begin; p < mine.end; ++p) CHECK(d.rank_of(p) == r);
                next = mine.end;
            }
            CHECK(next == n);
        }
    const Hosts unequal({0, 0, 5, 6, 6});  // members without a process, too
    for (std::int64_t p = 0; p < 6; ++p) CHECK(unequal.member_of(p) == (p < 5 ? 1 : 2));
    CHECK((unequal.members() == 4 && unequal.processes() == 6 && unequal.processes_of(3).size() == 0));
}

TEST_CASE("the neighbour search finds what a scan of all tiles finds") {
    const Grid grid{{57, 43, 1}, {true, false, false}};
    // Two patches a process, and a process without any.
    Partition partition = one_box_each(even_partition(grid, 36));
    std::vector<std::int64_t> first{0, 0};
    for (std::int64_t b = 2; b <= 36; b += 2) first.push_back(b);
    partition.first = first;
    const Decomposition d(grid, partition, Hosts(19, 3), {8, 8});
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
                const std::vector<int> ranks = d.ranks_around(box);
                CHECK(std::is_sorted(ranks.begin(), ranks.end()));
                for (const TileId& id : found)
                    CHECK(std::count(ranks.begin(), ranks.end(), d.rank_of(id.process)) == 1);
            }
}

TEST_CASE("a partition from a file is one only when every cell has exactly one owner") {
    const Grid grid{{12, 9, 1}, {true, true, false}};
    const auto box = [](int x0, int y0, int x1, int y1) { return Box{{x0, y0, 0}, {x1, y1, 1}}; };
    for (std::int64_t processes : {1, 2, 5, 36, 108})
        CHECK(is_partition_of(one_box_each(even_partition(grid, processes)), grid));
    // A wheel around a middle box, which no bisection makes; a process with two boxes, one with none.
    const Partition wheel{{box(0, 0, 8, 3), box(8, 0, 12, 6), box(4, 6, 12, 9), box(0, 3, 4, 9), box(4, 3, 8, 6)},
                          {0, 2, 2, 5}};
    CHECK(is_partition_of(wheel, grid));
    const auto changed = [&](auto change) {
        Partition p = wheel;
        change(p);
        return is_partition_of(p, grid);
    };
    CHECK_FALSE(changed([](Partition& p) { p.boxes.pop_back(), --p.first.back(); }));  // a hole
    CHECK_FALSE(changed([&](Partition& p) { p.boxes[4] = box(3, 3, 7, 6); }));   // as many cells, one column twice
    CHECK_FALSE(changed([&](Partition& p) { p.boxes[4] = box(4, 2, 8, 5); }));   // one row twice
    CHECK_FALSE(changed([&](Partition& p) { p.boxes[1] = box(8, 0, 14, 4); }));  // beyond the grid
    CHECK_FALSE(changed([&](Partition& p) { p.boxes[1] = p.boxes[2]; }));        // the same box twice
    CHECK_FALSE(
        changed([&](Partition& p) { p.boxes.push_back(box(3, 3, 3, 6)), ++p.first.back(); }));  // a box without cells
    CHECK_FALSE(changed([](Partition& p) { p.first = {0, 3, 2, 5}; }));
    CHECK_FALSE(changed([](Partition& p) { p.first = {1, 2, 5}; }));
    CHECK_FALSE(changed([](Partition& p) { p.first = {0, 2, 4}; }));
    CHECK_FALSE(changed([](Partition& p) { p.first = {0}; }));
    CHECK_FALSE(changed([](Partition& p) { p.first.clear(); }));
}
