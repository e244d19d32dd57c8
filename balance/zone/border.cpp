// SPDX-License-Identifier: MIT
#include "balance/zone/border.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/partition/chain.hpp"

namespace balance {
namespace {

// The inner cells on a coarse grid, whose lines are the ends of their boxes: a box that can't grow ends at such lines.
class CoarseCells {
public:
    CoarseCells(const Region& inner, const std::function<std::int64_t(const Box&)>& load_of)
        : lines_{lines_of(inner, 0), lines_of(inner, 1), lines_of(inner, 2)}, inside_({}, {}), loads_({}, {}) {
        std::vector<std::int64_t> inside(box().cells(), 0), loads(box().cells(), 0);
        for (const Box& b : inner) {
            for_each_cell(coarse(b), [&](int x, int y, int z) {
                const std::int64_t place = place_in(box(), x, y, z);
                inside[place] = 1;
                loads[place] = load_of(fine({{x, y, z}, {x + 1, y + 1, z + 1}}));
            });
        }
        inside_ = SummedArea(box(), inside);
        loads_ = SummedArea(box(), loads);
    }

    Box box() const { return {{0, 0, 0}, {intervals(0), intervals(1), intervals(2)}}; }
    bool covers(const Box& coarse) const { return inside_.of(coarse) == coarse.cells(); }
    std::int64_t load(const Box& coarse) const { return loads_.of(coarse); }
    Box fine(const Box& coarse) const {
        Box b;
        for (int a = 0; a < 3; ++a) {
            b.lower[a] = lines_[a][coarse.lower[a]];
            b.upper[a] = lines_[a][coarse.upper[a]];
        }
        return b;
    }

private:
    static std::vector<int> lines_of(const Region& inner, int axis) {
        std::vector<int> lines;
        for (const Box& b : inner) lines.insert(lines.end(), {b.lower[axis], b.upper[axis]});
        std::sort(lines.begin(), lines.end());
        lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        return lines;
    }
    int intervals(int axis) const { return static_cast<int>(lines_[axis].size()) - 1; }
    Box coarse(const Box& fine) const {
        Box b;
        for (int a = 0; a < 3; ++a) {
            b.lower[a] = line_at(a, fine.lower[a]);
            b.upper[a] = line_at(a, fine.upper[a]);
        }
        return b;
    }
    int line_at(int axis, int cell) const {
        const std::vector<int>& lines = lines_[axis];
        return static_cast<int>(std::lower_bound(lines.begin(), lines.end(), cell) - lines.begin());
    }

