// SPDX-License-Identifier: MIT
// Recursive bisection rounds to half a cell at each of its cuts, which adds up where parts have few cells. The chain
// partition rounds once. Where cells are so heavy that even this is felt, cells near the cuts are exchanged.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "balance/grid/for_each.hpp"
#include "balance/nested/split.hpp"
#include "balance/partition/chain.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

// The boxes of all parts in one row, and the order of the cells in each.
struct PartRow {
    std::vector<Box> boxes;
    std::vector<std::array<int, 3>> axes;
    std::vector<std::int64_t> first_cell{0};  // of each box, and the number of all
};
PartRow row_of(std::vector<SplitPart> parts) {
    PartRow row;
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

std::vector<std::int64_t> loads_along(const PartRow& row, const Loads& loads) {
    std::vector<std::int64_t> of_cells;
    of_cells.reserve(row.first_cell.back());
    for (std::size_t i = 0; i < row.boxes.size(); ++i) {
        const Box& box = row.boxes[i];
        const auto [a, b, c] = row.axes[i];
        const Box turned{{box.lower[a], box.lower[b], box.lower[c]}, {box.upper[a], box.upper[b], box.upper[c]}};
        for_each_cell(turned, [&, a = a, b = b, c = c](int p, int q, int r) {
            of_cells.push_back(loads.of(slab(slab(slab(box, a, p, p + 1), b, q, q + 1), c, r, r + 1)));
        });
    }
    return of_cells;
}

// Cells of a row, in the order in which they are dealt to parts: part p gets those at places cuts[p] .. cuts[p + 1].
struct Deal {
    std::vector<std::int64_t> load;   // of each cell of the row
    std::vector<std::int64_t> order;  // numbers of cells
    std::vector<std::int64_t> cuts;
    std::vector<double> sum;  // load of each part
};

// Exchanges two cells near the cut between a part and the next, so that the slower part gets as fast as possible. Does
// nothing if no exchange makes it faster.
bool exchange(Deal& deal, std::span<const PartNeed> parts, std::size_t lower) {
    constexpr std::int64_t near = 12;  // cells
    const std::size_t upper = lower + 1;
    const std::int64_t cut = deal.cuts[upper];
    double slowest = std::max(deal.sum[lower] / parts[lower].speed, deal.sum[upper] / parts[upper].speed);
    std::pair<std::int64_t, std::int64_t> best{-1, -1};
    for (std::int64_t i = std::max(deal.cuts[lower], cut - near); i < cut; ++i)
        for (std::int64_t j = cut; j < std::min(deal.cuts[upper + 1], cut + near); ++j) {
            const auto moved = static_cast<double>(deal.load[deal.order[i]] - deal.load[deal.order[j]]);
            const double then = std::max((deal.sum[lower] - moved) / parts[lower].speed,
                                         (deal.sum[upper] + moved) / parts[upper].speed);
            if (then < slowest) slowest = then, best = {i, j};
        }
    if (best.first < 0) return false;
    const auto moved = static_cast<double>(deal.load[deal.order[best.first]] - deal.load[deal.order[best.second]]);
    std::swap(deal.order[best.first], deal.order[best.second]);
    deal.sum[lower] -= moved;
    deal.sum[upper] += moved;
    return true;
}

// Exchanges cells of parts that are slower than they may be, until there are none or nothing helps.
void exchange_cells(Deal& deal, std::span<const PartNeed> parts, double tolerance) {
    constexpr int sweeps = 20;
    double load = 0, speed = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        load += deal.sum[p];
        speed += parts[p].speed;
    }
    const auto is_slow = [&](std::size_t p) { return deal.sum[p] / parts[p].speed > (1 + tolerance) * load / speed; };
    bool changed = true;
    for (int sweep = 0; changed && sweep < sweeps; ++sweep) {
        changed = false;
        for (std::size_t p = 0; p + 1 < parts.size(); ++p)
            if ((is_slow(p) || is_slow(p + 1)) && exchange(deal, parts, p)) changed = true;
    }
}

Region cells_of(const PartRow& row, const Deal& deal, std::size_t part) {
    Region region;
    std::size_t box = 0;
    for (std::int64_t i = deal.cuts[part], next; i < deal.cuts[part + 1]; i = next) {
        next = i + 1;  // a run of cells that follow each other in the row
        while (next < deal.cuts[part + 1] && deal.order[next] == deal.order[next - 1] + 1) ++next;
        const std::int64_t begin = deal.order[i], end = begin + next - i;
        box = std::upper_bound(row.first_cell.begin(), row.first_cell.end(), begin) - row.first_cell.begin() - 1;
        for (; box < row.boxes.size() && row.first_cell[box] < end; ++box)
            add_cells(row.boxes[box], row.axes[box], std::max<std::int64_t>(begin - row.first_cell[box], 0),
                      std::min(end, row.first_cell[box + 1]) - row.first_cell[box], region);
    }
    return joined(region);
}

// Speeds as whole numbers, none where they are all the same.
PartTargets targets_of(std::span<const PartNeed> parts) {
    double largest = 0;
    bool equal = true;
    for (const PartNeed& p : parts) largest = std::max(largest, p.speed), equal = equal && p.speed == parts[0].speed;
    std::vector<std::int64_t> targets;
    for (const PartNeed& p : parts)
        if (!equal) targets.push_back(std::max<std::int64_t>(1, std::llround(p.speed / largest * (1 << 30))));
    return PartTargets(targets);
}

// The exact chain partition, where each part gets the cells that it needs.
std::vector<std::int64_t> cuts_of(const std::vector<std::int64_t>& load, std::span<const PartNeed> parts) {
    const auto n = std::ssize(parts);
    std::vector<std::int64_t> cuts = chain_partition({load, {}}, n, 0, targets_of(parts));
    for (std::int64_t p = 1; p < n; ++p) cuts[p] = std::max(cuts[p], cuts[p - 1] + parts[p - 1].cells);
    for (std::int64_t p = n - 1; p > 0; --p) cuts[p] = std::min(cuts[p], cuts[p + 1] - parts[p].cells);
    return cuts;
}

}  // namespace

std::vector<Region> split_exactly(const Region& region, const Loads& loads, std::span<const PartNeed> parts,
                                  double tolerance) {
    constexpr std::int64_t many_cells = 4096;  // in a region of more cells, half a cell does not matter
    constexpr double worth_exchanging = 5e-3;
    std::vector<SplitPart> split = split_region(region, loads, parts, tolerance);
    std::vector<Region> regions;
    const std::int64_t n = std::ssize(parts), cells = cells_in(region);
    std::int64_t needed = 0;
    for (const PartNeed& p : parts) needed += p.cells;
    if (cells > many_cells * n || n < 2 || cells < needed || load_in(region, loads) == 0) {
        for (SplitPart& p : split) regions.push_back(std::move(p.region));
        return regions;
    }
    const PartRow row = row_of(std::move(split));
    Deal deal{loads_along(row, loads), std::vector<std::int64_t>(cells), {}, std::vector<double>(n, 0.0)};
    std::iota(deal.order.begin(), deal.order.end(), std::int64_t{0});
    deal.cuts = cuts_of(deal.load, parts);
    for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t i = deal.cuts[p]; i < deal.cuts[p + 1]; ++i) deal.sum[p] += static_cast<double>(deal.load[i]);
    exchange_cells(deal, parts, worth_exchanging);
    for (std::int64_t p = 0; p < n; ++p) regions.push_back(cells_of(row, deal, p));
    return regions;
}

}  // namespace balance
