// SPDX-License-Identifier: MIT
#include "app/balancing/balanced_cells.hpp"

#include <utility>

namespace app {

BalancedCells balanced_cells(std::int64_t step, const balance::Partition& in_use, const balance::RoundOutcome& outcome,
                             const std::optional<balance::CellLoads>& loads, std::vector<double> speeds,
                             const balance::Grid& grid, const balance::Team& team) {
    std::vector<std::int64_t> particles, shares = outcome.cells.work;
    for (const balance::CellCounts& c : outcome.cells.counts) particles.push_back(c.n);
    if (shares.empty() && loads) shares = loads->load;
    BalancedCells before{step, in_use, {}, balance::whole_field(team, grid, particles), std::move(speeds)};
    shares = balance::whole_field(team, grid, shares);
    const std::vector<double> seconds = balance::gather<double>(team, outcome.seconds);  // members host in order
    if (team.rank() != 0) return before;
    std::vector<double> sums(in_use.processes(), 0), cells(in_use.processes(), 0);
    for_each_box(in_use, [&](std::int64_t p, const balance::Box& box) {
        cells[p] += static_cast<double>(box.cells());
        for_each_cell(grid, box, [&](std::int64_t c) { sums[p] += static_cast<double>(shares[c]); });
    });
    before.seconds.resize(shares.size());
    for_each_box(in_use, [&](std::int64_t p, const balance::Box& box) {
        for_each_cell(grid, box, [&](std::int64_t c) {
            const double share = sums[p] > 0 ? static_cast<double>(shares[c]) / sums[p] : 1 / cells[p];
            before.seconds[c] = seconds[p] * before.speeds[p] * share;
        });
    });
    return before;
}

}  // namespace app
