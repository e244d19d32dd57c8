// SPDX-License-Identifier: MIT
// Partitions made at random, for tests that compare with brute force.
#pragma once
#include <random>
#include <utility>
#include <vector>

#include "balance/grid/for_each.hpp"
#include "balance/partition/decomposition.hpp"

/// The grid in even boxes, dealt to processes at random; some processes may get none.
inline balance::Partition random_partition(const balance::Grid& grid, std::int64_t processes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<balance::Box>> of(processes);
    for (const balance::Box& b : balance::even_partition(grid, 3 * processes)) of[random() % processes].push_back(b);
    balance::Partition p;
    for (const auto& boxes : of) {
        p.first.push_back(static_cast<std::int64_t>(p.boxes.size()));
        p.boxes.insert(p.boxes.end(), boxes.begin(), boxes.end());
    }
    p.first.push_back(static_cast<std::int64_t>(p.boxes.size()));
    return p;
}

/// The process of each cell of the grid, by x, then y, then z.
inline std::vector<int> owners_of(const balance::Grid& grid, const balance::Partition& p) {
    std::vector<int> owners(grid.box().cells(), -1);
    for (std::int64_t q = 0; q < p.processes(); ++q)
        for (std::int64_t b = p.first[q]; b < p.first[q + 1]; ++b)
            for_each_cell(p.boxes[b], [&](int x, int y, int z) {
                owners[(x * grid.cells[1] + y) * grid.cells[2] + z] = static_cast<int>(q);
            });
    return owners;
}
