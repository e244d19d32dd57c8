// SPDX-License-Identifier: MIT
// Noise on measured times, for studies of how models bear it.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "balance/grid/grid.hpp"

namespace app {

/// Factors for the times of some processes, of relative noise `noise`, by the deck's seed and the step. Empty where
/// there is none.
std::vector<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::Range& processes);

/// Factor for the time of a part of a process (balance::Moment::part_noise), of relative noise sqrt(8) `noise`: an
/// eighth of a time scatters so much if its errors are independent. Empty if there is no noise.
std::function<double(std::int64_t process, std::size_t part)> part_noise_of(double noise, std::uint64_t seed,
                                                                            std::int64_t step);

}  // namespace app
