// SPDX-License-Identifier: MIT
// Sums over all particles, and the thermodynamic quantities that follow from them. Reduced units, mass 1, Boltzmann's
// constant 1.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "md/domain.hpp"
#include "md/kernels/kernels.hpp"

namespace md {

/// Energy that thermostats and moving faces have given the particles so far, 2^-kinetic_bits.
struct Given {
    Int128 heat = 0;  ///< by a thermostat
    Int128 work = 0;  ///< by faces that moved
};

/// Sums over all particles of all ranks at one whole step, exact.
struct SystemSums {
    std::int64_t particles = 0, pairs = 0;
    std::array<Int128, 3> momentum{0, 0, 0};  ///< 2^-40
    Int128 kinetic = 0, external = 0;         ///< 2^-28
    Int128 energy = 0, virial = 0;            ///< 2^-32, every pair counted twice
    Given given;
};

struct Thermo {
    double kinetic = 0, potential = 0, external = 0;  ///< whole system; external: of gravity and walls
    double heat = 0, work = 0;                        ///< given to it so far by a thermostat, and by faces that moved
    std::array<double, 3> momentum{0, 0, 0};
    double temperature = 0;  ///< in the frame of the centre of mass, D (N - 1) degrees of freedom
    double pressure = 0;     ///< (twice the kinetic energy in that frame + virial) / (D volume)
    double total() const { return kinetic + potential + external; }
    /// The energy that the exact motion would conserve.
    double conserved() const { return total() - heat - work; }
};

/// Kinetic energy in the frame of the centre of mass.
inline double thermal_energy(const SystemSums& t, int dimensions) {
    double drift = 0;
    for (int a = 0; a < dimensions; ++a) {
        const double p = static_cast<double>(t.momentum[a]) * velocity_unit;
        drift += p * p;
    }
    const double kinetic = std::ldexp(static_cast<double>(t.kinetic), -kinetic_bits);
    return std::max(0.0, kinetic - drift / (2 * static_cast<double>(t.particles)));
}
/// Temperature in that frame.
inline double temperature_of(const SystemSums& t, int dimensions) {
    if (t.particles < 2) return 0;
    return thermal_energy(t, dimensions) / (dimensions / 2.0) / (static_cast<double>(t.particles) - 1);
}

inline Thermo thermo(const SystemSums& t, const Domain& domain) {
    Thermo r;
    r.potential = std::ldexp(static_cast<double>(t.energy), -energy_bits - 1);  // pairs are counted twice
    const auto of_quanta = [](Int128 e) { return std::ldexp(static_cast<double>(e), -kinetic_bits); };
    r.kinetic = of_quanta(t.kinetic);
    r.external = of_quanta(t.external);
    r.heat = of_quanta(t.given.heat);
    r.work = of_quanta(t.given.work);
    const double virial = std::ldexp(static_cast<double>(t.virial), -energy_bits - 1);
    for (int a = 0; a < domain.dimensions; ++a) r.momentum[a] = static_cast<double>(t.momentum[a]) * velocity_unit;
    if (t.particles > 0) {
        const double thermal = thermal_energy(t, domain.dimensions), half_of_axes = domain.dimensions / 2.0;
        r.temperature = temperature_of(t, domain.dimensions);
        r.pressure = (thermal + virial / 2) / half_of_axes / domain.volume();
    }
    return r;
}

}  // namespace md
