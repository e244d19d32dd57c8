// SPDX-License-Identifier: MIT
// A straight cut is off by up to half a line of cells. So the last line is cut again, across the next axis, and so on:
// the border gets a jog, and is right to half a cell.
#include <algorithm>
#include <stdexcept>

#include "balance/partition/region.hpp"

namespace balance {
namespace {

Box before(Box box, int axis, int at) {
    box.upper[axis] = std::min(box.upper[axis], at);
    return box;
}

std::int64_t load_before(const Region& region, const Loads& loads, int axis, int at) {
    std::int64_t load = 0;
    for (const Box& b : region)
        if (b.lower[axis] < at) load += loads.of(before(b, axis, at));
    return load;
}

// The first of the places (lower, upper] before which there is more than `load`; upper + 1 if there is none.
template <class Load>
int first_above(const Region& region, const Loads& loads, int axis, int lower, int upper, Load load) {
    ++upper;
    while (lower + 1 < upper) {
        const int middle = lower + (upper - lower) / 2;
        if (static_cast<Load>(load_before(region, loads, axis, middle)) > load) upper = middle;
        else lower = middle;
    }
    return upper;
}

// Among the places from which the same load lies below as at `at`, the one with a number of cells nearest to `cells`.
int by_cells(const Region& region, const Loads& loads, int axis, int lower, int upper, int at, double cells) {
    const std::int64_t load = load_before(region, loads, axis, at);
    const int last = first_above(region, loads, axis, at, upper, load) - 1;
    const int first = load == 0 ? lower : first_above(region, loads, axis, lower, at, load - 1);
    if (first == last) return at;
    const UniformLoads counts;
    const int above = first_above(region, counts, axis, lower, upper, cells);
    return std::clamp(above - 1, first, last);
}

using Sides = std::pair<Region, Region>;

Sides straight(const Region& region, int axis, int at) {
    const Box bounds = bounds_of(region);
    Box above = bounds;
    above.lower[axis] = std::max(above.lower[axis], at);
    return {within(region, before(bounds, axis, at)), within(region, above)};
}

// Across axes[level]: nearest to the load `wanted`, and to a number of cells where loads don't decide.
Sides cut_lines(const Region& region, const Loads& loads, const std::array<int, 3>& axes, int level, double wanted,
                double tolerance, double cells) {
    const Box bounds = bounds_of(region);
    const int axis = axes[level], lower = bounds.lower[axis], upper = bounds.upper[axis];
    const int above = first_above(region, loads, axis, lower, upper, wanted), at = above - 1;
    const double missing = wanted - static_cast<double>(load_before(region, loads, axis, at));
    const double beyond = at == upper ? missing : static_cast<double>(load_before(region, loads, axis, above)) - wanted;
    if (level == 2 || at == upper || std::min(missing, beyond) <= tolerance)
        return straight(region, axis,
                        by_cells(region, loads, axis, lower, upper, beyond < missing ? above : at, cells));
    Sides sides = straight(region, axis, at);
    Box line = bounds;
    line.lower[axis] = at;
    line.upper[axis] = at + 1;
    const Sides of_line = cut_lines(within(region, line), loads, axes, level + 1, missing, tolerance,
                                    cells - static_cast<double>(cells_in(sides.first)));
    if (of_line.first.empty()) return sides;
    sides = straight(region, axis, at + 1);
    if (of_line.second.empty()) return sides;
    sides.first = straight(region, axis, at).first;
    sides.first.insert(sides.first.end(), of_line.first.begin(), of_line.first.end());
    sides.second.insert(sides.second.end(), of_line.second.begin(), of_line.second.end());
    return sides;
}

}  // namespace

std::pair<Region, Region> cut(const Region& region, const Loads& loads, const std::array<int, 3>& axes,
                              const CutAim& aim) {
    const std::int64_t cells = cells_in(region), load = load_in(region, loads);
    if (aim.least_below + aim.least_above > cells)
        throw std::logic_error("a cut is to leave more cells on its sides than there are");
    const double wanted_cells = load > 0 ? static_cast<double>(cells) * (aim.below / static_cast<double>(load)) : 0;
    Sides sides = cut_lines(region, loads, axes, 0, aim.below, aim.tolerance, wanted_cells);
    const std::int64_t below = cells_in(sides.first),
                       fitting = std::clamp(below, aim.least_below, cells - aim.least_above);
    if (fitting != below) sides = cut_lines(region, UniformLoads{}, axes, 0, static_cast<double>(fitting), 0, 0);
    return sides;
}

}  // namespace balance
