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

/// Sums over all particles of all ranks at one whole step, exact.
struct SystemSums {
    std::int64_t particles = 0, pairs = 0;
    std::array<Int128, 3> momentum{0, 0, 0};  ///< 2^-40
    Int128 kinetic = 0;                       ///< 2^-28
    Int128 energy = 0, virial = 0;            ///< 2^-32, every pair counted twice
};

struct Thermo {
    double kinetic = 0, potential = 0;  ///< whole system
    std::array<double, 3> momentum{0, 0, 0};
    double temperature = 0;  ///< in the frame of the centre of mass, D (N - 1) degrees of freedom
    double pressure = 0;     ///< (twice the kinetic energy in that frame + virial) / (D volume)
    double total() const { return kinetic + potential; }
};

inline Thermo thermo(const SystemSums& t, const Domain& domain) {
    Thermo r;
    const auto n = static_cast<double>(t.particles);
    r.kinetic = std::ldexp(static_cast<double>(t.kinetic), -kinetic_bits);
    r.potential = std::ldexp(static_cast<double>(t.energy), -energy_bits - 1);  // pairs are counted twice
    const double virial = std::ldexp(static_cast<double>(t.virial), -energy_bits - 1);
    for (int a = 0; a < domain.dimensions; ++a) r.momentum[a] = static_cast<double>(t.momentum[a]) * velocity_unit;
    if (n > 0) {
        double drift = 0;
        for (const double p : r.momentum) drift += p * p;
        const double thermal = std::max(0.0, r.kinetic - drift / (2 * n)), half_of_axes = domain.dimensions / 2.0;
        r.temperature = n > 1 ? thermal / half_of_axes / (n - 1) : 0.0;
        r.pressure = (thermal + virial / 2) / half_of_axes / domain.volume();
    }
    return r;
}

}  // namespace md
