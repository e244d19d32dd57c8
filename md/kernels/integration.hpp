// SPDX-License-Identifier: MIT
// What a step does to a particle whose force is known: one text for the vector kernels, which call it with vectors of
// eight particles, and for a thread that has one particle, which calls it with std::uint64_t (scalar.hpp). The caller
// loads, stores and says which lanes hold particles.
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

/// A particle after a step, or a vector of them. Masks have a bit for each lane.
template <class I64>
struct Moved {
    I64 x, y, vx, vy;        ///< 2^-40
    I64 whole_vx, whole_vy;  ///< velocities at the whole step, where forces are known
    unsigned force_range;    ///< fault: the force or the kick is out of the exact range
    unsigned speed;          ///< fault: the velocity is, or the way is longer than a cell
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

    /// fx, fy: force quanta. Kick::none leaves velocities as they are, and it and Kick::last positions.
    template <class I64>
    HD Moved<I64> operator()(I64 fx, I64 fy, I64 x, I64 y, I64 vx, I64 vy) const {
        using F64 = decltype(to_f64(fx));
        Moved<I64> p{x, y, vx, vy, vx, vy, 0, 0};
        const F64 kick_x = to_f64(fx) * F64(velocity_kick), kick_y = to_f64(fy) * F64(velocity_kick);
        p.force_range = bits(beyond_51_bits(fx, fy)) | bits(not_below(max(abs(kick_x), abs(kick_y)), F64(two_to(50))));
        if (kick == Kick::none) return p;
        const I64 dvx = to_i64(kick_x), dvy = to_i64(kick_y);
        p.vx = p.vx + dvx, p.vy = p.vy + dvy;
        if (kick != Kick::first) p.whole_vx = p.vx, p.whole_vy = p.vy;
        if (kick == Kick::middle) p.vx = p.vx + dvx, p.vy = p.vy + dvy;
        p.speed = bits(beyond_51_bits(p.vx, p.vy));
        if (kick == Kick::last) return p;
        const F64 dx = to_f64(p.vx) * F64(dt), dy = to_f64(p.vy) * F64(dt);
        p.speed |= bits(not_below(abs(dx), F64(furthest[0]))) | bits(not_below(abs(dy), F64(furthest[1])));
        p.x = x + to_i64(dx), p.y = y + to_i64(dy);
        if (any_wall) {
            for_each_lane(p.x, p.vx, walls[0]);
            for_each_lane(p.y, p.vy, walls[1]);
        }
        return p;
    }

    template <class I64>
    HD I64 packed(const Moved<I64>& p) const {
        return pack_positions(p.x, p.y, packed_shift);
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
