// SPDX-License-Identifier: MIT
// Particle counts in the cells around each cell. Homes are compact, so only a frame around each comes from others.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/model/load_model.hpp"
#include "balance/team.hpp"

namespace balance {

/// Particles in and around each cell of `part`, in the order of its cells.
///
/// frame: a box that reaches two cells beyond `part` on each side. In two dimensions both are one cell deep.
///
/// particles: in each cell of the frame.
std::vector<CellCounts> counts_in(const Box& part, int dimensions, const Box& frame,
                                  std::span<const std::int32_t> particles);

/// Particles in and around each cell of a member's home, across periodic boundaries as well. particles: in those cells.
/// Collective.
std::vector<CellCounts> counts_around(const Team& team, const Grid& grid, std::span<const std::int32_t> particles);

}  // namespace balance
