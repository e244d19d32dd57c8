// SPDX-License-Identifier: MIT
// The deterministic clock (balance/model/work.hpp) read over a member's home and over the processes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "balance/model/work.hpp"
#include "balance/partition/quality.hpp"
#include "balance/team.hpp"

namespace balance {

/// Counts of the cells of a member's home, column by column.
struct CountedCells {
    Box home;
    std::array<double, 3> cell_width;  ///< lengths
    std::span<const CellCounts> counts;
    std::span<const std::int64_t> neighbours;  ///< directed pairs within the cutoff of each cell's particles
};

/// Ticks a step of each cell.
std::vector<std::int64_t> counted_work(const WorkCosts& costs, const CountedCells& cells);

/// Work that is too much to be summed exactly, and the deck's key that makes it so large.
struct ExcessiveWork {
    double seconds;  ///< of one step, all members
    MostExpensiveKey expensive;
};
/// Sums over any of the cells are exact when the sum over all of them stays below most_ticks: nothing is returned then.
/// The same on all members. Collective.
std::optional<ExcessiveWork> excessive(const Team& team, const WorkCosts& costs, const CountedCells& cells,
                                       std::span<const std::int64_t> work);

/// Seconds a step of each process when each cell of the member's home takes `work` ticks. Collective.
std::vector<double> counted_times(const Team& team, const Owners& owners, std::span<const std::int64_t> work,
                                  std::int64_t processes);

}  // namespace balance
