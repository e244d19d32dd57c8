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
struct Integration {
    Kick kick;
    double dt;
    double velocity_kick;  ///< velocity quanta that a force quantum gives in dt / 2
    double furthest[2];    ///< position quanta: the widths of a cell
    int packed_shift;
    bool any_wall;
    Walls walls[2];

    HD Integration(const StepArgs& a, Precision precision, int packed_bits)
        : kick(a.kick),
          dt(a.dt),
          velocity_kick(a.dt / 2 * two_to(position_bits - force_bits(precision))),
          furthest{a.cell[0] * two_to(position_bits), a.cell[1] * two_to(position_bits)},
          packed_shift(position_bits - packed_bits),
          any_wall(a.wall[0][0] || a.wall[0][1] || a.wall[1][0] || a.wall[1][1]),
          walls{{a.wall[0][0], a.wall[0][1], a.length[0]}, {a.wall[1][0], a.wall[1][1], a.length[1]}} {}

    /// Takes particles through the part of a step that `kick` names. fx, fy: force quanta. `p` stands for a particle in
    /// the caller's memory, or a vector of them, and has these members:
    ///   x(), y(), vx(), vy()        load positions and velocities, 2^-40
    ///   whole_step(vx, vy)          receives the velocities at the time of the forces, for sums
    ///   fault(kind, mask)           receives a bit for each lane that fails a check
    ///   set_velocity(vx, vy)        stores; a reflection stores once more
    ///   move(x, y, packed)          stores the new position, also as the kernels will see it
    template <class Particles, class I64>
    HD void operator()(Particles& p, I64 fx, I64 fy) const {
        using F64 = decltype(to_f64(fx));
        const F64 kick_x = to_f64(fx) * F64(velocity_kick), kick_y = to_f64(fy) * F64(velocity_kick);
        p.fault(FaultKind::force_range,
                bits(beyond_51_bits(fx, fy)) | bits(not_below(max(abs(kick_x), abs(kick_y)), F64(two_to(50)))));
        const I64 dvx = to_i64(kick_x), dvy = to_i64(kick_y);
        const I64 old_vx = p.vx(), old_vy = p.vy();
        I64 vx = old_vx + dvx, vy = old_vy + dvy;
        const bool whole_before = kick == Kick::none || kick == Kick::first;
        whole_before ? p.whole_step(old_vx, old_vy) : p.whole_step(vx, vy);
        if (kick == Kick::none) return;
        if (kick == Kick::middle) vx = vx + dvx, vy = vy + dvy;
        p.set_velocity(vx, vy);
        const unsigned too_fast = bits(beyond_51_bits(vx, vy));
        if (kick == Kick::last) return p.fault(FaultKind::speed, too_fast);
        drift(p, vx, vy, too_fast);
    }

private:
    template <class Particles, class I64>
    HD void drift(Particles& p, I64 vx, I64 vy, unsigned too_fast) const {
        using F64 = decltype(to_f64(vx));
        const F64 dx = to_f64(vx) * F64(dt), dy = to_f64(vy) * F64(dt);
        p.fault(FaultKind::speed,
                too_fast | bits(not_below(abs(dx), F64(furthest[0]))) | bits(not_below(abs(dy), F64(furthest[1]))));
        I64 x = p.x() + to_i64(dx), y = p.y() + to_i64(dy);
        if (any_wall) {
            for_each_lane(x, vx, walls[0]);
            for_each_lane(y, vy, walls[1]);
            p.set_velocity(vx, vy);
        }
        p.move(x, y, pack_positions(x, y, packed_shift));
    }
};

/// Kinetic energy of velocities in 2^-40, rounded to 2^-kinetic_bits.
template <class I64>
HD I64 kinetic_energy(I64 vx, I64 vy) {
    using F64 = decltype(to_f64(vx));
    const F64 x = to_f64(vx) * F64(velocity_unit), y = to_f64(vy) * F64(velocity_unit);
    return to_i64(square_of(x, y) * F64(two_to(kinetic_bits - 1)));
}

}  // namespace md
