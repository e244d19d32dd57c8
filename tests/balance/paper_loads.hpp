// SPDX-License-Identifier: MIT
// The model test of Liu, Yang & Yang (2018): a grid of 1600 x 320 cells and machines of nodes with 2 CPUs of 12 cores.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "balance/nested/nested.hpp"
#include "balance/partition/region.hpp"

inline balance::Grid paper_grid() { return {{1600, 320, 1}, {true, true, false}}; }

/// accelerators: of each node, as fast as 12 cores; -1: 0 to 3 at random.
inline balance::MachineSpec paper_machine(int nodes, int accelerators, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    balance::MachineSpec machine;
    for (int n = 0; n < nodes; ++n)
        machine.nodes.push_back({2, 12, accelerators < 0 ? static_cast<int>(random() % 4) : accelerators, 1, 12});
    return machine;
}

/// Two slabs that collide: a zone in the middle, 18 / 1140 of the columns wide, costs 7 times as much, and 17 % of the
/// length and 10 % of the height, at the ends, are nearly empty. All costs are spread evenly by 20 % to either side.
inline std::vector<std::int64_t> slab_load(const balance::Grid& grid, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> load;
    const double nx = grid.cells[0], ny = grid.cells[1];
    for (int x = 0; x < grid.cells[0]; ++x)
        for (int y = 0; y < grid.cells[1]; ++y)
            for (int z = 0; z < grid.cells[2]; ++z) {
                const bool hot =
                    std::abs(x + 0.5 - nx / 2)<nx * 9 / 1140, bare = std::abs(x + 0.5 - nx / 2)> 0.415 * nx ||
                    std::abs(y + 0.5 - ny / 2) > 0.45 * ny;
                const std::int64_t base = bare ? 20 : hot ? 7000 : 1000;
                load.push_back(base * (800 + static_cast<std::int64_t>(random() % 401)) / 1000);
            }
    return load;
}

/// Ghost cells, of width 1, that parts see of each other.
inline std::int64_t ghosts_between(const balance::Grid& grid, std::span<const balance::Region> parts) {
    std::int64_t ghosts = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const balance::Region around = balance::cells_around(parts[p], grid, 1);
        for (std::size_t q = 0; q < parts.size(); ++q)
            if (q != p)
                for (const balance::Box& b : around) ghosts += balance::cells_in(balance::within(parts[q], b));
    }
    return ghosts;
}
