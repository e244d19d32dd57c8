// SPDX-License-Identifier: MIT
// What a partition is worth, and what it costs to go from one to another: ghost cells, predicted efficiency, what
// moves. Each member looks at its slab of the grid (balance/grid/field.hpp).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {

/// The process that owns each cell of `slab` and of the column on either side of it, across a periodic boundary where
/// there is one: slab.extent(0) + 2 columns of grid.cells[1] cells. -1 outside the box.
std::vector<std::int32_t> owners_around(const Grid& grid, const Box& slab, const Partition& partition);

/// Cells of the slab that other processes see, each counted once for each process that owns one of its eight
/// neighbours. owners: see owners_around().
std::int64_t ghost_cells(const Grid& grid, std::span<const std::int32_t> owners);

/// Load balance efficiency: mean over maximum; 1 where nothing was measured.
double efficiency(std::span<const double> times);

/// Efficiency of the processes' loads (LBE_m). load: of the member's slab. Collective.
double predicted_efficiency(const Team& team, const Grid& grid, std::span<const std::int32_t> owners,
                            std::span<const std::int64_t> load, std::int64_t processes);

/// What goes to another process.
struct Moved {
    std::int64_t cells = 0, particles = 0;
};
/// From one partition to another, in the member's slab. particles: of each of its cells.
Moved moved_between(const Grid& grid, std::span<const std::int32_t> before, std::span<const std::int32_t> after,
                    std::span<const std::int64_t> particles);

}  // namespace balance
