// SPDX-License-Identifier: MIT
// The integration of a particle whose force is known. One text serves the vector kernels and the threads of a device.
// Vector kernels call it with vectors of eight particles. A thread has one particle and calls it with std::uint64_t
// (scalar.hpp). The caller loads, stores, and knows the lanes that hold particles.
#pragma once
#include <cstdint>

#include "md/external.hpp"
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

/// The same where they have moved, or move: they reflect in the frame in which they rest.
struct MovedWalls {
    bool lower, upper;
    std::int64_t at[2];         ///< after the drift, 2^-40
    std::uint64_t velocity[2];  ///< 2^-40 per time

    HD void operator()(std::uint64_t& x, std::uint64_t& v) const {
        if (lower && static_cast<std::int64_t>(x) < at[0]) reflect(0, x, v);
        if (upper && static_cast<std::int64_t>(x) >= at[1]) reflect(1, x, v);
    }

private:
    HD void reflect(int side, std::uint64_t& x, std::uint64_t& v) const {
        x = 2 * static_cast<std::uint64_t>(at[side]) - 1 - x;
        v = 2 * velocity[side] - v;
    }
};

/// Positions after a drift, and velocities.
template <class I64, int D>
struct Drifted {
    Vec<I64, D> x, v;
};

/// Kicks by the potentials of the walls at the ends of an axis.
struct WallKicks {
    bool lower, upper;
    std::int64_t length;  ///< of the box, 2^-40
    double quanta;        ///< of velocity that a force of 1 gives in dt / 2
    WallPotential by[2];

    HD void operator()(std::uint64_t& x, std::uint64_t& dv) const {
        if (lower) dv += kick(by[0], static_cast<std::int64_t>(x));
        if (upper) dv -= kick(by[1], length - 1 - static_cast<std::int64_t>(x));
    }

private:
    HD std::uint64_t kick(const WallPotential& wall, std::int64_t inside) const {
        const double z = distance_to_face(inside), most = two_to(52);  // so much leaves the range of velocities
        return z < wall.cutoff ? to_i64(max(min(wall.force(z) * quanta, most), -most)) : 0;
    }
};

/// Half-kicks, drift, checks and reflection. Products are rounded to quanta of 2^-40 to nearest, to even on a tie.
template <int D>
struct Integration {
    Kick kick;
    double dt;
    double velocity_kick;  ///< velocity quanta that a force quantum gives in dt / 2
    double furthest[D];    ///< position quanta: the widths of a cell
    bool any_wall, any_moved, any_gravity, any_potential;
    Walls walls[D];
    MovedWalls moved_walls[D];  ///< in their place, where one has moved or moves
    std::int64_t weight[D];     ///< velocity quanta that gravity gives in dt / 2
    WallKicks wall_kicks[D];

    HD Integration(const StepArgs& a, Precision precision)
        : kick(a.kick),
          dt(a.dt),
          velocity_kick(a.dt / 2 * two_to(position_bits - force_bits(precision))),
          any_wall(false),
          any_moved(false),
          any_gravity(false),
          any_potential(false) {
        const double quanta = dt / 2 * two_to(position_bits);
        for (int k = 0; k < D; ++k) {
            furthest[k] = a.cell[k] * two_to(position_bits);
            const Face &low = a.face[k][0], &high = a.face[k][1];
            walls[k] = {low.reflects, high.reflects, a.length[k]};
            moved_walls[k] = {low.reflects,
                              high.reflects,
                              {low.at, high.at},
                              {static_cast<std::uint64_t>(low.velocity), static_cast<std::uint64_t>(high.velocity)}};
            any_wall = any_wall || low.reflects || high.reflects;
            any_moved = any_moved || (low.reflects && low.at != 0) || (high.reflects && high.at != a.length[k]);
            weight[k] = static_cast<std::int64_t>(to_i64(a.gravity[k] * quanta));
            any_gravity = any_gravity || weight[k] != 0;
            wall_kicks[k] = {low.potential != nullptr, high.potential != nullptr, a.length[k], quanta, {}};
            if (low.potential) wall_kicks[k].by[0] = *low.potential;
            if (high.potential) wall_kicks[k].by[1] = *high.potential;
            any_potential = any_potential || low.potential || high.potential;
        }
    }

