// SPDX-License-Identifier: MIT
// Fields over grids of two and three axes: sums over boxes, the way from homes to boxes and back, joined boxes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>

#include "balance/model/load_model.hpp"
#include "balance/partition/bisection.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/partition/loads.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid grids[] = {{{13, 9, 1}, {}}, {{1, 30, 1}, {}}, {{7, 5, 6}, {}}, {{1, 4, 9}, {}}, {{6, 1, 5}, {}}};

std::int64_t value_at(int x, int y, int z) { return 1 + (x * 31 + y * 17 + z * 11) % 23; }

std::vector<std::int64_t> values_of(const Box& box) {
    std::vector<std::int64_t> values;
    for_each_cell(box, [&](int x, int y, int z) { values.push_back(value_at(x, y, z)); });
    return values;
}
std::int64_t sum_of(const Box& box) {
    const std::vector<std::int64_t> values = values_of(box);
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}
Box random_box(const Grid& grid, std::mt19937_64& random) {
    Box b;
    for (int a = 0; a < 3; ++a) {
        b.lower[a] = static_cast<int>(random() % grid.cells[a]);
        b.upper[a] = b.lower[a] + 1 + static_cast<int>(random() % (grid.cells[a] - b.lower[a]));
    }
    return b;
}

}  // namespace

TEST_CASE("values of three axes go to boxes and back, whatever the team") {
    for (const Grid& grid : grids) {
        const Partition p = random_partition(grid, 5, 3);
        for (const int members : {1, 2, 3, 7}) {
            CAPTURE(grid.cells[0], grid.cells[2], members);
            const auto good = ThreadTeam::run(members, [&](const Team& team) -> int {
                const Homes homes{grid, team.size()};
                const Box home = homes.of(team.rank());
                const IndexRange here = block(std::ssize(p.boxes), team.rank(), members);
                const std::vector<Box> mine(p.boxes.begin() + here.begin, p.boxes.begin() + here.end);
                const FieldPlan plan(team, homes, mine);
                const std::vector<std::int64_t> field = values_of(home);
                const std::vector<std::int64_t> values = plan.to_boxes(std::span<const std::int64_t>(field));
                std::vector<std::int64_t> expected;
                for (const Box& b : mine) {
                    const std::vector<std::int64_t> of_box = values_of(b);
                    expected.insert(expected.end(), of_box.begin(), of_box.end());
                }
                std::vector<std::int64_t> back(field.size(), -1);
                plan.to_home(std::span<const std::int64_t>(values), std::span(back));
                return values == expected && back == field;
            });
            CHECK(good == std::vector<int>(members, 1));
        }
    }
}

