// SPDX-License-Identifier: MIT
#include "app/balancing/noise.hpp"

#include <algorithm>

#include "md/random.hpp"

namespace app {

std::vector<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::Range& processes) {
    std::vector<double> factors;
    if (noise == 0) return factors;
    const std::uint64_t of_step = seed + md::mix(static_cast<std::uint64_t>(step));
    for (std::int64_t p = processes.begin; p < processes.end; ++p)
        factors.push_back(std::max(0.0, 1 + noise * md::normal_pair(of_step, p)[0]));
    return factors;
}

}  // namespace app
