// SPDX-License-Identifier: MIT
// Regions against sets of cells: what is inside, around and left of them, and where they are cut.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "balance/nested/split.hpp"
#include "random_machine.hpp"
#include "random_partition.hpp"

using namespace balance;

namespace {

using Cells = std::set<std::int64_t>;

Cells cells_of(const Grid& grid, const Region& region) {
    Cells cells;
    for (const Box& b : region)
        for (int x = b.lower[0]; x < b.upper[0]; ++x)
            for (int y = b.lower[1]; y < b.upper[1]; ++y)
                for (int z = b.lower[2]; z < b.upper[2]; ++z) CHECK(cells.insert(place_in(grid.box(), x, y, z)).second);
    return cells;
}

// Some boxes of the grid, and its loads.
struct Case {
    Grid grid;
    Region region, other;
    std::vector<std::int64_t> load;
    explicit Case(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const bool deep = random() % 2 == 0;
        grid.cells = {static_cast<int>(1 + random() % 9), static_cast<int>(3 + random() % 9),
                      deep ? static_cast<int>(2 + random() % 4) : 1};
        grid.periodic = {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
        for (const Box& b : even_partition(grid, std::min<std::int64_t>(grid.box().cells(), 12)))
            (random() % 3 > 0 ? region : other).push_back(b);
        if (region.empty()) std::swap(region, other);
        for (std::int64_t c = 0; c < grid.box().cells(); ++c)
            load.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 100));
    }
};

}  // namespace

TEST_CASE("the inner part of a region and the cells around it are those of brute force") {
    for (int seed = 0; seed < 400; ++seed) {
        const Case c(seed);
        CAPTURE(seed);
        const Cells region = cells_of(c.grid, c.region);
        for (const int width : {1, 2}) {
            Cells inner, around;
            std::int64_t place = 0;
            for (int x = 0; x < c.grid.cells[0]; ++x)
                for (int y = 0; y < c.grid.cells[1]; ++y)
                    for (int z = 0; z < c.grid.cells[2]; ++z, ++place) {
                        if (!region.count(place)) continue;
                        bool inside = true;
                        for_each_around(c.grid, x, y, z, width, [&](std::int64_t cell) {
                            if (region.count(cell)) return;
                            inside = false;
                            around.insert(cell);
                        });
                        if (inside) inner.insert(place);
                    }
            CHECK(cells_of(c.grid, inner_part(c.region, c.grid, width)) == inner);
            CHECK(cells_of(c.grid, cells_around(c.region, c.grid, width)) == around);
        }
        CHECK(cells_of(c.grid, without(Region{c.grid.box()}, c.region)) == cells_of(c.grid, c.other));
    }
}

TEST_CASE("a cut is off by half a cell, keeps every cell, and gives each side what it needs") {
    for (int seed = 0; seed < 400; ++seed) {
        const Case c(seed);
        CAPTURE(seed);
        const LoadsByCell loads(c.grid.box(), c.load);
        const auto total = static_cast<double>(load_in(c.region, loads));
        const std::int64_t cells = cells_in(c.region), heaviest = *std::max_element(c.load.begin(), c.load.end());
        for (const double part : {0.0, 0.13, 0.5, 0.9, 1.0}) {
            const auto sides = cut(c.region, loads, axes_by_length(bounds_of(c.region)), {part * total, 0, 0, 0});
            CHECK(std::abs(static_cast<double>(load_in(sides.first, loads)) - part * total) <=
                  0.5 * static_cast<double>(heaviest));
            Region both = sides.first;
            both.insert(both.end(), sides.second.begin(), sides.second.end());
            CHECK(cells_of(c.grid, both) == cells_of(c.grid, c.region));
            const auto kept = cut(c.region, loads, {1, 0, 2}, {part * total, 0, cells / 3, cells / 2});
            CHECK(cells_in(kept.first) >= cells / 3);
            CHECK(cells_in(kept.second) >= cells / 2);
            const auto straight = cut(c.region, loads, {1, 0, 2}, {part * total, total, 0, 0});
            CHECK((straight.first.empty() || straight.second.empty() ||
                   bounds_of(straight.first).upper[1] <= bounds_of(straight.second).lower[1]));
        }
    }
}

TEST_CASE("cells of a box by their places are consecutive in any order of axes") {
    const Box box{{2, 1, 0}, {6, 4, 5}};
    const Grid grid{{8, 8, 8}, {}};
    for (const std::array<int, 3>& axes : {std::array{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
        std::vector<Cells> first;  // so many cells
        for (std::int64_t n = 0; n <= box.cells(); ++n) {
            Region region;
            add_cells(box, axes, 0, n, region);
            first.push_back(cells_of(grid, region));
            CHECK(static_cast<std::int64_t>(first.back().size()) == n);
            CHECK(region.size() <= 3);
            if (n > 0) CHECK(std::includes(first[n].begin(), first[n].end(), first[n - 1].begin(), first[n - 1].end()));
        }
        for (const auto& [begin, end] : {std::pair{3, 50}, {0, 60}, {17, 18}, {20, 40}}) {
            Region region;
            add_cells(box, axes, begin, end, region);
            Cells joined_cells = cells_of(grid, region), expected = first[end];
            for (const std::int64_t cell : first[begin]) expected.erase(cell);
            CHECK(joined_cells == expected);
        }
    }
}

TEST_CASE("an exact split balances to a fraction of the heaviest cell") {
    const Grid grid{{40, 30, 1}, {}};
    std::mt19937_64 random(3);
    std::vector<std::int64_t> load;
    for (std::int64_t c = 0; c < grid.box().cells(); ++c)
        load.push_back(800 + static_cast<std::int64_t>(random() % 401));
    const LoadsByCell loads(grid.box(), load);
    for (const int n : {2, 7, 24, 60}) {
        std::vector<PartNeed> parts;
        for (int p = 0; p < n; ++p) parts.push_back({p % 3 == 0 ? 2.0 : 1.0, 1});
        double speed = 0, slowest = 0, total = 0;
        for (const PartNeed& p : parts) speed += p.speed;
        const std::vector<Region> regions = split_exactly({grid.box()}, loads, parts, 1e-3);
        for (int p = 0; p < n; ++p) {
            const auto l = static_cast<double>(load_in(regions[p], loads));
            total += l, slowest = std::max(slowest, l / parts[p].speed);
        }
        CHECK(total == static_cast<double>(load_in({grid.box()}, loads)));
        CHECK(slowest < std::max(1.005 * total / speed, total / speed + 0.2 * 1200));  // of the heaviest cell
    }
}
