// SPDX-License-Identifier: MIT
// The Euclidean projection behind the measured load models.
#pragma once
#include <span>
#include <vector>

namespace balance {

/// Nearest load to `previous` whose sum is `time`: Euclidean projection on the simplex (Liu et al. 2015, algorithm 1).
/// previous: seconds per cell, each >= 0, one per cell of the process.  time: measured seconds, >= 0.
/// Returns seconds per cell, each >= 0, summing to `time` to rounding; all zeros for time 0, nothing for no cells.
/// Without sorting: adding a constant to every cell where that leaves none negative, else Michelot's iteration
/// (expected O(N); Condat 2016).  Throws std::invalid_argument on negative or non-finite input.
std::vector<double> project_to_sum(std::span<const double> previous, double time);

}  // namespace balance
