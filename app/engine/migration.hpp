// SPDX-License-Identifier: MIT
// Particles that change their tile because their cell gets another owner, or because they come from a file.
#pragma once
#include <vector>

#include "app/engine/tiles.hpp"

namespace app {

/// Changes owners from those of `old`, which the tiles have, to those of `next`. The particles of each cell go to its
/// new tile, along the plan from one decomposition to the other. Messages follow the setup. The tiles must be sorted
/// before, and are not sorted afterwards. A rank has both partitions only until it knows the moves. Collective.
template <int D>
void repartition(Tiles<D>& tiles, const Setup& setup, balance::Decomposition old, const balance::Decomposition& next);

/// Takes particles from anywhere (positions inside the box) to the tiles that own their cells by `owners`, the tiles'
/// decomposition. Collective. Throws md::SimulationError on the rank that has one outside the box.
template <int D>
void distribute(Tiles<D>& tiles, const Setup& setup, const balance::Decomposition& owners,
                const std::vector<md::Particle<D>>& particles);

}  // namespace app
