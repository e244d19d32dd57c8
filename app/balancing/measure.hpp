// SPDX-License-Identifier: MIT
// What is counted in the cells before a balancing, brought from the tiles to the cells' homes (balance/grid/field.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/engine/engine.hpp"
#include "balance/model/load_model.hpp"
#include "balance/model/work.hpp"
#include "balance/team.hpp"

namespace app {

/// Of the cells of this rank's home, column by column.
struct MeasuredCells {
    std::vector<balance::CellCounts> counts;
    std::vector<std::int64_t> particles;
};
/// After Engine::rebin(). owners: the tiles' decomposition. Collective.
MeasuredCells measure_cells(const balance::Team& team, const Engine& engine, const balance::Decomposition& owners);

/// Counted work of these cells, ticks a step. cell_width: lengths. After Engine::build_neighbour_lists(). Collective.
/// Throws md::SimulationError, on all ranks alike, where the work cannot be summed exactly.
std::vector<std::int64_t> measure_work(const MeasuredCells& cells, const balance::WorkCosts& costs,
                                       std::array<double, 2> cell_width, const balance::Team& team, Engine& engine,
                                       const balance::Decomposition& owners);

/// What the processes with the even partition would take of the times that this rank's ones took, rounded; in both, one
/// of each process. A process's time is shared by what its tiles' neighbour lists hold, and that of a tile that several
/// would own like the loads that cells with so many particles usually have: costs[0] + n (costs[1] + costs[2] n3 +
/// costs[3] n5). tiles: without blocks of accelerators.
std::vector<std::int64_t> evenly_owned(const Tiles& tiles, std::span<const double> times, const balance::Grid& grid,
                                       std::span<const double> costs);

}  // namespace app
