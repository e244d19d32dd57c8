// SPDX-License-Identifier: MIT
// A balancing in the form that other programs want: the owners of the cells until then, and the cells' times.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "balance/grid/for_each.hpp"
#include "balance/round.hpp"

namespace app {

struct BalancedCells {
    std::int64_t step = 0;
    balance::Partition partition;         ///< in use up to this step
    std::vector<double> seconds;          ///< a step of each cell, at the mean speed of the processes
    std::vector<std::int64_t> particles;  ///< in each cell
    std::vector<double> speeds;  ///< of each process; the loads of its cells add up to its time times its speed
};

/// The cells of a round that was not the first. The time of a process is shared out over its cells by their counted
/// work, or by the driver's `loads` if none is counted. Lists of cells are on rank 0, ordered by x, then y, then z.
/// speeds: of all processes, relative to their mean. Collective.
BalancedCells balanced_cells(std::int64_t step, const balance::Partition& in_use, const balance::RoundOutcome& outcome,
                             const std::optional<balance::CellLoads>& loads, std::vector<double> speeds,
                             const balance::Grid& grid, const balance::Team& team);

/// Calls visit(place) for each cell of a box; place: in lists of all cells.
template <class Visit>
void for_each_cell(const balance::Grid& grid, const balance::Box& box, Visit visit) {
    balance::for_each_cell(box, [&](int x, int y, int z) { visit(balance::place_in(grid.box(), x, y, z)); });
}

/// Calls visit(process, box) for each box of a partition, in order.
template <class Visit>
void for_each_box(const balance::Partition& partition, Visit visit) {
    for (std::int64_t p = 0; p < partition.processes(); ++p)
        for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b) visit(p, partition.boxes[b]);
}

}  // namespace app
