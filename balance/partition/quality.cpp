// SPDX-License-Identifier: MIT
// The owners of a home and of a frame around it are painted first, box by box: then no cell has to look for its
// neighbours' owners, and periodic boundaries are nothing special.
#include "balance/partition/quality.hpp"

#include <algorithm>
#include <array>

namespace balance {

Owners::Owners(const Grid& grid, const Box& home, const Partition& partition) : home_(home) {
    const Box framed = with_halo(home, {1, 1, 0});
    process_.assign(framed.cells(), -1);
    if (home.empty()) return;
    // What of all boxes lies in the frame when it is moved by so many cells.
    const auto paint = [&](const std::array<int, 3>& image) {
        const Box there = shifted(framed, image);
        for (std::int64_t p = 0; p < partition.processes(); ++p)
            for (std::int64_t i = partition.first[p]; i < partition.first[p + 1]; ++i) {
                if (!meet(partition.boxes[i], there)) continue;
                const Box b = intersection(partition.boxes[i], there);
                for (int x = b.lower[0]; x < b.upper[0]; ++x)
                    std::fill_n(process_.begin() + place_in(there, x, b.lower[1]), b.extent(1),
                                static_cast<std::int32_t>(p));
            }
    };
    // Images of boxes come into the frame only where it reaches over a periodic boundary.
    const auto images = [&](int axis) {
        std::vector<int> shifts{0};
        if (grid.periodic[axis] && home.lower[axis] == 0) shifts.push_back(grid.cells[axis]);
        if (grid.periodic[axis] && home.upper[axis] == grid.cells[axis]) shifts.push_back(-grid.cells[axis]);
        return shifts;
    };
    for (const int dx : images(0))
        for (const int dy : images(1)) paint({dx, dy, 0});
}

namespace {

// How many processes other than the owner of this cell own one of its neighbours.
int processes_around(const std::int32_t* cell, std::int64_t stride) {
    std::array<std::int32_t, 8> seen{};
    int n = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) {
            const std::int32_t q = cell[i * stride + j];
            if (q == *cell || q < 0 || std::find(seen.begin(), seen.begin() + n, q) != seen.begin() + n) continue;
            seen[n++] = q;
        }
    return n;
}

}  // namespace

std::int64_t ghost_cells(const Owners& owners) {
    const std::int64_t stride = owners.stride();
    const Box& home = owners.home();
    std::int64_t ghosts = 0;
    for (int x = home.lower[0]; x < home.upper[0]; ++x) {
        const std::int32_t* column = owners.column(x);
        for (const std::int32_t* cell = column; cell != column + home.extent(1); ++cell) {
            // Mostly the same process owns all cells around.
            const auto same = [&](const std::int32_t* three) {
                return three[-1] == *cell && three[0] == *cell && three[1] == *cell;
            };
            if (!same(cell - stride) || !same(cell) || !same(cell + stride)) ghosts += processes_around(cell, stride);
        }
    }
    return ghosts;
}

double efficiency(std::span<const double> values, std::span<const double> speeds) {
    double sum = 0, speed = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double s = speeds.empty() ? 1.0 : speeds[i];
        sum += values[i];
        speed += s;
        largest = std::max(largest, values[i] / s);
    }
    return largest > 0 ? sum / speed / largest : 1.0;
}

std::vector<std::int64_t> sums_by_process(const Team& team, const Owners& owners, std::span<const std::int64_t> values,
                                          std::int64_t processes) {
    std::vector<std::int64_t> sums(processes, 0);
    owners.for_each([&](std::size_t place, std::int32_t owner) { sums[owner] += values[place]; });
    team.sum(sums);
    return sums;
}

double predicted_efficiency(const Team& team, const Owners& owners, std::span<const std::int64_t> load,
                            std::int64_t processes, std::span<const double> speeds) {
    const std::vector<std::int64_t> sums = sums_by_process(team, owners, load, processes);
    return efficiency(std::vector<double>(sums.begin(), sums.end()), speeds);
}

Moved moved_between(const Owners& before, const Owners& after, std::span<const std::int64_t> particles) {
    Moved moved;
    for (int x = before.home().lower[0]; x < before.home().upper[0]; ++x) {
        const std::int32_t *old = before.column(x), *now = after.column(x);
        const std::int64_t* there = &particles[place_in(before.home(), x, before.home().lower[1])];
        for (int y = 0; y < before.home().extent(1); ++y)
            if (now[y] != old[y]) ++moved.cells, moved.particles += there[y];
    }
    return moved;
}

}  // namespace balance