    /// Takes particles through the part of a step that `kick` names. f: force quanta. `p` stands for a particle in the
    /// caller's memory, or a vector of them. Its members:
    ///
    ///   x(axis), v(axis)          Load positions and velocities, 2^-40.
    ///   whole_step(v)             Receives the velocities at the time of the forces, for sums. Velocities of 2048 and
    ///                             more are faults there. A pass without kicks checks velocities nowhere else.
    ///   fault(kind, mask)         Receives a bit for each lane that fails a check.
    ///   set_velocity(v)           Stores velocities. A reflection stores them once more.
    ///   pushed(before, v)         Receives velocities before and after a reflection at moving walls, for sums.
    ///   with_external(*this, dv)  Returns external_kicks() of the particle. Few particles need it, so it may call a
    ///                             function.
    ///   reflected(*this, d)       Returns reflected_by_moved() of the particle, likewise.
    ///   move(x)                   Stores the new position, also as the kernels will see it.
    template <class Particles, class I64>
    HD void operator()(Particles& p, const Vec<I64, D>& f) const {
        using F64 = decltype(to_f64(f[0]));
        const auto kicks = vec<D>([&](int a) { return to_f64(f[a]) * F64(velocity_kick); });
        p.fault(FaultKind::force_range, bits(beyond_51_bits(f)) | bits(not_below(largest(kicks), F64(two_to(50)))));
        auto dv = vec<D>([&](int a) { return to_i64(kicks[a]); });  // below 2^50, or a fault
        if (any_gravity || any_potential) dv = p.with_external(*this, dv);
        const auto old = vec<D>([&](int a) { return p.v(a); });
        auto v = sum(old, dv);
        const bool whole_before = kick == Kick::none || kick == Kick::first;
        whole_before ? p.whole_step(old) : p.whole_step(v);
        if (kick == Kick::none) return;
        if (kick == Kick::middle) v = sum(v, dv);
        p.set_velocity(v);
        const unsigned too_fast = bits(beyond_51_bits(v));
        if (kick == Kick::last) return p.fault(FaultKind::velocity, too_fast);
        drift(p, v, too_fast);
    }

    /// The velocity changes of half a kick, dv, and those by gravity and the potentials of walls.
    template <class Particles, class I64>
    HD Vec<I64, D> external_kicks(const Particles& p, Vec<I64, D> dv) const {
        for_each_axis<D>([&](int a) STEELYARD_INLINED {
            dv[a] = dv[a] + I64(weight[a]);
            I64 x = p.x(a);
            if (wall_kicks[a].lower || wall_kicks[a].upper) for_each_lane(x, dv[a], wall_kicks[a]);
        });
        return dv;
    }

    /// After a drift in which walls have moved, or had before.
    template <class Particles, class I64>
    HD Drifted<I64, D> reflected_by_moved(Particles& p, Drifted<I64, D> d) const {
        const auto before = d.v;
        for_each_axis<D>([&](int a) STEELYARD_INLINED { for_each_lane(d.x[a], d.v[a], moved_walls[a]); });
        p.pushed(before, d.v);
        return d;
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
        unsigned bad = too_fast;
        for (int a = 0; a < D; ++a) bad |= bits(not_below(abs(d[a]), F64(furthest[a])));
        if (bad) {
            p.fault(FaultKind::velocity, too_fast);
            p.fault(FaultKind::speed, bad & ~too_fast);
        }
        // Less than a cell, which is narrower than 2^5 lengths: below 2^45.
        auto x = vec<D>([&](int a) { return I64(p.x(a) + to_i64(d[a])); });
        if (any_wall) {
            if (any_moved) {
                const Drifted<I64, D> after = p.reflected(*this, {x, v});
                x = after.x, v = after.v;
            } else {
                for_each_axis<D>([&](int a) STEELYARD_INLINED { for_each_lane(x[a], v[a], walls[a]); });
            }
            p.set_velocity(v);
        }
        p.move(x);
    }
};

/// Kinetic energy of velocities in 2^-40, rounded to 2^-kinetic_bits. Components are in [-2^51, 2^51), so squares add
/// up to less than 2^24, and the energy to less than 2^51 quanta.
template <class I64, int D>
HD I64 kinetic_energy(const Vec<I64, D>& v) {
    using F64 = decltype(to_f64(v[0]));
    const auto u = vec<D>([&](int a) { return to_f64(v[a]) * F64(velocity_unit); });
    return to_i64(square_of(u) * F64(two_to(kinetic_bits - 1)));
}

}  // namespace md
