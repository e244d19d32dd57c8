// SPDX-License-Identifier: MIT
// The step loop.
#pragma once
#include <cstdint>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"
#include "app/output/observer.hpp"

namespace app {

/// Advances from step `first` to step `last`. If a rank wants to stop, the run ends one step later with a checkpoint.
/// Positions and velocities are at a whole step before and after. Returns the step reached.
///
/// Throws, on all ranks alike, md::SimulationError naming the step. Throws DeckError, on all ranks alike, if no
/// partition keeps the deck's limit of particles any more. A checkpoint of that step comes first, unless it is the
/// first step.
std::int64_t run_steps(Engine& engine, LoadBalancer& balancer, std::int64_t first, std::int64_t last,
                       Observer& observer);

}  // namespace app
