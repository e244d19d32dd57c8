// SPDX-License-Identifier: MIT
// Noise on measured times, for studies of how models bear it.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/model/work.hpp"

namespace app {

/// Factors for the times of some processes, of relative noise `noise`, by the deck's seed and the step. Empty where
/// there is none.
std::vector<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::Range& processes);

/// By counted work: the reference takes 1 on a process with speed 1. hosted: the processes; noise, seed: relative
/// noise, another one than that of their times.
std::vector<double> counted_reference(const balance::Slowdown& slow, double noise, std::uint64_t seed,
                                      std::int64_t step, const balance::Range& hosted);

}  // namespace app
