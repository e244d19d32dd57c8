// SPDX-License-Identifier: MIT
// Thermostats. A thermostat changes velocities at whole steps, between two steps of velocity Verlet. The kernels of a
// step contain no thermostat.
#pragma once
#include <cstdint>

#include "md/kernels/hd.hpp"
#include "md/kernels/integration.hpp"
#include "md/observables.hpp"
#include "md/random.hpp"
#include "md/thermostat_spec.hpp"

namespace md {

/// An action of a thermostat. It changes the velocity v of a particle to mean + keep (v - mean) + spread R. The normal
/// random numbers R depend on seed, id and step alone.
template <int D>
struct VelocityChange {
    std::int64_t mean[D];  ///< in the unit of velocities, 2^-40
    double keep, spread;   ///< keep: a factor; spread: in the unit of velocities
    Philox philox;
    std::uint64_t step;

    HD Vec<std::int64_t, D> operator()(std::int64_t id, const Vec<std::int64_t, D>& v) const {
        double random[4] = {0, 0, 0, 0};
        for (int pair = 0; spread > 0 && 2 * pair < D; ++pair) {
            const NormalPair r = normal_pair_of([&](std::uint64_t trial) { return bits(id, pair, trial); });
            random[2 * pair] = r.first, random[2 * pair + 1] = r.second;
        }
        return vec<D>([&](int a) {  // no overflow: the last pass checks v < 2^51, and decks limit spread to 2^50
            const double kept = keep * static_cast<double>(v[a] - mean[a]);
            return mean[a] + static_cast<std::int64_t>(to_i64(kept + spread * random[a]));
        });
    }

private:
    // A step has at most 50 bits. So one word holds the step, the number of the pair in bit 50, and the trial above.
    HD RandomBits bits(std::int64_t id, int pair, std::uint64_t trial) const {
        const auto n = static_cast<std::uint64_t>(id),
                   last = step | static_cast<std::uint64_t>(pair) << 50 | trial << 51;
        const Philox::Counter c = philox({{static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32),
                                           static_cast<std::uint32_t>(last), static_cast<std::uint32_t>(last >> 32)}});
        return {std::uint64_t{c.word[1]} << 32 | c.word[0], std::uint64_t{c.word[3]} << 32 | c.word[2]};
    }
};

/// The action of a thermostat at a step. sums: of the whole system at that step; only kind rescale uses them.
template <int D>
VelocityChange<D> velocity_change(const Thermostat& t, std::uint64_t seed, double dt, std::int64_t step,
                                  const SystemSums& sums);

/// Increase of a particle's kinetic energy when its velocity changes, in units of 2^-kinetic_bits.
template <int D>
HD std::int64_t gained(const Vec<std::int64_t, D>& before, const Vec<std::int64_t, D>& after) {
    const auto unsigned_of = [](const Vec<std::int64_t, D>& v) {
        return vec<D>([&](int a) { return static_cast<std::uint64_t>(v[a]); });
    };
    return static_cast<std::int64_t>(kinetic_energy(unsigned_of(after)) - kinetic_energy(unsigned_of(before)));
}

}  // namespace md
