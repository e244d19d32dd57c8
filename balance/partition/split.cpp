// SPDX-License-Identifier: MIT
#include "balance/partition/split.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "balance/partition/chain.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

struct Sums {
    double speed = 0;
    std::int64_t cells = 0;
};
Sums sums_of(std::span<const PartNeed> parts) {
    Sums s;
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

void split(const Region& region, const Loads& loads, std::span<const PartNeed> parts, double tolerance, int axis,
           std::vector<SplitPart>& result) {
    if (parts.size() == 1 || region.empty()) {
        for (std::size_t p = 0; p < parts.size(); ++p) result.push_back({joined(region), axis});
        return;
    }
    const Sums all = sums_of(parts);
    const std::size_t n = parts_below(parts, all.speed);
    const std::span<const PartNeed> lower = parts.first(n), upper = parts.subspan(n);
    const Sums below = sums_of(lower);
    const auto load = static_cast<double>(load_in(region, loads));
    const std::array<int, 3> axes = axes_by_length(bounds_of(region));
    const auto [least_below, least_above] =
        least_cells(cells_in(region), below.cells, all.cells - below.cells, static_cast<std::int64_t>(lower.size()),
                    static_cast<std::int64_t>(upper.size()));
    const CutAim aim{load * (below.speed / all.speed), tolerance * load / static_cast<double>(parts.size()),
                     least_below, least_above};
    const auto sides = cut(region, loads, axes, aim);
    split(sides.first, loads, lower, tolerance, axes[0], result);
    split(sides.second, loads, upper, tolerance, axes[0], result);
}

// The boxes of all parts in one row, and the order of the cells in each.
struct Row {
    std::vector<Box> boxes;
    std::vector<std::array<int, 3>> axes;
    std::vector<std::int64_t> first_cell{0};  // of each box, and the number of all
};
Row row_of(std::vector<SplitPart> parts) {
    Row row;
    for (SplitPart& part : parts) {
        if (part.region.empty()) continue;
        std::array<int, 3> axes = axes_by_length(bounds_of(part.region));
        std::stable_partition(axes.begin(), axes.end(), [&](int a) { return a == part.axis; });
        std::stable_sort(part.region.begin(), part.region.end(), [&](const Box& a, const Box& b) {
            return a.lower[part.axis] + a.upper[part.axis] < b.lower[part.axis] + b.upper[part.axis];
        });
        for (const Box& b : part.region) {
            row.boxes.push_back(b);
            row.axes.push_back(axes);
            row.first_cell.push_back(row.first_cell.back() + b.cells());
        }
    }
    return row;
}

std::vector<std::int64_t> loads_along(const Row& row, const Loads& loads) {
    std::vector<std::int64_t> of_cells;
    of_cells.reserve(row.first_cell.back());
    for (std::size_t i = 0; i < row.boxes.size(); ++i) {
        const Box& box = row.boxes[i];
        const auto [a, b, c] = row.axes[i];
        Box cell;
        for (int i = box.lower[a]; i < box.upper[a]; ++i)
            for (int j = box.lower[b]; j < box.upper[b]; ++j)
                for (int k = box.lower[c]; k < box.upper[c]; ++k) {
                    cell.lower[a] = i, cell.lower[b] = j, cell.lower[c] = k;
                    cell.upper[a] = i + 1, cell.upper[b] = j + 1, cell.upper[c] = k + 1;
                    of_cells.push_back(loads.of(cell));
                }
    }
    return of_cells;
}

Region cells_of(const Row& row, std::int64_t begin, std::int64_t end) {
    Region region;
    std::size_t i = std::upper_bound(row.first_cell.begin(), row.first_cell.end(), begin) - row.first_cell.begin() - 1;
    for (; i < row.boxes.size() && row.first_cell[i] < end; ++i)
        add_cells(row.boxes[i], row.axes[i], std::max<std::int64_t>(begin - row.first_cell[i], 0),
                  std::min(end, row.first_cell[i + 1]) - row.first_cell[i], region);
    return joined(region);
}

// Speeds as whole numbers, none where they are all the same.
std::vector<std::int64_t> targets_of(std::span<const PartNeed> parts) {
    double largest = 0;
    bool equal = true;
    for (const PartNeed& p : parts) largest = std::max(largest, p.speed), equal = equal && p.speed == parts[0].speed;
    std::vector<std::int64_t> targets;
    for (const PartNeed& p : parts)
        if (!equal) targets.push_back(std::max<std::int64_t>(1, std::llround(p.speed / largest * (1 << 30))));
    return targets;
}

}  // namespace

std::vector<SplitPart> split_region(const Region& region, const Loads& loads, std::span<const PartNeed> parts,
                                    double tolerance) {
    std::vector<SplitPart> result;
    result.reserve(parts.size());
    if (parts.empty()) return result;
    const CellCounts counts;
    split(region, load_in(region, loads) > 0 ? loads : counts, parts, tolerance, 0, result);
    return result;
}

std::vector<Region> split_exactly(const Region& region, const Loads& loads, std::span<const PartNeed> parts,
                                  double tolerance) {
    constexpr std::int64_t many_cells = 4096;  // half a cell of so many is nothing
    std::vector<SplitPart> split = split_region(region, loads, parts, tolerance);
    std::vector<Region> regions;
    const std::int64_t n = static_cast<std::int64_t>(parts.size()), cells = cells_in(region);
    if (cells > many_cells * n || cells < sums_of(parts).cells || n < 2 || load_in(region, loads) == 0) {
        for (SplitPart& p : split) regions.push_back(std::move(p.region));
        return regions;
    }
    const Row row = row_of(std::move(split));
    std::vector<std::int64_t> cuts = chain_partition({loads_along(row, loads), {}}, n, 0, targets_of(parts));
    for (std::int64_t p = 1; p < n; ++p) cuts[p] = std::max(cuts[p], cuts[p - 1] + parts[p - 1].cells);
    for (std::int64_t p = n - 1; p > 0; --p) cuts[p] = std::min(cuts[p], cuts[p + 1] - parts[p].cells);
    for (std::int64_t p = 0; p < n; ++p) regions.push_back(cells_of(row, cuts[p], cuts[p + 1]));
    return regions;
}

}  // namespace balance
