// SPDX-License-Identifier: MIT
#include "balance/nested/split.hpp"

#include <algorithm>
#include <utility>

#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

struct NeedSums {
    double speed = 0;
    std::int64_t cells = 0;
};
NeedSums sums_of(std::span<const PartNeed> parts) {
    NeedSums s;
    for (const PartNeed& p : parts) s.speed += p.speed, s.cells += p.cells;
    return s;
}

// How many of the parts go to the lower side: about half of the speed.
std::size_t parts_below(std::span<const PartNeed> parts, double speed) {
    double below = 0;
    std::size_t n = 0;
    while (n + 1 < parts.size() && below + parts[n].speed / 2 <= speed / 2) below += parts[n++].speed;
    return std::max<std::size_t>(n, 1);
}

// The fewest cells of both sides: what their parts need, one each, or as many as there are.
std::pair<std::int64_t, std::int64_t> least_cells(std::int64_t cells, std::int64_t below, std::int64_t above,
                                                  std::int64_t parts_below, std::int64_t parts_above) {
    if (below + above <= cells) return {below, above};
    if (parts_below + parts_above <= cells) return {parts_below, parts_above};
    const std::int64_t share = cells * parts_below / (parts_below + parts_above);
    return {share, cells - share};
}

// The box with the sides that decide on a region's cuts: its bounds. If nearly all of the region is one box, it is that
// box, because a jog does not make a region longer.
Box shape_of(const Region& region) {
    const Region boxes = joined(region);
    const Box largest = *std::ranges::max_element(boxes, {}, &Box::cells);
    return 4 * largest.cells() > 3 * cells_in(region) ? largest : bounds_of(region);
}

void split(const Region& region, const Loads& loads, std::span<const PartNeed> parts, double tolerance, int axis,
           std::vector<SplitPart>& result) {
    if (parts.size() == 1 || region.empty()) {
        for (std::size_t p = 0; p < parts.size(); ++p) result.push_back({joined(region), axis});
        return;
    }
    const NeedSums all = sums_of(parts);
    const std::size_t n = parts_below(parts, all.speed);
    const std::span<const PartNeed> lower = parts.first(n), upper = parts.subspan(n);
    const NeedSums below = sums_of(lower);
    const auto load = static_cast<double>(load_in(region, loads));
    const std::array<int, 3> axes = axes_by_length(shape_of(region));
    const auto [least_below, least_above] =
        least_cells(cells_in(region), below.cells, all.cells - below.cells, std::ssize(lower), std::ssize(upper));
    const CutAim aim{load * (below.speed / all.speed), tolerance * load / static_cast<double>(parts.size()),
                     least_below, least_above};
    const auto sides = cut(region, loads, axes, aim);
    split(sides.first, loads, lower, tolerance, axes[0], result);
    split(sides.second, loads, upper, tolerance, axes[0], result);
}

}  // namespace

const Loads& loads_or_counts(const Region& region, const Loads& loads) {
    static const UniformLoads counts;
    return load_in(region, loads) > 0 ? loads : counts;
}

std::vector<SplitPart> split_region(const Region& region, const Loads& loads, std::span<const PartNeed> parts,
                                    double tolerance) {
    std::vector<SplitPart> result;
    result.reserve(parts.size());
    if (parts.empty()) return result;
    split(region, loads_or_counts(region, loads), parts, tolerance, 0, result);
    return result;
}

}  // namespace balance
