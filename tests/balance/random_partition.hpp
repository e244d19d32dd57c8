// SPDX-License-Identifier: MIT
// Partitions made at random, and loops over cells: for tests that compare with brute force.
#pragma once
#include <random>
#include <utility>
#include <vector>

#include "balance/partition/decomposition.hpp"

/// Calls visit(x, y, z) for each cell of a box.
template <class Visit>
void for_each_cell(const balance::Box& box, Visit visit) {
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < box.upper[1]; ++y)
            for (int z = box.lower[2]; z < box.upper[2]; ++z) visit(x, y, z);
}

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
