// SPDX-License-Identifier: MIT
// The step loop.
#pragma once
#include <cstdint>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"
#include "app/output/observer.hpp"

namespace app {

/// Advances from step `first` to step `last`, or to the step after a rank wanted to stop, which then ends with a
/// checkpoint; positions and velocities are at a whole step before and after. Returns the step reached. Throws, on all
/// ranks alike, md::SimulationError naming the step, and DeckError when no partition keeps the deck's limit of
/// particles any more: after a checkpoint of that step, unless it is the first.
std::int64_t run_steps(Engine& engine, LoadBalancer& balancer, std::int64_t first, std::int64_t last,
                       Observer& observer);

}  // namespace app
