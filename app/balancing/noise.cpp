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

std::vector<double> counted_reference(const balance::Slowdown& slow, double noise, std::uint64_t seed,
                                      std::int64_t step, const balance::Range& hosted) {
    std::vector<double> seconds = noise_of(noise, ~seed, step, hosted);
    seconds.resize(hosted.size(), 1);
    for (std::size_t i = 0; i < seconds.size(); ++i)
        seconds[i] /= balance::speed_of(slow, hosted.begin + static_cast<std::int64_t>(i), step);
    return seconds;
}

}  // namespace app
