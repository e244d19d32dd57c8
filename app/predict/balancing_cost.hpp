// SPDX-License-Identifier: MIT
// What balancing takes, for predictions.
#pragma once
#include <cstdint>

#include "app/deck/deck.hpp"
#include "predict/machine.hpp"

namespace app {

/// Seconds of a step that go into balancing and migration, of a run with one process a rank: those of one balancing
/// over the steps between two. Estimated: the arithmetic at the rates of app/balancing/simulated_cost.hpp, which were
/// measured on one core of one machine; messages as many and as large as a fit to simulated ranks has it; moved
/// particles, and how many balancings migrate, as in a few runs (docs/prediction.md). cells, particles: of the whole
/// system.
double rebalancing_seconds(const Deck::Balance& balance, std::int64_t ranks, double cells, double particles,
                           const predict::Machine& machine);

}  // namespace app
