// SPDX-License-Identifier: MIT
#include "balance/partition/quality.hpp"

#include <algorithm>
#include <array>

namespace balance {

std::vector<std::int32_t> owners_around(const Grid& grid, const Box& slab, const Partition& partition) {
    const int nx = grid.cells[0], ny = grid.cells[1], width = slab.extent(0);
    const auto column_of = [&](int x) { return x >= 0 && x < nx ? x : grid.periodic[0] ? (x + nx) % nx : -1; };
    const int lower = column_of(slab.lower[0] - 1), upper = column_of(slab.upper[0]);
    std::vector<std::int32_t> owners(static_cast<std::size_t>(width + 2) * ny, -1);
    for (std::int64_t p = 0; p < partition.processes(); ++p)
        for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b) {
            const Box& box = partition.boxes[b];
            const auto paint = [&](int column) {
                std::fill_n(owners.begin() + std::int64_t{column} * ny + box.lower[1], box.extent(1),
                            static_cast<std::int32_t>(p));
            };
            for (int x = std::max(box.lower[0], slab.lower[0]); x < std::min(box.upper[0], slab.upper[0]); ++x)
                paint(x - slab.lower[0] + 1);
            if (box.lower[0] <= lower && lower < box.upper[0]) paint(0);
            if (box.lower[0] <= upper && upper < box.upper[0]) paint(width + 1);
        }
    return owners;
}

namespace {

// How many processes other than the owner of cell (column x of `owners`, y) own one of its neighbours.
int processes_around(const Grid& grid, std::span<const std::int32_t> owners, int x, int y) {
    const int ny = grid.cells[1];
    const std::int32_t self = owners[std::int64_t{x} * ny + y];
    std::array<std::int32_t, 8> seen{};
    int n = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) {
            int v = y + j;
            if (v < 0 || v >= ny) {
                if (!grid.periodic[1]) continue;
                v = (v + ny) % ny;
            }
            const std::int32_t q = owners[std::int64_t{x + i} * ny + v];
            if (q == self || q < 0 || std::find(seen.begin(), seen.begin() + n, q) != seen.begin() + n) continue;
            seen[n++] = q;
        }
    return n;
}

}  // namespace

std::int64_t ghost_cells(const Grid& grid, std::span<const std::int32_t> owners) {
    const int ny = grid.cells[1], columns = static_cast<int>(owners.size() / ny);
    std::int64_t ghosts = 0;
    for (int x = 1; x + 1 < columns; ++x)
        for (int y = 0; y < ny; ++y) {
            const std::int32_t* here = &owners[std::int64_t{x} * ny + y];
            const std::int32_t self = *here;
            // Mostly the same process owns all cells around.
            const auto same = [&](const std::int32_t* column) {
                return column[-1] == self && column[0] == self && column[1] == self;
            };
            if (y > 0 && y + 1 < ny && same(here - ny) && same(here) && same(here + ny)) continue;
            ghosts += processes_around(grid, owners, x, y);
        }
    return ghosts;
}

double efficiency(std::span<const double> times) {
    double sum = 0, largest = 0;
    for (const double t : times) {
        sum += t;
        largest = std::max(largest, t);
    }
    return largest > 0 ? sum / static_cast<double>(times.size()) / largest : 1.0;
}

double predicted_efficiency(const Team& team, const Grid& grid, std::span<const std::int32_t> owners,
                            std::span<const std::int64_t> load, std::int64_t processes) {
    std::vector<std::int64_t> sums(processes, 0);
    const std::span<const std::int32_t> own = owners.subspan(grid.cells[1], load.size());
    for (std::size_t i = 0; i < load.size(); ++i) sums[own[i]] += load[i];
    team.sum(sums);
    return efficiency(std::vector<double>(sums.begin(), sums.end()));
}

Moved moved_between(const Grid& grid, std::span<const std::int32_t> before, std::span<const std::int32_t> after,
                    std::span<const std::int64_t> particles) {
    Moved moved;
    for (std::size_t i = 0, k = grid.cells[1]; i < particles.size(); ++i, ++k)
        if (after[k] != before[k]) ++moved.cells, moved.particles += particles[i];
    return moved;
}

}  // namespace balance
