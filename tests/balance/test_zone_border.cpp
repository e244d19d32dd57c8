// SPDX-License-Identifier: MIT
// Where accelerators may compute, against brute force on small grids: the room, its strips, the blocks and the border.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "balance/model/work.hpp"
#include "balance/sides.hpp"
#include "balance/team.hpp"
#include "balance/zone/border.hpp"
#include "random_machine.hpp"
#include "random_partition.hpp"

using namespace balance;

namespace {

// A rank's part of a small grid, and loads.
struct Case {
    Grid grid;
    Region region;
    std::vector<std::int64_t> load;
    int width;
    explicit Case(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const bool deep = random() % 3 == 0;
        const auto cells = [&] { return static_cast<int>(1 + random() % (deep ? 6 : 12)); };
        grid.cells = {cells(), cells(), deep ? cells() : 1};
        grid.periodic = {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
        width = static_cast<int>(1 + random() % 2);
        const int boxes = static_cast<int>(std::min<std::int64_t>(grid.box().cells(), 1 + random() % 12));
        const std::uint64_t others = random() % 4;  // in 10 boxes
        for (const Box& b : even_partition(grid, boxes))
            if (random() % 10 >= others) region.push_back(b);
        for (std::int64_t c = 0; c < grid.box().cells(); ++c)
            load.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 100));
    }
    std::int64_t place(int x, int y, int z) const { return place_in(grid.box(), x, y, z); }
    std::int64_t load_of(const Box& box) const {
        std::int64_t sum = 0;
        for_each_cell(box, [&](int x, int y, int z) { sum += load[place(x, y, z)]; });
        return sum;
    }
    ZoneRoom room() const {
        return zone_room(grid, region, ZoneReach::inner, width, [this](const Box& b) { return load_of(b); });
    }
    // Whether each cell is the rank's, and no cell of others is near.
    std::vector<bool> inner() const {
        std::vector<bool> mine(grid.box().cells()), inside(grid.box().cells());
        for (const Box& b : region) for_each_cell(b, [&](int x, int y, int z) { mine[place(x, y, z)] = true; });
        for_each_cell(grid.box(), [&](int x, int y, int z) {
            bool all = mine[place(x, y, z)];
            for_each_around(grid, x, y, z, width, [&](std::int64_t other) { all = all && mine[other]; });
            inside[place(x, y, z)] = all;
        });
        return inside;
    }
};

// Load and cells of the largest box of inner cells: all boxes are tried.
std::pair<std::int64_t, std::int64_t> largest_by_force(const Case& c) {
    const std::vector<bool> inner = c.inner();
    std::pair<std::int64_t, std::int64_t> most{0, 0};
    for_each_cell(c.grid.box(), [&](int x, int y, int z) {
        for_each_cell({{x, y, z}, c.grid.cells}, [&](int u, int v, int w) {
            const Box box{{x, y, z}, {u + 1, v + 1, w + 1}};
            bool all = true;
            for_each_cell(box, [&](int i, int j, int k) { all = all && inner[c.place(i, j, k)]; });
            if (all) most = std::max(most, std::pair{c.load_of(box), box.cells()});
        });
    });
    return most;
}

std::vector<std::int64_t> loads_of_strips(const Case& c, const ZoneRoom& room) {
    std::vector<std::int64_t> loads;
    for (int s = 0; s < room.strips(); ++s) {
        const Region strip = room.strips_between(s, s + 1);
        REQUIRE(strip.size() == 1);
        loads.push_back(c.load_of(strip[0]));
    }
    return loads;
}

}  // namespace

TEST_CASE("the room of the accelerators is the largest block that no other rank sees") {
    int found = 0;
    for (int seed = 0; seed < 300; ++seed) {
        const Case c(seed);
        CAPTURE(seed);
        const ZoneRoom room = c.room();
        const auto [load, cells] = largest_by_force(c);
        CHECK(cells_in(room.boxes) == cells);
        CHECK(room.boxes.empty() == (room.strips() == 0));
        if (room.boxes.empty()) continue;
        ++found;
        REQUIRE(room.boxes.size() == 1);
        const Box& box = room.boxes[0];
        CHECK(c.load_of(box) == load);
        const std::vector<bool> inner = c.inner();
        for_each_cell(box, [&](int x, int y, int z) { CHECK(inner[c.place(x, y, z)]); });
        CHECK(room.strips() == std::max({box.extent(0), box.extent(1), box.extent(2)}));
    }
    CHECK(found > 100);
}

