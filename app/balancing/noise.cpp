// SPDX-License-Identifier: MIT
#include "app/balancing/noise.hpp"

#include <algorithm>

#include "md/random.hpp"

namespace app {

balance::KnownToFirst<double> noise_of(double noise, std::uint64_t seed, std::int64_t step, const balance::Hosts& hosts,
                                       int rank) {
    balance::KnownToFirst<double> factors;
    if (noise == 0) return factors;
    const std::uint64_t of_step = seed + md::mix(static_cast<std::uint64_t>(step));
    const balance::Range known = rank == 0 ? balance::Range{0, hosts.processes()} : hosts.processes_of(rank);
    for (std::int64_t p = known.begin; p < known.end; ++p)
        factors.push_back(std::max(0.0, 1 + noise * md::normal_pair(of_step, p)[0]));
    return factors;
}

}  // namespace app
