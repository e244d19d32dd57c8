// SPDX-License-Identifier: MIT
// Noise on measured times, for studies of how models bear it.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/grid/grid.hpp"

namespace app {

/// Factors for the times of some processes, of relative noise `noise`, by the deck's seed and the step. Empty where
/// there is none.
std::vector<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::Range& processes);

}  // namespace app