TEST_CASE("a rank that has the whole grid may give all of it to its accelerators") {
    for (const std::array<int, 3> cells : {std::array{40, 17, 1}, {5, 6, 7}, {1, 1, 1}, {3, 9, 1}}) {
        const Grid grid{cells, {true, true, true}};
        const ZoneRoom room = zone_room(grid, even_partition(grid, std::min<std::int64_t>(5, grid.box().cells())),
                                        ZoneReach::inner, 2, [](const Box& b) { return b.cells(); });
        CHECK(room.boxes == Region{grid.box()});
        CHECK(room.first(room.strips()) == Region{grid.box()});
        CHECK(room.strips() == *std::max_element(cells.begin(), cells.end()));
    }
    const Grid grid{{40, 17, 1}, {true, true, true}};
    for (const ZoneReach reach : {ZoneReach::inner, ZoneReach::border})
        CHECK(zone_room(grid, {}, reach, 1, [](const Box& b) { return b.cells(); }).strips() == 0);
}

TEST_CASE("ranks of a partition keep their accelerators away from each other") {
    const Grid grid{{30, 24, 1}, {true, true, false}};
    for (int seed = 0; seed < 60; ++seed) {
        const Partition p = random_partition(grid, 3, seed);
        const std::vector<int> owners = owners_of(grid, p);
        for (int rank = 0; rank < 3; ++rank) {
            const Region region(p.boxes.begin() + p.first[rank], p.boxes.begin() + p.first[rank + 1]);
            const ZoneRoom room = zone_room(grid, region, ZoneReach::inner, 1, [](const Box& b) { return b.cells(); });
            CAPTURE(seed, rank);
            for (const Box& box : room.boxes)
                for_each_cell(box, [&](int x, int y, int z) {
                    CHECK(owners[place_in(grid.box(), x, y, z)] == rank);
                    for_each_around(grid, x, y, z, 1, [&](std::int64_t other) { CHECK(owners[other] == rank); });
                });
        }
    }
}

TEST_CASE("a room up to the border holds all cells of the rank, box by box, each touching those before if any does") {
    for (int seed = 0; seed < 300; ++seed) {
        const Case c(seed);
        CAPTURE(seed);
        const auto load_of = [&](const Box& b) { return c.load_of(b); };
        const ZoneRoom room = zone_room(c.grid, c.region, ZoneReach::border, c.width, load_of);
        CHECK(std::is_permutation(room.boxes.begin(), room.boxes.end(), c.region.begin(), c.region.end()));
        int strips = 0;
        for (std::size_t k = 0; k < room.boxes.size(); ++k) {
            const Box& b = room.boxes[k];
            const int longest = std::max({b.extent(0), b.extent(1), b.extent(2)});
            CHECK(room.strips_between(strips, strips + longest) == Region{b});
            strips += longest;
            const auto faces = [&](const Box& box) {  // shared with the boxes before
                std::int64_t n = 0;
                for (std::size_t i = 0; i < k; ++i)
                    for_each_cell(box, [&](int x, int y, int z) {
                        for (int a = 0; a < 3; ++a)
                            for (const int step : {-1, 1}) {
                                std::array<int, 3> at{x, y, z};
                                at[a] += step;
                                if (c.grid.periodic[a]) at[a] = (at[a] + c.grid.cells[a]) % c.grid.cells[a];
                                n += room.boxes[i].contains(at);
                            }
                    });
                return n;
            };
            for (std::size_t other = k + 1; other < room.boxes.size(); ++other) {
                if (k == 0) CHECK(load_of(b) >= load_of(room.boxes[other]));
                CHECK((faces(b) > 0 || faces(room.boxes[other]) == 0));
            }
        }
        CHECK(room.strips() == strips);
    }
}

