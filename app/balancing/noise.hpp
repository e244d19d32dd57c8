// SPDX-License-Identifier: MIT
// Noise on measured times, for studies: what one wants to know is how models bear it.
#pragma once
#include <cstdint>

#include "balance/partition/hosts.hpp"

namespace app {

/// Factors for the times of the processes that `rank` hosts, on rank 0 of all (balance::KnownToFirst), of relative
/// noise `noise`, by the deck's seed and the step. Empty where there is none.
balance::KnownToFirst<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::Hosts& hosts,
                                       int rank);

}  // namespace app
