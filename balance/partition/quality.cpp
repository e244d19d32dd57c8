// SPDX-License-Identifier: MIT
// The owners of a home and of a frame around it are painted first, box by box: then no cell has to look for its
// neighbours' owners, and periodic boundaries are nothing special.
#include "balance/partition/quality.hpp"

#include <algorithm>
#include <array>

namespace balance {

Owners::Owners(const Grid& grid, const Box& home, const ProcessBoxes& known)
    : home_(home), framed_(with_halo(home, halo_of(grid, 1))) {
    process_.assign(framed_.cells(), -1);
    if (home.empty()) return;
    // What of all boxes lies in the frame when it is moved by so many cells.
    const auto paint = [&](const std::array<int, 3>& image) {
        const Box there = shifted(framed_, image);
        for (std::int64_t p = 0; p < known.size(); ++p)
            for (const Box& box : known.of(p)) {
                if (!meet(box, there)) continue;
                const Box b = intersection(box, there);
                const bool lines = b.extent(2) == there.extent(2);  // they follow each other
                for (int x = b.lower[0]; x < b.upper[0]; ++x)
                    for (int y = b.lower[1]; y < (lines ? b.lower[1] + 1 : b.upper[1]); ++y)
                        std::fill_n(process_.begin() + place_in(there, x, y, b.lower[2]),
                                    std::int64_t{lines ? b.extent(1) : 1} * b.extent(2),
                                    static_cast<std::int32_t>(known.processes[p]));
            }
    };
    // Images of boxes come into the frame only where it reaches over a periodic boundary.
    const auto images = [&](int axis) {
        std::vector<int> shifts{0};
        if (axis >= grid.dimensions || !grid.periodic[axis]) return shifts;
        if (home.lower[axis] == 0) shifts.push_back(grid.cells[axis]);
        if (home.upper[axis] == grid.cells[axis]) shifts.push_back(-grid.cells[axis]);
        return shifts;
    };
    for (const int dx : images(0))
        for (const int dy : images(1))
            for (const int dz : images(2)) paint({dx, dy, dz});
}

namespace {

// Whether all processes around a cell are its owner, and how many others there are. line: from a cell's place to that
// of its neighbour along y; plane: along x. Along z they lie side by side where there are three dimensions.
template <int D>
std::int64_t processes_around(const std::int32_t* cell, std::int64_t line, std::int64_t plane) {
    constexpr int dz = D - 2;
    std::array<std::int32_t, 26> seen{};
    int n = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
            for (int k = -dz; k <= dz; ++k) {
                const std::int32_t q = cell[i * plane + j * line + k];
                if (q == *cell || q < 0 || std::find(seen.begin(), seen.begin() + n, q) != seen.begin() + n) continue;
                seen[n++] = q;
            }
    return n;
}

template <int D>
std::int64_t ghosts_of(const Owners& owners) {
    const Box &home = owners.home(), &framed = owners.framed();
    const std::int64_t line = framed.extent(2), plane = line * framed.extent(1);
    std::int64_t ghosts = 0;
    for (int x = home.lower[0]; x < home.upper[0]; ++x)
        for (int y = home.lower[1]; y < home.upper[1]; ++y) {
            const std::int32_t* first = &owners.at(x, y, home.lower[2]);
            for (const std::int32_t* cell = first; cell != first + home.extent(2); ++cell)
                ghosts += processes_around<D>(cell, line, plane);
        }
    return ghosts;
}

}  // namespace

std::int64_t ghost_cells(const Owners& owners) {
    return owners.framed().extent(2) == 1 ? ghosts_of<2>(owners) : ghosts_of<3>(owners);
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

std::vector<std::int64_t> home_sums(const Owners& owners, std::span<const std::int64_t> values,
                                    std::int64_t processes) {
    std::vector<std::int64_t> sums(processes, 0);
    owners.for_each([&](std::size_t place, std::int32_t owner) { sums[owner] += values[place]; });
    return sums;
}

std::vector<std::int64_t> sums_by_process(const Team& team, const Owners& owners, std::span<const std::int64_t> values,
                                          std::int64_t processes) {
    std::vector<std::int64_t> sums = home_sums(owners, values, processes);
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
    const Box& home = before.home();
    std::size_t place = 0;
    for (int x = home.lower[0]; x < home.upper[0]; ++x)
        for (int y = home.lower[1]; y < home.upper[1]; ++y) {
            const std::int32_t *old = &before.at(x, y, home.lower[2]), *now = &after.at(x, y, home.lower[2]);
            for (int z = 0; z < home.extent(2); ++z, ++place)
                if (now[z] != old[z]) ++moved.cells, moved.particles += particles[place];
        }
    return moved;
}

}  // namespace balance
