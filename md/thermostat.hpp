// SPDX-License-Identifier: MIT
// Thermostats: what they do to velocities at whole steps, between two steps of velocity Verlet. Nothing of them is in
// the kernels of a step.
#pragma once
#include <cmath>
#include <cstdint>

#include "md/kernels/hd.hpp"
#include "md/kernels/integration.hpp"
#include "md/observables.hpp"
#include "md/philox.hpp"
#include "md/random.hpp"
#include "md/thermostat_spec.hpp"

namespace md {

/// An action of a thermostat. It changes the velocity v of a particle to mean + keep (v - mean) + spread R. The normal
/// random numbers R depend on seed, id and step alone.
template <int D>
struct VelocityChange {
    std::int64_t mean[D];  ///< 2^-40, as velocities
    double keep, spread;   ///< spread: 2^-40
    Philox philox;
    std::uint64_t step;

    HD Vec<std::int64_t, D> operator()(std::int64_t id, const Vec<std::int64_t, D>& v) const {
        double random[4] = {0, 0, 0, 0};
        for (int pair = 0; spread > 0 && 2 * pair < D; ++pair) {
            const NormalPair r = normal_pair_of([&](std::uint64_t trial) { return bits(id, pair, trial); });
            random[2 * pair] = r.first, random[2 * pair + 1] = r.second;
        }
        return vec<D>([&](int a) {  // the last pass found v below 2^51, and decks allow spreads up to 2^50
            const double kept = keep * static_cast<double>(v[a] - mean[a]);
            return mean[a] + static_cast<std::int64_t>(to_i64(kept + spread * random[a]));
        });
    }

private:
    // Steps have 50 bits: there is room above them for the number of the pair and of the trial.
    HD RandomBits bits(std::int64_t id, int pair, std::uint64_t trial) const {
        const auto n = static_cast<std::uint64_t>(id),
                   last = step | static_cast<std::uint64_t>(pair) << 50 | trial << 51;
        const Philox::Counter c = philox({{static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32),
                                           static_cast<std::uint32_t>(last), static_cast<std::uint32_t>(last >> 32)}});
        return {std::uint64_t{c.word[1]} << 32 | c.word[0], std::uint64_t{c.word[3]} << 32 | c.word[2]};
    }
};

/// The action at a step. sums: of the whole system at that step, for kind rescale.
template <int D>
VelocityChange<D> velocity_change(const Thermostat& t, std::uint64_t seed, double dt, std::int64_t step,
                                  const SystemSums& sums);

/// Kinetic energy that a change of velocity gives, 2^-kinetic_bits.
template <int D>
HD std::int64_t gained(const Vec<std::int64_t, D>& before, const Vec<std::int64_t, D>& after) {
    const auto unsigned_of = [](const Vec<std::int64_t, D>& v) {
        return vec<D>([&](int a) { return static_cast<std::uint64_t>(v[a]); });
    };
    return static_cast<std::int64_t>(kinetic_energy(unsigned_of(after)) - kinetic_energy(unsigned_of(before)));
}

}  // namespace md