TEST_CASE("blocks of several accelerators are disjoint, in order and of equal load within a strip") {
    for (int seed = 0; seed < 300; ++seed) {
        const Case c(seed);
        const ZoneReach reach = seed % 3 == 0 ? ZoneReach::inner : ZoneReach::border;
        const ZoneRoom room = zone_room(c.grid, c.region, reach, c.width, [&](const Box& b) { return c.load_of(b); });
        const std::vector<std::int64_t> strips = loads_of_strips(c, room);
        for (int border = 0; border <= room.strips(); ++border)
            for (const int accelerators : {1, 2, 3, 5}) {
                CAPTURE(seed, border, accelerators);
                const std::vector<ZoneBlock> blocks = zone_blocks(room, border, accelerators, strips);
                std::vector<std::int64_t> loads(accelerators, 0);
                Region all;
                int last = 0;
                for (const ZoneBlock& b : blocks) {
                    CHECK(!b.box.empty());
                    CHECK(b.accelerator >= last);
                    last = b.accelerator;
                    REQUIRE(last < accelerators);
                    loads[last] += c.load_of(b.box);
                    all.push_back(b.box);
                }
                CHECK(cells_in(all) == cells_in(room.first(border)));
                CHECK(without(room.first(border), all).empty());
                const std::int64_t strip = border == 0 ? 0 : *std::max_element(strips.begin(), strips.begin() + border);
                const std::int64_t sum = std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
                CHECK(*std::max_element(loads.begin(), loads.end()) <= (sum + accelerators - 1) / accelerators + strip);
            }
    }
}

TEST_CASE("accelerators share their side's work, however many blocks each of them has") {
    const Grid grid{{8, 4, 1}, {true, true, false}};
    const Box left{{0, 0, 0}, {2, 4, 1}}, right{{5, 0, 0}, {8, 4, 1}};
    const SerialTeam alone;
    const std::vector<std::int64_t> work(grid.box().cells(), to_ticks(1));
    for (const int accelerators : {1, 2}) {
        const Zones zones{{{left, 0}, {right, accelerators - 1}}, {0, 2}};
        const Decomposition owners(grid, one_box_each({grid.box()}), Hosts(1, 1), {4, 4}, zones);
        const std::vector<double> times = side_times(alone, owners, work, std::array{2.5});
        CHECK(times == std::vector{12.0, 20 / (2.5 * accelerators)});
    }
}

TEST_CASE("share and border say the same, and a larger share has a later border") {
    std::mt19937_64 random(1);
    for (int run = 0; run < 300; ++run) {
        std::vector<std::int64_t> strips(random() % 30);
        for (std::int64_t& s : strips) s = static_cast<std::int64_t>(1 + random() % 50);
        const std::int64_t total =
            std::accumulate(strips.begin(), strips.end(), std::int64_t{0}) + static_cast<std::int64_t>(random() % 500);
        CAPTURE(run, total);
        const int count = static_cast<int>(strips.size());
        for (int border = 0; border <= count; ++border)
            CHECK(border_at(strips, total, share_at(strips, total, border)) == border);
        int before = 0;
        for (double share = -0.1; share <= 1.1; share += 0.003) {
            const int border = border_at(strips, total, share);
            CHECK(border >= before);
            before = border;
            for (int other = 0; other <= count; ++other)  // none is nearer
                CHECK(std::abs(share_at(strips, total, border) - share) <=
                      std::abs(share_at(strips, total, other) - share) + 1e-12);
        }
    }
    const std::vector<std::int64_t> empty{0, 5, 0, 0};
    CHECK(border_at(empty, 10, 0.5) == 2);  // of borders with the same load the first
    CHECK(border_at(empty, 0, 0.5) == 0);
    CHECK(share_at(empty, 0, 3) == 0);
    CHECK(share_at(empty, 10, 4) == 0.5);
}
