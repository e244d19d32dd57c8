// SPDX-License-Identifier: MIT
#include "balance/partition/region.hpp"

#include <algorithm>

#include "balance/grid/for_each.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

// The rest of `box` without another box: slabs cut off on both sides of each axis.
void add_without(Box box, const Box& taken, Region& left) {
    const Box common = intersection(box, taken);
    if (common.empty()) {
        left.push_back(box);
        return;
    }
    for (int a = 0; a < 3; ++a) {
        Box slab = box;
        slab.upper[a] = common.lower[a];
        if (!slab.empty()) left.push_back(slab);
        slab = box;
        slab.lower[a] = common.upper[a];
        if (!slab.empty()) left.push_back(slab);
        box.lower[a] = common.lower[a];
        box.upper[a] = common.upper[a];
    }
}

}  // namespace

std::int64_t cells_in(const Region& region) {
    std::int64_t cells = 0;
    for (const Box& b : region) cells += b.cells();
    return cells;
}

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
        Box b = box;
        b.lower[axis] = box.lower[axis] + static_cast<int>(first);
        b.upper[axis] = box.lower[axis] + static_cast<int>(last);
        return b;
    };
    const std::array<int, 3> inside{axes[1], axes[2], axes[0]};
    std::int64_t first = begin / across;
    const std::int64_t last = end / across;
    if (first == last) {
        add_cells(lines(first, first + 1), inside, begin - first * across, end - first * across, region);
        return;
    }
    if (begin % across > 0) {
        add_cells(lines(first, first + 1), inside, begin - first * across, across, region);
        ++first;
    }
    if (first < last) region.push_back(lines(first, last));
    add_cells(lines(last, last + 1), inside, 0, end - last * across, region);
}

}  // namespace balance
