// SPDX-License-Identifier: MIT
// What a step does to a particle whose force is known: one text for the vector kernels, which call it with vectors of
// eight particles, and for a thread that has one particle, which calls it with std::uint64_t (scalar.hpp). The caller
// loads, stores, and knows which lanes hold particles.
#pragma once
#include <cstdint>

#include "md/kernels/hd.hpp"
#include "md/kernels/kernels.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/scalar.hpp"
#include "md/kernels/vec.hpp"

namespace md {

/// Reflecting walls at the ends of an axis, half a quantum outside the first and last position: -1 - x and 2 L - 1 - x.
/// They are mirror images of each other, and exact, so a reversed run still retraces its steps.
struct Walls {
    bool lower, upper;
    std::int64_t length;  ///< of the box, 2^-40

    HD void operator()(std::uint64_t& x, std::uint64_t& v) const {  // unsigned: a fault may have left -2^63 in v
        if (lower && static_cast<std::int64_t>(x) < 0) x = ~x, v = 0 - v;
        const auto end = static_cast<std::uint64_t>(length);
        if (upper && static_cast<std::int64_t>(x) >= length) x = 2 * end - 1 - x, v = 0 - v;
    }
};

/// Half-kicks, drift, checks and reflection. Products are rounded to quanta of 2^-40 to nearest, to even on a tie.
template <int D>
struct Integration {
    Kick kick;
    double dt;
    double velocity_kick;  ///< velocity quanta that a force quantum gives in dt / 2
    double furthest[D];    ///< position quanta: the widths of a cell
    bool any_wall;
    Walls walls[D];

    HD Integration(const StepArgs& a, Precision precision)
        : kick(a.kick),
          dt(a.dt),
          velocity_kick(a.dt / 2 * two_to(position_bits - force_bits(precision))),
          any_wall(false) {
        for (int k = 0; k < D; ++k) {
            furthest[k] = a.cell[k] * two_to(position_bits);
            walls[k] = {a.wall[k][0], a.wall[k][1], a.length[k]};
            any_wall = any_wall || a.wall[k][0] || a.wall[k][1];
        }
    }

    /// Takes particles through the part of a step that `kick` names. f: force quanta. `p` stands for a particle in the
    /// caller's memory, or a vector of them, and has these members:
    ///   x(axis), v(axis)      load positions and velocities, 2^-40
    ///   whole_step(v)         receives the velocities at the time of the forces, for sums
    ///   fault(kind, mask)     receives a bit for each lane that fails a check
    ///   set_velocity(v)       stores; a reflection stores once more
    ///   move(x)               stores the new position, also as the kernels will see it
    template <class Particles, class I64>
    HD void operator()(Particles& p, const Vec<I64, D>& f) const {
        using F64 = decltype(to_f64(f[0]));
        const auto kicks = vec<D>([&](int a) { return to_f64(f[a]) * F64(velocity_kick); });
        p.fault(FaultKind::force_range, bits(beyond_51_bits(f)) | bits(not_below(largest(kicks), F64(two_to(50)))));
        const auto dv = vec<D>([&](int a) { return to_i64(kicks[a]); });
        const auto old = vec<D>([&](int a) { return p.v(a); });
        auto v = sum(old, dv);
        const bool whole_before = kick == Kick::none || kick == Kick::first;
        whole_before ? p.whole_step(old) : p.whole_step(v);
        if (kick == Kick::none) return;
        if (kick == Kick::middle) v = sum(v, dv);
        p.set_velocity(v);
        const unsigned too_fast = bits(beyond_51_bits(v));
        if (kick == Kick::last) return p.fault(FaultKind::speed, too_fast);
        drift(p, v, too_fast);
    }

private:
    template <class I64>
    HD static Vec<I64, D> sum(const Vec<I64, D>& a, const Vec<I64, D>& b) {
        return vec<D>([&](int k) { return I64(a[k] + b[k]); });
    }
    template <class F64>
    HD static F64 largest(const Vec<F64, D>& a) {
        F64 most = abs(a[0]);
        for (int k = 1; k < D; ++k) most = max(most, abs(a[k]));
        return most;
    }
    template <class Particles, class I64>
    HD void drift(Particles& p, Vec<I64, D> v, unsigned too_fast) const {
        using F64 = decltype(to_f64(v[0]));
        const auto d = vec<D>([&](int a) { return to_f64(v[a]) * F64(dt); });
        for (int a = 0; a < D; ++a) too_fast |= bits(not_below(abs(d[a]), F64(furthest[a])));
        p.fault(FaultKind::speed, too_fast);
        auto x = vec<D>([&](int a) { return I64(p.x(a) + to_i64(d[a])); });
        if (any_wall) {
            for_each_axis<D>([&](int a) STEELYARD_INLINED { for_each_lane(x[a], v[a], walls[a]); });
            p.set_velocity(v);
        }
        p.move(x);
    }
};

/// Kinetic energy of velocities in 2^-40, rounded to 2^-kinetic_bits.
template <class I64, int D>
HD I64 kinetic_energy(const Vec<I64, D>& v) {
    using F64 = decltype(to_f64(v[0]));
    const auto u = vec<D>([&](int a) { return to_f64(v[a]) * F64(velocity_unit); });
    return to_i64(square_of(u) * F64(two_to(kinetic_bits - 1)));
}

}  // namespace md
