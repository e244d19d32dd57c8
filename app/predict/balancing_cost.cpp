// SPDX-License-Identifier: MIT
#include "app/predict/balancing_cost.hpp"

#include <cmath>
#include <initializer_list>

#include "app/balancing/simulated_cost.hpp"

namespace app {

double balancing_seconds(std::int64_t ranks, std::int64_t cells, const predict::Machine& machine) {
    const auto p = static_cast<double>(ranks), all = static_cast<double>(cells), home = all / p;
    const auto part = [&](const PartCost& c, double of) { return c.once + c.process * p + c.cell * of; };
    double seconds = 0;
    for (const PartCost& c : {cost::tiles, cost::tiles, cost::bisection, cost::chain}) seconds += part(c, all);
    for (const PartCost& c : {cost::gathered, cost::gathered, cost::gathered, cost::fields, cost::fields, cost::fields,
                              cost::owners, cost::owners, cost::owners, cost::quality, cost::counted, cost::model})
        seconds += part(c, home);
    if (ranks == 1) return seconds;
    // Of a rank: simulated runs of 96, 384 and 2400 ranks sent 226, 328 and 540 messages and 0.9, 1.8 and 5.4 MB.
    const double doublings = std::log2(p), messages = 4.8 * doublings * doublings, bytes = 0.75e6 + 1940 * p;
    return seconds + messages * (machine.message_seconds + machine.between.latency_seconds) +
           bytes / machine.copy_bytes_per_second;
}

double migration_seconds(std::int64_t ranks, double particles, const predict::Machine& machine) {
    return ranks == 1 ? 0 : machine.moved_fraction * particles / static_cast<double>(ranks) * machine.move_seconds;
}

}  // namespace app
