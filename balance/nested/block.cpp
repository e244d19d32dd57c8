// SPDX-License-Identifier: MIT
#include <algorithm>

#include "balance/nested/node.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

bool covers(const Region& region, const Box& box) { return cells_in(within(region, box)) == box.cells(); }

// The box around `box` inside a region that grows along axis after axis, as far as it can.
Box grown(Box box, const Region& region, const std::array<int, 3>& axes) {
    for (const int axis : axes) {
        for (const Box& b : region) {  // whose ends are where growing may stop
            Box wider = box;
            wider.lower[axis] = std::min(box.lower[axis], b.lower[axis]);
            if (wider != box && covers(region, wider)) box = wider;
            wider = box;
            wider.upper[axis] = std::max(box.upper[axis], b.upper[axis]);
            if (wider != box && covers(region, wider)) box = wider;
        }
    }
    return box;
}

// The box with the largest load among those that grow from boxes of the region.
Box largest_box(const Region& region, const Loads& loads) {
    Box best = region.front();
    std::int64_t most = -1;
    const bool flat = bounds_of(region).extent(2) == 1;
    for (const Box& seed : region)
        for (const std::array<int, 3>& axes :
             {std::array{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}}) {
            if (flat && axes[2] != 2) continue;
            const Box box = grown(seed, region, axes);
            const std::int64_t load = loads.of(box);
            if (load > most || (load == most && box.cells() > best.cells())) best = box, most = load;
        }
    return best;
}

// The first cells of a box with a load near `target`, from its lower or its upper end on.
Region end_of(const Box& box, const Loads& loads, const std::array<int, 3>& axes, bool lower, double target,
              double tolerance, std::int64_t most_cells) {
    const Region whole{box};
    const std::int64_t cells = box.cells(), most = std::min(cells, most_cells);
    if (lower) return cut(whole, loads, axes, {target, tolerance, 1, cells - most}).first;
    const double rest = static_cast<double>(loads.of(box)) - target;
    return cut(whole, loads, axes, {std::max(rest, 0.0), tolerance, cells - most, 1}).second;
}

// Adds boxes of the region to a block that is too small, or whole lines of them on the side where they touch it.
void add_neighbours(Region& block, const Region& region, const Loads& loads, double target, std::int64_t most_cells) {
    Region left = without(region, block);
    double missing = target - static_cast<double>(load_in(block, loads));
    std::int64_t room = most_cells - cells_in(block);
    for (bool found = true; found && missing > 0 && room > 0;) {
        found = false;
        for (std::size_t i = 0; i < left.size() && !found; ++i) {
            const Box box = left[i];
            const auto beside = std::find_if(block.begin(), block.end(), [&](const Box& b) { return touch(b, box); });
            if (beside == block.end()) continue;
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            found = true;
            int axis = 0;  // along which it lies beside the block
            while (box.lower[axis] != beside->upper[axis] && box.upper[axis] != beside->lower[axis]) ++axis;
            const bool upper = box.lower[axis] == beside->upper[axis];
            Box part = box;
            const std::int64_t across = box.cells() / box.extent(axis);
            int lines = static_cast<int>(std::min<std::int64_t>(box.extent(axis), room / across));
            const auto take = [&](int n) {
                if (upper) part.upper[axis] = box.lower[axis] + n;
                else part.lower[axis] = box.upper[axis] - n;
                return static_cast<double>(loads.of(part));
            };
            while (lines > 0 && take(lines) > missing && take(lines) - missing > missing - take(lines - 1)) --lines;
            take(lines);
            if (part.empty()) continue;
            block.push_back(part);
            missing -= static_cast<double>(loads.of(part));
            room -= part.cells();
        }
    }
}

}  // namespace

Region block_of(const Region& region, const Loads& loads, double target, std::int64_t most_cells) {
    constexpr double tolerance = 1e-3;  // of the target
    const Box box = largest_box(region, loads);
    const std::array<int, 3> axes = axes_by_length(box);
    Region block{box};
    if (static_cast<double>(loads.of(box)) > target || box.cells() > most_cells) {
        block = end_of(box, loads, axes, true, target, tolerance * target, most_cells);
    } else {
        add_neighbours(block, region, loads, target, most_cells);
    }
    return joined(block);
}

}  // namespace balance
