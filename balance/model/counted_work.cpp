// SPDX-License-Identifier: MIT
#include "balance/model/counted_work.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "balance/grid/for_each.hpp"

namespace balance {
namespace {

// Calls visit(index, x, y) for each cell of a home in the order of its values; x, y: the cell's centre, lengths.
template <class Visit>
void for_each_cell(const CountedCells& cells, Visit visit) {
    std::size_t i = 0;
    for_each_cell(cells.home, [&](int x, int y, int) {
        visit(i++, (x + 0.5) * cells.cell_width[0], (y + 0.5) * cells.cell_width[1]);
    });
}

}  // namespace

std::vector<std::int64_t> counted_work(const WorkCosts& costs, const CountedCells& cells) {
    std::vector<std::int64_t> work(cells.counts.size());
    // Cells that follow each other and lie on one side of the region's edge are counted together.
    std::size_t begin = 0;
    bool inside = false;
    const auto count_until = [&](std::size_t end) {
        cell_works(costs, inside, cells.counts.subspan(begin, end - begin),
                   cells.neighbours.subspan(begin, end - begin), std::span(work).subspan(begin, end - begin));
        begin = end;
    };
    for_each_cell(cells, [&](std::size_t i, double x, double y) {
        if (in_region(costs, x, y) == inside) return;
        count_until(i);
        inside = !inside;
    });
    count_until(work.size());
    return work;
}

std::optional<ExcessiveWork> excessive(const Team& team, const WorkCosts& costs, const CountedCells& cells,
                                       std::span<const std::int64_t> work) {
    constexpr int low_bits = 20;  // the sum in two parts, of which those of many members still fit 64 bits
    __int128 mine = 0;
    for (const std::int64_t ticks : work) mine += ticks;
    std::array<std::int64_t, 2> parts{
        static_cast<std::int64_t>(std::min<__int128>(mine >> low_bits, most_ticks >> low_bits)),
        static_cast<std::int64_t>(mine & ((1 << low_bits) - 1))};
    team.sum(parts);
    if ((static_cast<__int128>(parts[0]) << low_bits) + parts[1] < most_ticks) return std::nullopt;

    WorkByKey seconds{};
    for_each_cell(cells, [&](std::size_t i, double x, double y) {
        const WorkByKey cell = cell_work_by_key(costs, cells.counts[i], cells.neighbours[i], x, y);
        for (std::size_t k = 0; k < cell.size(); ++k) seconds[k] += cell[k];
    });
    std::vector<std::int64_t> milliseconds;
    for (const double s : seconds) milliseconds.push_back(std::llround(std::clamp(s, -1e12, 1e12) * 1e3));
    team.sum(milliseconds);
    std::transform(milliseconds.begin(), milliseconds.end(), seconds.begin(),
                   [](std::int64_t ms) { return static_cast<double>(ms) * 1e-3; });
    return ExcessiveWork{std::accumulate(seconds.begin(), seconds.end(), 0.0), most_expensive_key(costs, seconds)};
}

std::vector<double> counted_times(const Team& team, const Owners& owners, std::span<const std::int64_t> work,
                                  std::int64_t processes) {
    std::vector<double> seconds;
    for (const std::int64_t ticks : sums_by_process(team, owners, work, processes))
        seconds.push_back(to_seconds(ticks));
    return seconds;
}

}  // namespace balance
