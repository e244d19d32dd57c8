// SPDX-License-Identifier: MIT
// What a balancing takes, for predictions.
#pragma once
#include <cstdint>

#include "predict/machine.hpp"

namespace app {

/// Seconds of one balancing of `ranks` processes, one a rank: the arithmetic at the rates of
/// app/balancing/simulated_cost.hpp, measured on one core of one machine, and messages as many and as large as a fit to
/// simulated ranks has it (docs/prediction.md). cells: of the grid.
double balancing_seconds(std::int64_t ranks, std::int64_t cells, const predict::Machine& machine);

/// Seconds to move the particles that one balancing moves; particles: of the whole system.
double migration_seconds(std::int64_t ranks, double particles, const predict::Machine& machine);

}  // namespace app
