// SPDX-License-Identifier: MIT
// The owners of a home and of a frame around it are painted first, box by box. Then no cell has to look for its
// neighbours' owners, and periodic boundaries are no special case.
#include "balance/partition/quality.hpp"

#include <algorithm>
#include <array>

namespace balance {

Owners::Owners(const Grid& grid, const Box& home, const ProcessBoxes& known)
    : home_(home), framed_(with_halo(home, halo_of(grid, 1))) {
    process_.assign(framed_.cells(), -1);
    if (home.empty()) return;
    // The parts of all boxes in the frame, moved by `image` cells.
    const auto paint = [&](const std::array<int, 3>& image) {
        const Box there = shifted(framed_, image);
        for (std::int64_t p = 0; p < known.size(); ++p)
            for (const Box& box : known.of(p)) {
                if (!meet(box, there)) continue;
                const Box b = intersection(box, there);
                for_each_run(b, {there}, [&](int x, int y, std::int64_t cells) {
                    std::fill_n(process_.begin() + place_in(there, x, y, b.lower[2]), cells,
                                static_cast<std::int32_t>(known.processes[p]));
                });
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

// From a line of cells to those around it, and to itself.
template <std::size_t N>
using LineOffsets = std::array<std::int64_t, N>;

// How many processes around a cell are not its owner.
template <std::size_t N>
std::int64_t processes_around(const std::int32_t* cell, const LineOffsets<N>& lines) {
    std::array<std::int32_t, 3 * N> seen;
    int n = 0;
    for (const std::int64_t line : lines) {
        const std::int32_t* there = cell + line;
        if (there[-1] == *cell && there[0] == *cell && there[1] == *cell) continue;
        for (int k = -1; k <= 1; ++k) {
            const std::int32_t q = there[k];
            if (q == *cell || q < 0 || std::find(seen.begin(), seen.begin() + n, q) != seen.begin() + n) continue;
            seen[n++] = q;
        }
    }
    return n;
}

// Calls visit(place, processes) for each cell of the home that other processes may see.
template <std::size_t N, class Visit>
void visit_borders(const Owners& owners, const LineOffsets<N>& lines, Visit visit) {
    owners.for_each_line([&](std::size_t place, std::int64_t framed, int cells) {
        const std::int32_t* cell = owners.from(framed);
        int alike = 0;  // places up to this one at which all lines have the same owner
        for (int i = -1; i <= cells; ++i) {
            std::int32_t differ = 0;
            for (const std::int64_t line : lines) differ |= cell[i + line] ^ cell[i];
            if (differ != 0) alike = 0;
            else alike = alike > 0 && cell[i] == cell[i - 1] ? alike + 1 : 1;
            if (i > 0 && alike < 3) visit(place + i - 1, processes_around(cell + i - 1, lines));
        }
    });
}

template <class Visit>
void visit_borders(const Owners& owners, Visit visit) {
    const std::int64_t y = owners.framed().extent(2), x = y * owners.framed().extent(1);
    if (y == 1) visit_borders(owners, LineOffsets<3>{-x, 0, x}, visit);
    else visit_borders(owners, LineOffsets<9>{-x - y, -x, -x + y, -y, 0, y, x - y, x, x + y}, visit);
}

}  // namespace

double efficiency(double sum, double capacity, double largest) { return largest > 0 ? sum / capacity / largest : 1.0; }

std::int64_t ghost_cells(const Owners& owners) {
    std::int64_t cells = 0;
    visit_borders(owners, [&](std::size_t, std::int64_t processes) { cells += processes; });
    return cells;
}

std::vector<std::uint8_t> processes_that_see(const Owners& owners) {
    std::vector<std::uint8_t> seen(owners.home().cells(), 0);
    visit_borders(owners, [&](std::size_t place, std::int64_t processes) {
        seen[place] = static_cast<std::uint8_t>(processes);  // at most 26
    });
    return seen;
}

double efficiency(std::span<const double> values, std::span<const double> speeds) {
    double sum = 0, speed = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double s = speeds.empty() ? 1.0 : speeds[i];
        sum += values[i];
        speed += s;
        largest = std::max(largest, values[i] / s);
    }
    return efficiency(sum, speed, largest);
}

double efficiency(std::span<const std::int64_t> loads, std::span<const double> speeds) {
    return efficiency(std::vector<double>(loads.begin(), loads.end()), speeds);
}

std::vector<std::int64_t> sums_by_process(const Team& team, const Owners& owners, std::span<const std::int64_t> values,
                                          std::int64_t processes) {
    std::vector<std::int64_t> sums(processes, 0);
    owners.for_each([&](std::size_t place, std::int32_t owner) { sums[owner] += values[place]; });
    team.sum(sums);
    return sums;
}

Moved moved_between(const Owners& before, const Owners& after, std::span<const std::int64_t> particles) {
    Moved moved;
    before.for_each_line([&](std::size_t place, std::int64_t framed, int cells) {
        const std::int32_t *old = before.from(framed), *now = after.from(framed);
        if (std::equal(old, old + cells, now)) return;
        for (int i = 0; i < cells; ++i)
            if (now[i] != old[i]) ++moved.cells, moved.particles += particles[place + i];
    });
    return moved;
}

}  // namespace balance
