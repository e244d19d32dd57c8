// SPDX-License-Identifier: MIT
// Small grids, loads and machines made at random: for tests of the nested partition that look at every cell.
#pragma once
#include <random>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/nested/nested.hpp"
#include "random_partition.hpp"

/// A case of the nested partition.
struct RandomCase {
    balance::Grid grid;
    std::vector<std::int64_t> load;  // of all cells; empty: uniform
    balance::MachineSpec machine;
    balance::NestedOptions options;

    explicit RandomCase(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const auto number = [&](int from, int to) { return from + static_cast<int>(random() % (to - from + 1)); };
        const bool deep = number(0, 2) == 0;
        const int most = deep ? 7 : number(0, 9) == 0 ? 4 : 22;
        grid.cells = {number(1, most), number(1, most), deep ? number(2, most) : 1};
        grid.periodic = {number(0, 1) == 1, number(0, 1) == 1, number(0, 3) == 1};
        const int nodes = number(1, static_cast<int>(std::min<std::int64_t>(5, grid.box().cells())));
        for (int n = 0; n < nodes; ++n) {
            balance::NodeSpec node;
            node.cpus = number(1, 3), node.cores_per_cpu = number(1, 5);
            node.accelerators = number(0, 1) * number(0, 3);
            node.core_speed = number(1, 3) / 2.0, node.accelerator_speed = number(1, 24) / 2.0;
            machine.nodes.push_back(node);
        }
        options.ghost_width = number(1, 8) == 8 ? 2 : 1;
        options.algorithm =
            number(0, 3) == 0 ? balance::NestedAlgorithm::greedy : balance::NestedAlgorithm::inner_outer;
        const int kind = number(0, 5);
        if (kind == 0) return;
        for (std::int64_t c = 0; c < grid.box().cells(); ++c)
            load.push_back(kind == 1   ? 0
                           : kind == 2 ? number(0, 9)
                           : kind == 3 ? (number(0, 7) == 0) * number(1, 1000)
                           : kind == 4 ? std::int64_t{number(1, 1000)} * 1'000'000'000'000
                                       : number(80, 120) * (c % 5 == 0 ? 7 : 1));
    }
    /// Of a member's home.
    std::vector<std::int64_t> load_at(const balance::Box& home) const {
        std::vector<std::int64_t> part;
        if (load.empty()) return part;
        for_each_cell(home, [&](int x, int y, int z) { part.push_back(load[place_in(grid.box(), x, y, z)]); });
        return part;
    }
    balance::NestedPartition partition(const balance::Team& team) const {
        return nested_partition(team, grid, load_at(balance::Homes{grid, team.size()}.of(team.rank())), machine,
                                options);
    }
};

/// The resource of each cell; -1 where there is none, -2 where there are several.
inline std::vector<int> owners_of(const balance::Grid& grid, const balance::NestedPartition& p) {
    std::vector<int> owner(grid.box().cells(), -1);
    for (std::size_t r = 0; r + 1 < p.first.size(); ++r)
        for (std::int64_t b = p.first[r]; b < p.first[r + 1]; ++b)
            for_each_cell(p.boxes[b], [&](int x, int y, int z) {
                int& o = owner[place_in(grid.box(), x, y, z)];
                o = o == -1 ? static_cast<int>(r) : -2;
            });
    return owner;
}

/// Calls visit(place) for each cell of the grid around another, within `width`, itself left out; some may come several
/// times where the grid wraps around.
template <class Visit>
void for_each_around(const balance::Grid& grid, int x, int y, int z, int width, Visit visit) {
    for (int i = -width; i <= width; ++i)
        for (int j = -width; j <= width; ++j)
            for (int k = -width; k <= width; ++k) {
                std::array<int, 3> c{x + i, y + j, z + k};
                bool outside = false;
                for (int a = 0; a < 3; ++a) {
                    const int n = grid.cells[a];
                    if (grid.periodic[a]) c[a] = ((c[a] % n) + n) % n;
                    outside = outside || c[a] < 0 || c[a] >= n;
                }
                if (!outside && c != std::array{x, y, z}) visit(place_in(grid.box(), c[0], c[1], c[2]));
            }
}