    std::array<std::vector<int>, 3> lines_;
    SummedArea inside_, loads_;
};

// Calls visit(range) for each range of at least one of n intervals.
template <class Visit>
void for_each_range(int n, Visit visit) {
    for (int begin = 0; begin < n; ++begin)
        for (int end = begin + 1; end <= n; ++end) visit(begin, end);
}

// The box with the largest load, of those with the most cells, all of whose cells are inside.
Box largest_box(const CoarseCells& cells) {
    Box best;
    std::pair<std::int64_t, std::int64_t> most{-1, -1};
    const Box whole = cells.box();
    for_each_range(whole.extent(0), [&](int x0, int x1) {
        for_each_range(whole.extent(2), [&](int z0, int z1) {
            Box run{{x0, 0, z0}, {x1, 0, z1}};  // of lines along y that are inside
            for (int y = 0; y < whole.extent(1); ++y) {
                if (!cells.covers({{x0, y, z0}, {x1, y + 1, z1}})) {
                    run.lower[1] = y + 1;
                    continue;
                }
                run.upper[1] = y + 1;
                const Box found = cells.fine(run);
                const std::pair size{cells.load(run), found.cells()};
                if (size > most) best = found, most = size;
            }
        });
    });
    return best;
}

// Calls visit(i, faces) for each box that shares faces of cells with `box`, also across periodic ends, perhaps several
// times. faces: how many.
template <class Visit>
void for_each_contact(const Grid& grid, const BoxIndex& boxes, const Box& box, Visit visit) {
    for (int axis = 0; axis < 3; ++axis)
        for (const bool above : {false, true}) {
            int next = above ? box.upper[axis] : box.lower[axis] - 1;
            if (grid.periodic[axis]) next = (next + grid.cells[axis]) % grid.cells[axis];
            const Box beside = intersection(slab(box, axis, next, next + 1), grid.box());
            boxes.for_each_in(beside, [&](std::int32_t i, const Box& common) { visit(i, common.cells()); });
        }
}

Region in_order_of_contact(const Grid& grid, const Region& region,
                           const std::function<std::int64_t(const Box&)>& load_of) {
    using Size = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    const BoxIndex boxes(grid.box(), region);
    std::vector<Size> left;  // of each box: faces shared with those taken, load, cells; negative where it is taken
    for (const Box& b : region) left.emplace_back(0, load_of(b), b.cells());
    Region order;
    while (order.size() < region.size()) {
        const auto next = std::max_element(left.begin(), left.end()) - left.begin();
        order.push_back(region[next]);
        std::get<0>(left[next]) = INT64_MIN / 2;
        for_each_contact(grid, boxes, order.back(),
                         [&](std::int32_t i, std::int64_t faces) { std::get<0>(left[i]) += faces; });
    }
    return order;
}

}  // namespace

int ZoneRoom::strips_of(std::span<const Box> boxes) {
    int n = 0;
    for (const Box& b : boxes) n += b.extent(axes_by_length(b)[0]);
    return n;
}

Region ZoneRoom::strips_between(int begin, int end) const {
    Region found;
    for (const Box& b : boxes) {
        const int axis = axes_by_length(b)[0], strips = b.extent(axis);
        const Box part =
            slab(b, axis, b.lower[axis] + std::clamp(begin, 0, strips), b.lower[axis] + std::clamp(end, 0, strips));
        if (!part.empty()) found.push_back(part);
        begin -= strips;
        end -= strips;
    }
    return found;
}

ZoneRoom zone_room(const Grid& grid, const Region& region, ZoneReach reach, int width,
                   const std::function<std::int64_t(const Box&)>& load_of) {
    if (reach == ZoneReach::border) return {in_order_of_contact(grid, region, load_of)};
    const Region inner = inner_part(region, grid, width);
    if (inner.empty()) return {};
    return {{largest_box(CoarseCells(inner, load_of))}};
}

std::vector<ZoneBlock> zone_blocks(const ZoneRoom& room, int border, int accelerators,
                                   std::span<const std::int64_t> strip_loads) {
    if (border == 0) return {};
    const ChainItems strips{{strip_loads.begin(), strip_loads.begin() + border}, {}};
    const std::vector<std::int64_t> cuts = chain_partition(strips, accelerators);
    std::vector<ZoneBlock> blocks;
    for (int a = 0; a < accelerators; ++a)
        for (const Box& box : room.strips_between(static_cast<int>(cuts[a]), static_cast<int>(cuts[a + 1])))
            blocks.push_back({box, a});
    return blocks;
}

int border_at(std::span<const std::int64_t> strip_loads, std::int64_t total, double share) {
    const double wanted = share * static_cast<double>(total);
    std::int64_t load = 0;
    int best = 0;
    double least = std::abs(wanted);
    for (std::size_t s = 0; s < strip_loads.size(); ++s) {
        load += strip_loads[s];
        const double off = std::abs(static_cast<double>(load) - wanted);
        if (off < least) best = static_cast<int>(s) + 1, least = off;
    }
    return best;
}

double share_at(std::span<const std::int64_t> strip_loads, std::int64_t total, int border) {
    if (total == 0) return 0;
    const auto load = std::accumulate(strip_loads.begin(), strip_loads.begin() + border, std::int64_t{0});
    return static_cast<double>(load) / static_cast<double>(total);
}

}  // namespace balance