namespace {

template <class T>
bool comes_back(const std::vector<T>& values) {
    std::vector<T> back(values.size());
    unpack(packed(std::span<const T>(values)), std::span(back));
    return std::memcmp(back.data(), values.data(), values.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("packed values come back bit by bit, and those that are alike take few bytes") {
    std::mt19937_64 random(5);
    for (const std::size_t n : {1, 2, 63, 64, 65, 128, 1000})
        for (int bits = 0; bits <= 64; bits += 3) {
            CAPTURE(n, bits);
            std::vector<std::int64_t> numbers(n);
            std::vector<double> doubles(n);
            std::vector<CellCounts> counts(n);
            const std::uint64_t mask = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits), common = random();
            for (std::size_t i = 0; i < n; ++i) {
                const auto word = [&] { return static_cast<std::int32_t>((random() & mask) ^ common); };
                numbers[i] = static_cast<std::int64_t>((random() & mask) ^ common);
                const std::uint64_t pattern = (random() & mask) ^ common;
                std::memcpy(&doubles[i], &pattern, sizeof pattern);
                counts[i] = {word(), word(), word()};
            }
            CHECK(comes_back(numbers));
            CHECK(comes_back(doubles));
            CHECK(comes_back(counts));
            std::vector<Split> splits(n);
            for (std::size_t i = 0; i < n; ++i) splits[i] = {counts[i].n, counts[i].n3};
            CHECK(comes_back(splits));
            const std::vector<std::byte> bytes = packed(std::span<const std::int64_t>(numbers));
            for (const std::size_t other : {n - 1, n + 1}) {
                std::vector<std::int64_t> others(other);
                CHECK_THROWS_AS(unpack(bytes, std::span(others)), std::logic_error);
            }
            const std::size_t size = bytes.size();
            CHECK(size <= n * ((bits + 7) / 8) + (n + 63) / 64 * 9 + 16);
        }
}

TEST_CASE("stretches of equal values come back among others, and count for little") {
    constexpr std::int64_t words = 3, stretch = packing::stretch, equal = packing::equal_stretch;
    std::mt19937 random(6);
    for (int kinds = 0; kinds < 5 * 5 * 5; ++kinds) {
        std::vector<CellCounts> counts;
        std::int64_t expected = 0;
        for (const int kind :
             {kinds % 5, kinds / 5 % 5, kinds / 25}) {  // which word differs, 0: none; 4: no stretch here
            const std::int64_t n = kind == 4 ? 0 : stretch;
            for (std::int64_t i = 0; i < n; ++i) {
                CellCounts c{5, 5, 5};
                if (kind > 0) (kind == 1 ? c.n : kind == 2 ? c.n3 : c.n5) += static_cast<std::int32_t>(random() % 7);
                counts.push_back(c);
            }
            expected += n == 0 ? 0 : words * (kind == 0 ? equal : stretch);
        }
        for (int i = 0; i < kinds % 3; ++i) counts.push_back({1, 2, 3});
        if (kinds % 3 > 0) expected += words * equal;
        CAPTURE(kinds);
        CHECK(comes_back(counts));
        CHECK(numbers_in<CellCounts>(packed(std::span<const CellCounts>(counts))) == expected);
    }
}

TEST_CASE("where members have many cells fields go packed, in a fraction of their bytes") {
    const Grid grid{{230, 190, 1}};
    for (const int members : {2, 5}) {
        REQUIRE(worth_packing(grid.box().cells(), members) == true);
        const Partition p = random_partition(grid, 11, 3);
        const auto share = ThreadTeam::run(members, [&](const Team& team) -> double {
            const Homes homes{grid, members};
            const Box home = homes.of(team.rank());
            const IndexRange here = block(std::ssize(p.boxes), team.rank(), members);
            const std::vector<Box> mine(p.boxes.begin() + here.begin, p.boxes.begin() + here.end);
            const FieldPlan plan(team, homes, mine);
            const std::vector<std::int64_t> field = values_of(home);
            std::vector<CellCounts> counts;
            for (const std::int64_t v : field) counts.push_back({std::int32_t(v), std::int32_t(9 * v), 7});
            const std::vector<std::int64_t> values = plan.to_boxes(std::span<const std::int64_t>(field));
            const auto sent = static_cast<double>(ThreadTeam::counts_of(team).largest_transfer);
            const std::vector<CellCounts> there = plan.to_boxes(std::span<const CellCounts>(counts));
            std::vector<std::int64_t> back(field.size(), -1), expected;
            const std::int64_t numbers = plan.to_home(std::span<const std::int64_t>(values), std::span(back));
            std::vector<std::int64_t> nothing(field.size());
            const std::int64_t few = plan.to_home(
                std::span<const std::int64_t>(std::vector<std::int64_t>(values.size())), std::span(nothing));
            if (numbers != plan.packed_values() || 4 * few > numbers) return 8.0;
            for (const Box& b : mine) std::ranges::copy(values_of(b), std::back_inserter(expected));
            bool right = values == expected && back == field;
            for (std::size_t i = 0; right && i < there.size(); ++i)
                right = there[i].n == expected[i] && there[i].n3 == 9 * expected[i] && there[i].n5 == 7;
            return right ? sent / static_cast<double>(plan.packed_values() * sizeof(std::int64_t)) : 9.0;
        });
        for (const double s : share) CHECK(s < 0.3);
    }
}

TEST_CASE("values go between boxes that are each spread over some members, and back") {
    const std::vector<Box> halves{{{0, 0, 0}, {6, 9, 4}}, {{6, 0, 0}, {11, 9, 4}}};
    const EvenParts here{halves, {{0, 3}, {2, 7}}},
        there{{{{0, 0, 0}, {11, 2, 3}}, {{3, 3, 0}, {9, 8, 4}}}, {{1, 2}, {1, 6}}};
    const auto good = ThreadTeam::run(7, [&](const Team& team) {
        const auto values_at = [&](const EvenParts& parts) {
            std::vector<std::int64_t> values;
            for (const Box& b : parts.of(team.rank())) {
                const std::vector<std::int64_t> of_box = values_of(b);
                values.insert(values.end(), of_box.begin(), of_box.end());
            }
            return values;
        };
        const FieldPlan plan(team, here, there);
        const std::vector<std::int64_t> field = values_at(here), expected = values_at(there),
                                        values = plan.to_boxes(std::span(field));
        std::vector<std::int64_t> back(field.size(), 0);
        plan.to_home(std::span(values), std::span(back));
        bool right = values == expected;
        std::size_t at = 0;
        for (const Box& b : here.of(team.rank()))
            for_each_cell(b, [&](int x, int y, int z) {
                const std::array<int, 3> cell{x, y, z};
                const bool moved = there.boxes[0].contains(cell) || there.boxes[1].contains(cell);
                right = right && back[at] == (moved ? field[at] : 0);
                ++at;
            });
        return static_cast<int>(right && at == field.size());
    });
    CHECK(good == std::vector<int>(7, 1));
}

TEST_CASE("sums over boxes of two and three axes are those of their cells at home, or count them") {
    std::mt19937_64 random(5);
    for (const Grid& grid : grids)
        for (const int member : {0, 2, 3}) {
            const Box home = Homes{grid, 4}.of(member);
            const SummedArea sums(home, values_of(home)), uniform(home, {});
            for (int i = 0; i < 50; ++i) {
                const Box box = random_box(grid, random), here = intersection(box, home);
                CHECK(sums.of(box) == sum_of(here));
                CHECK(uniform.of(box) == here.cells());
                const int axis = i % 3, each = 1 + i % 4;
                const std::size_t bundles = (box.extent(axis) + each - 1) / each;
                std::vector<std::int64_t> expected(bundles, i), lines = expected, counted = expected, cells = expected;
                for (std::size_t k = 0; k < bundles; ++k) {
                    Box bundle = box;
                    bundle.lower[axis] += static_cast<int>(k) * each;
                    bundle.upper[axis] = std::min(box.upper[axis], bundle.lower[axis] + each);
                    expected[k] += sum_of(intersection(bundle, home));
                    cells[k] += intersection(bundle, home).cells();
                }
                sums.add_lines(box, axis, lines, each);
                uniform.add_lines(box, axis, counted, each);
                CHECK(lines == expected);
                CHECK(counted == cells);
            }
        }
}

TEST_CASE("loads of blocks are exact between blocks, add up, and are even inside a block") {
    std::mt19937_64 random(6);
    for (const Grid& grid : grids)
        for (const int side : {1, 2, 3, 4}) {
            const auto equal = ThreadTeam::run(3, [&](const Team& team) {
                const BlockLoads loads(team, grid, values_of(Homes{grid, team.size()}.of(team.rank())), side);
                return loads.of(grid.box());
            });
            CHECK(equal == std::vector<std::int64_t>(3, sum_of(grid.box())));
            const SerialTeam alone;
            const BlockLoads loads(alone, grid, values_of(grid.box()), side);
            for (int i = 0; i < 50; ++i) {
                const Box box = random_box(grid, random);
                double expected = 0;  // every cell with the mean of its block
                bool whole = true;
                for (int a = 0; a < 3; ++a)
                    whole = whole && box.lower[a] % side == 0 &&
                            (box.upper[a] % side == 0 || box.upper[a] == grid.cells[a]);
                for_each_cell(box, [&](int x, int y, int z) {
                    const std::array<int, 3> lower{x / side * side, y / side * side, z / side * side};
                    const Box block =
                        intersection({lower, {lower[0] + side, lower[1] + side, lower[2] + side}}, grid.box());
                    expected += static_cast<double>(sum_of(block)) / static_cast<double>(block.cells());
                });
                const auto found = static_cast<double>(loads.of(box));
                CHECK(found <= expected + 1e-6);
                CHECK(found > expected - 1 - 1e-6);
                if (whole) CHECK(loads.of(box) == sum_of(box));
            }
        }
}

TEST_CASE("boxes that share a whole side are joined along every axis") {
    for (const Grid& grid : grids) {
        std::vector<Box> cells;
        for_each_cell(grid.box(), [&](int x, int y, int z) { cells.push_back({{x, y, z}, {x + 1, y + 1, z + 1}}); });
        CHECK(joined(cells) == std::vector<Box>{grid.box()});
        cells.erase(cells.begin());
        std::int64_t n = 0;
        for (const Box& b : joined(cells)) n += b.cells();
        CHECK(n == grid.box().cells() - 1);
        CHECK(joined(cells).size() <= 3);
    }
}
