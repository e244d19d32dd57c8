// SPDX-License-Identifier: MIT
// A straight cut is off by up to half a line of cells. So the last line is cut again, across the next axis, and so on:
// the border gets a jog, and is right to half a cell.
#include "balance/partition/region.hpp"

#include <algorithm>
#include <stdexcept>

#include "balance/grid/for_each.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

// The rest of `box` without another box: slabs cut off on both sides of each axis.
void add_without(Box box, const Box& taken, Region& left) {
    const Box common = intersection(box, taken);
    if (common.empty()) return left.push_back(box);
    for (int a = 0; a < 3; ++a) {
        for (const Box& rest :
             {slab(box, a, box.lower[a], common.lower[a]), slab(box, a, common.upper[a], box.upper[a])})
            if (!rest.empty()) left.push_back(rest);
        box = slab(box, a, common.lower[a], common.upper[a]);
    }
}

Box before(const Box& box, int axis, int at) { return slab(box, axis, box.lower[axis], std::min(box.upper[axis], at)); }

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
    const Box above = slab(bounds, axis, std::max(bounds.lower[axis], at), bounds.upper[axis]);
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
    const Sides of_line = cut_lines(within(region, slab(bounds, axis, at, at + 1)), loads, axes, level + 1, missing,
                                    tolerance, cells - static_cast<double>(cells_in(sides.first)));
    if (of_line.first.empty()) return sides;
    sides = straight(region, axis, at + 1);
    if (of_line.second.empty()) return sides;
    sides.first = straight(region, axis, at).first;
    sides.first.insert(sides.first.end(), of_line.first.begin(), of_line.first.end());
    sides.second.insert(sides.second.end(), of_line.second.begin(), of_line.second.end());
    return sides;
}

}  // namespace

std::int64_t load_in(const Region& region, const Loads& loads) {
    std::int64_t load = 0;
    for (const Box& b : region) load += loads.of(b);
    return load;
}

Box bounds_of(std::span<const Box> boxes) {
    Box bounds = boxes.front();
    for (const Box& b : boxes.subspan(1))  // in place: half the time of making a box for each
        for (int a = 0; a < 3; ++a) {
            bounds.lower[a] = std::min(bounds.lower[a], b.lower[a]);
            bounds.upper[a] = std::max(bounds.upper[a], b.upper[a]);
        }
    return bounds;
}

std::array<int, 3> axes_by_length(const Box& box) {
    std::array<int, 3> axes{0, 1, 2};
    std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return box.extent(a) > box.extent(b); });
    return axes;
}

Region within(const Region& region, const Box& box) {
    Region inside;
    for (const Box& b : region)
        if (const Box common = intersection(b, box); !common.empty()) inside.push_back(common);
    return inside;
}

Region without(const Region& region, const Box& taken) {
    Region left;
    for (const Box& b : region) add_without(b, taken, left);
    return left;
}

Region without(Region region, const Region& taken) {
    for (const Box& b : taken) region = without(region, b);
    return region;
}

Region inner_part(const Region& region, const Grid& grid, int width) {
    if (region.empty()) return region;
    Box frame = with_halo(bounds_of(region), {width, width, width});
    for (int a = 0; a < 3; ++a) {
        if (grid.periodic[a]) continue;
        frame.lower[a] = std::max(frame.lower[a], 0);
        frame.upper[a] = std::min(frame.upper[a], grid.cells[a]);
    }
    Region outside{frame};
    const Grid all_axes{grid.cells, grid.periodic, 3};  // a single cell along z may be periodic, too
    for_each_image(all_axes, width, [&](const std::array<int, 3>& image) {
        for (const Box& b : region)
            if (const Box there = shifted(b, offset_of(grid, image)); !intersection(there, frame).empty())
                outside = without(outside, there);
    });
    Region inner = region;
    for (const Box& b : joined(outside)) inner = without(inner, with_halo(b, {width, width, width}));
    return joined(inner);
}

Region cells_around(const Region& region, const Grid& grid, int width) {
    Region around;
    const Grid all_axes{grid.cells, grid.periodic, 3};
    for (const Box& b : region)
        for_each_image(all_axes, width, [&](const std::array<int, 3>& image) {
            const Box wide = with_halo(b, {width, width, width});
            const Box there = intersection(shifted(wide, offset_of(grid, image)), grid.box());
            if (there.empty()) return;
            const Region found = without(without(Region{there}, region), around);
            around.insert(around.end(), found.begin(), found.end());
        });
    return around;
}

bool touch(const Box& a, const Box& b) {
    for (int axis = 0; axis < 3; ++axis) {
        std::array<int, 3> halo{0, 0, 0};
        halo[axis] = 1;
        if (!intersection(with_halo(a, halo), b).empty()) return true;
    }
    return false;
}

void add_cells(const Box& box, const std::array<int, 3>& axes, std::int64_t begin, std::int64_t end, Region& region) {
    if (begin >= end) return;
    const int axis = axes[0];
    const std::int64_t across = box.cells() / box.extent(axis);
    const auto lines = [&](std::int64_t first, std::int64_t last) {
        return slab(box, axis, box.lower[axis] + static_cast<int>(first), box.lower[axis] + static_cast<int>(last));
    };
    const std::array<int, 3> inside{axes[1], axes[2], axes[0]};
    std::int64_t first = begin / across;
    const std::int64_t last = end / across;
    if (first == last)
        return add_cells(lines(first, first + 1), inside, begin - first * across, end - first * across, region);
    if (begin % across > 0) {
        add_cells(lines(first, first + 1), inside, begin - first * across, across, region);
        ++first;
    }
    if (first < last) region.push_back(lines(first, last));
    add_cells(lines(last, last + 1), inside, 0, end - last * across, region);
}

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
