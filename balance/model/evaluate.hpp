// SPDX-License-Identifier: MIT
// Runs a load model over a partition: each member gives the model one process, or one piece of a process, after the
// other.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "balance/model/load_model.hpp"
#include "balance/model/process_cells.hpp"

namespace balance {

/// Loads of the cells in a member's *home*, its fixed block of the grid. They are integers, so their sums are exact.
struct CellLoads {
    std::vector<std::int64_t> load;
    double unit = 1;  ///< load * unit is the model's load, in its own unit (seconds a step, but for particle_count)
};

/// The loads that all models start from, before anything was measured.
CellLoads first_loads(Start start, std::span<const CellCounts> counts);

/// Lets the model learn from the times of a partition's processes, and returns its loads from then on. Collective.
/// cells: the cells of the processes in that partition. An additive model may get pieces of processes.
/// counts: particle counts of the cells of the member's home.
/// state: the model's state of these cells, read and written.
/// times: seconds a step of each process that the member hosts.
/// work: true cost of the home's cells in ticks, for a model that wants it; empty: not known.
/// ahead: particle counts that these cells will have; known on all members or on none.
CellLoads evaluate(LoadModel& model, const Team& team, const Grid& grid, const ProcessCells& cells,
                   std::span<const CellCounts> counts, std::span<double> state, std::span<const double> times,
                   std::span<const std::int64_t> work = {}, const std::optional<std::vector<CellCounts>>& ahead = {});

/// Turns loads (>= 0, any unit) of the cells in a member's home into integers. Their unit is as fine as a sum over the
/// grid allows. Collective.
CellLoads as_integers(const Team& team, const Grid& grid, std::span<const double> loads);

}  // namespace balance
