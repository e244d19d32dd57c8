// SPDX-License-Identifier: MIT
// Langevin: friction takes 2 h between two actions, so the exact solution keeps the factor exp(-2 h). The program takes
// (1 - h) / (1 + h), which is the same to order h^3 and needs nothing but IEEE arithmetic. With the spread that belongs
// to it, it leaves exactly the wanted temperature for every h.
//
// Rescaling works in the frame of the centre of mass, in which the temperature is measured, from exact sums: the factor
// is the same on all ranks.
#include "md/thermostat.hpp"

#include <algorithm>

namespace md {

template <int D>
VelocityChange<D> velocity_change(const Thermostat& t, std::uint64_t seed, double dt, std::int64_t step,
                                  const SystemSums& sums) {
    VelocityChange<D> change{{},
                             1,
                             0,
                             {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
                             static_cast<std::uint64_t>(step)};
    if (t.kind == ThermostatKind::langevin) {
        const double h = t.half_loss(dt);
        change.keep = (1 - h) / (1 + h);
        change.spread = std::sqrt((1 - change.keep * change.keep) * t.temperature) / velocity_unit;
    } else if (sums.particles > 1) {
        const double temperature = temperature_of(sums, D);
        for (int a = 0; a < D; ++a) change.mean[a] = static_cast<std::int64_t>(sums.momentum[a] / sums.particles);
        // Particles at rest stay so; and nothing becomes so fast at once that it leaves the range of velocities.
        constexpr double most = 1000;
        if (temperature > 0) change.keep = std::min(std::sqrt(t.temperature / temperature), most);
    }
    return change;
}
template VelocityChange<2> velocity_change(const Thermostat&, std::uint64_t, double, std::int64_t, const SystemSums&);
template VelocityChange<3> velocity_change(const Thermostat&, std::uint64_t, double, std::int64_t, const SystemSums&);

}  // namespace md
