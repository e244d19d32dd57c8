// SPDX-License-Identifier: MIT
// Particles that change their tile because their cell gets another owner, or because they come from a file. Bodies that
// are filled at random: ranks share the blocks of each body, whoever owns their cells.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/engine/tiles.hpp"
#include "comm/communicator.hpp"
#include "md/domain.hpp"
#include "md/particles.hpp"
#include "md/system.hpp"

namespace app {

/// Changes the owners of cells from `old`, the decomposition of the tiles, to `next`. The particles of each cell go to
/// its new tile, along the plan from one decomposition to the other. Messages follow the setup. The tiles must be
/// sorted before, and are not sorted afterwards. A rank has both partitions only until it knows the moves. Collective.
template <int D>
void repartition(Tiles<D>& tiles, const Setup& setup, balance::Decomposition old, const balance::Decomposition& next);

/// Takes particles from anywhere (positions inside the box) to the tiles that own their cells by `owners`, the tiles'
/// decomposition. Collective. Throws md::SimulationError on the rank that has one outside the box.
template <int D>
void distribute(Tiles<D>& tiles, const Setup& setup, const balance::Decomposition& owners,
                const std::vector<md::Particle<D>>& particles);

/// Calls take(particles) once for each body at random, on all ranks, with this rank's share of its particles. They lie
/// anywhere in the body. first_id: first id of each body of all_bodies(), and one more than the last id. Throws
/// RunError with exit code 2 if a body does not hold its particles. Collective.
template <int D>
void fill_at_random(const md::System& system, std::span<const md::Body> bodies, std::span<const std::int64_t> first_id,
                    const md::Domain& domain, const comm::Communicator& comm,
                    const std::function<void(const std::vector<md::Particle<D>>&)>& take);

}  // namespace app
