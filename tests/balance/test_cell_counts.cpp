// SPDX-License-Identifier: MIT
// What is in the cells around each cell, counted at the homes of a team, against a look at every cell of the grid.
#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/model/cell_counts.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

std::int32_t particles_at(int x, int y, int z) {
    return (x * 7 + y * 5 + z * 11) % 13 < 4 ? 0 : (x * 3 + y + z * z) % 9;
}

// In the box of cells up to `reach` away; across a periodic boundary a cell may be met several times.
std::int32_t around(const Grid& grid, int x, int y, int z, int reach) {
    std::int32_t sum = 0;
    const int deep = grid.dimensions == 3 ? reach : 0;
    for (int i = x - reach; i <= x + reach; ++i)
        for (int j = y - reach; j <= y + reach; ++j)
            for (int k = z - deep; k <= z + deep; ++k) {
                std::array<int, 3> c{i, j, k};
                bool inside = true;
                for (int a = 0; a < 3; ++a) {
                    if (grid.periodic[a]) c[a] = (c[a] % grid.cells[a] + grid.cells[a]) % grid.cells[a];
                    inside = inside && c[a] >= 0 && c[a] < grid.cells[a];
                }
                if (inside) sum += particles_at(c[0], c[1], c[2]);
            }
    return sum;
}

}  // namespace

TEST_CASE("homes count what is around their cells, on any number of members") {
    for (const Grid& grid : {Grid{{19, 14, 1}, {true, true, false}}, Grid{{19, 14, 1}, {false, true, false}},
                             Grid{{3, 2, 1}, {true, true, false}}, Grid{{1, 9, 1}, {true, false, false}},
                             Grid{{1, 1, 1}, {true, true, false}}, Grid{{9, 8, 7}, {true, false, true}, 3},
                             Grid{{5, 1, 3}, {false, true, true}, 3}, Grid{{4, 4, 3}, {true, true, true}, 3},
                             Grid{{4, 4, 1}, {true, true, true}, 3}, Grid{{6, 6, 6}, {false, true, true}, 3}})
        for (const int members : {1, 2, 3, 7, 16, 64}) {
            const auto wrong = ThreadTeam::run(members, [&](const Team& team) {
                const Box home = Homes{grid, team.size()}.of(team.rank());
                std::vector<std::int32_t> particles;
                for_each_cell(home, [&](int x, int y, int z) { particles.push_back(particles_at(x, y, z)); });
                const std::vector<CellCounts> counts = counts_around(team, grid, particles);
                int differ = counts.size() != particles.size();
                std::size_t i = 0;
                if (differ == 0)
                    for_each_cell(home, [&](int x, int y, int z) {
                        const CellCounts& c = counts[i++];
                        differ += c.n != particles_at(x, y, z) || c.n3 != around(grid, x, y, z, 1) ||
                                  c.n5 != around(grid, x, y, z, 2);
                    });
                return differ;
            });
            CAPTURE(grid.cells, grid.periodic, members);
            CHECK(wrong == std::vector<int>(members, 0));
        }
}

TEST_CASE("sums of slabs are those of the counts of their cells, along each axis and part of a frame") {
    for (const int dimensions : {2, 3}) {
        const int deep = dimensions == 3 ? 6 : 1, edge = dimensions == 3 ? 2 : 0;
        const Box frame{{-2, -2, -edge}, {9, 13, deep + edge}};
        std::vector<std::int32_t> particles;
        for_each_cell(frame, [&](int x, int y, int z) { particles.push_back(particles_at(x + 2, y + 2, z + edge)); });
        for (const Box& part :
             {Box{{0, 0, 0}, {7, 11, deep}}, Box{{2, 1, 0}, {3, 8, deep}}, Box{{6, 10, 0}, {7, 11, 1}}})
            for (int axis = 0; axis < dimensions; ++axis) {
                std::vector<CountSums> sums(part.extent(axis));
                const std::vector<CellCounts> counts = counts_in(part, dimensions, frame, particles);
                for_each_cell(part, [&](int x, int y, int z) {
                    const CellCounts& c = counts[place_in(part, x, y, z)];
                    const std::int64_t n = c.n;
                    CountSums& s = sums[std::array{x, y, z}[axis] - part.lower[axis]];
                    ++s.cells, s.n += n, s.n_n3 += n * c.n3, s.n_n5 += n * c.n5;
                });
                CAPTURE(dimensions, axis, part.lower, part.upper);
                CHECK(slab_counts(part, dimensions, frame, particles, axis) == sums);
            }
    }
}
