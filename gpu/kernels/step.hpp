// SPDX-License-Identifier: MIT
// A pass over particles that have rows: forces, kicks and drift, and sums over pairs. All arithmetic is that of md's
// functors; here are loads, stores and sums.
#pragma once
#include <cstdint>

#include "gpu/kernels/view.hpp"

namespace gpu {

/// What a pass reads and writes of the particles.
struct PassView {
    Particles particles;
    const std::uint64_t *packed, *reference;
    std::uint64_t* next;
    const std::int32_t* slot;
    Rows rows;
    std::int64_t *force_x, *force_y;  ///< where to store the force quanta; may be null
    Totals* totals;
    bool sum_kinetic;

    HD md::PackedPosition position(std::int32_t slot_) const { return md::unpack(packed[slot_]); }
    /// Calls use(position) for each neighbour of own number i; returns how many there are.
    template <class Use>
    HD std::int32_t for_each_neighbour(std::int64_t i, Use use) const {
        const std::int32_t length = rows.length[i];
        const std::int32_t* row = rows.row(i);
        for (std::int32_t k = 0; k < length; ++k, row += group) use(position(*row));
        return length;
    }
    HD void record(md::FaultKind kind, std::int64_t i) const {
        atomic_max(&totals->fault, Totals::fault_of(kind, particles.id[i]));
    }
};

/// Quanta of the force on a particle.
struct ForceSum {
    std::uint64_t x = 0, y = 0;
    bool too_close = false;
};

/// In 64 bits, where 32 might not do.
template <template <class, bool> class P, bool softened>
HD ForceSum wide_force(const md::MixedForce<P, softened>& force, const PassView& v, std::int64_t i,
                       md::PackedPosition here) {
    ForceSum sum;
    float closest = force.cutoff2;
    v.for_each_neighbour(i, [&](md::PackedPosition there) {
        const auto p = force(md::to_f32(here.x - there.x), md::to_f32(here.y - there.y));
        sum.x += md::to_i64(p.fx), sum.y += md::to_i64(p.fy);
        closest = md::min(closest, p.s);
    });
    sum.too_close = md::less(closest, force.safe2);
    return sum;
}

/// narrow_g2: MixedForce::narrow_g2() for each number of pairs.
template <template <class, bool> class P, bool softened>
HD ForceSum force_on(const md::MixedForce<P, softened>& force, const float* narrow_g2, const PassView& v,
                     std::int64_t i) {
    const md::PackedPosition here = v.position(v.slot[i]);
    std::uint32_t x = 0, y = 0;
    float square = 0.0f;
    const std::int32_t pairs = v.for_each_neighbour(i, [&](md::PackedPosition there) {
        const auto p = force(md::to_f32(here.x - there.x), md::to_f32(here.y - there.y));
        square = md::fma(p.g, p.g, square);
        x += md::to_i32(p.fx), y += md::to_i32(p.fy);
    });
    const float narrow = narrow_g2[pairs < md::narrow_rows ? pairs : md::narrow_rows - 1];
    if (!md::less(square, narrow)) return wide_force(force, v, i, here);
    return {static_cast<std::uint64_t>(static_cast<std::int32_t>(x)),
            static_cast<std::uint64_t>(static_cast<std::int32_t>(y)), false};
}

template <template <class, bool> class P, bool softened>
HD ForceSum force_on(const md::DoubleForce<P, softened>& force, const float*, const PassView& v, std::int64_t i) {
    const md::PackedPosition here = v.position(v.slot[i]);
    ForceSum sum;
    double closest = force.cutoff2;
    const std::int32_t pairs = v.for_each_neighbour(i, [&](md::PackedPosition there) {
        const auto p = force(md::to_f64(here.x - there.x), md::to_f64(here.y - there.y));
        sum.x += p.fx, sum.y += p.fy;
        closest = md::min(closest, p.s);
    });
    return {sum.x - md::biases(pairs), sum.y - md::biases(pairs), md::less(closest, force.safe2)};
}

/// Own number i, as md::Integration sees it.
struct OneParticle {
    using Int = std::uint64_t;
    const PassView& v;
    std::int64_t i;

    HD Int x() const { return static_cast<Int>(v.particles.x[i]); }
    HD Int y() const { return static_cast<Int>(v.particles.y[i]); }
    HD Int vx() const { return static_cast<Int>(v.particles.vx[i]); }
    HD Int vy() const { return static_cast<Int>(v.particles.vy[i]); }
    HD void fault(md::FaultKind kind, unsigned bad) const {
        if (bad) v.record(kind, i);
    }
    HD void whole_step(Int vx, Int vy) const {
        if (!v.sum_kinetic) return;
        v.totals->momentum[0].add(static_cast<std::int64_t>(vx));
        v.totals->momentum[1].add(static_cast<std::int64_t>(vy));
        v.totals->kinetic.add(static_cast<std::int64_t>(md::kinetic_energy(vx, vy)));
    }
    HD void set_velocity(Int vx, Int vy) const {
        v.particles.vx[i] = static_cast<std::int64_t>(vx);
        v.particles.vy[i] = static_cast<std::int64_t>(vy);
    }
    HD void move(Int x, Int y, Int packed) const {
        v.particles.x[i] = static_cast<std::int64_t>(x);
        v.particles.y[i] = static_cast<std::int64_t>(y);
        v.next[v.slot[i]] = packed;
        const float way = md::distance2(packed, v.reference[i]);
        std::uint32_t bits;
        std::memcpy(&bits, &way, sizeof bits);
        atomic_max(&v.totals->displacement2, bits);
    }
};

/// Force on own number i, then its half-kicks and drift.
template <class PairForce>
struct Step {
    PassView v;
    PairForce force;
    md::Integration integration;
    const float* narrow_g2;

    HD void operator()(std::int64_t i) const {
        const ForceSum f = force_on(force, narrow_g2, v, i);
        if (f.too_close) v.record(md::FaultKind::force_range, i);
        if (v.force_x) {
            v.force_x[i] = static_cast<std::int64_t>(f.x);
            v.force_y[i] = static_cast<std::int64_t>(f.y);
        }
        OneParticle particle{v, i};
        integration(particle, f.x, f.y);
    }
};

/// Energy and virial of own number i's pairs.
template <template <class, bool> class P>
struct SumPairs {
    PassView v;
    md::PairEnergy<P> pair_energy;

    HD void operator()(std::int64_t i) const {
        const md::PackedPosition here = v.position(v.slot[i]);
        std::uint64_t energy = 0, virial = 0, near = 0;
        const std::int32_t pairs = v.for_each_neighbour(i, [&](md::PackedPosition there) {
            const auto p = pair_energy(md::to_f64(here.x - there.x), md::to_f64(here.y - there.y));
            energy += p.energy;
            virial += p.virial;
            near += md::bits(p.near);
        });
        v.totals->energy.add(static_cast<std::int64_t>(energy - md::biases(pairs)));
        v.totals->virial.add(static_cast<std::int64_t>(virial - md::biases(pairs)));
        atomic_add(&v.totals->pairs, near);
    }
};

/// Directed pairs within the cutoff of the particles of one of the block's cells.
struct CountPairs {
    PassView v;
    const std::int32_t* bins;  ///< scanned
    std::int32_t slices;
    double cutoff2;  ///< squared packed units
    std::int64_t* pairs;

    HD void operator()(std::int64_t cell) const {
        std::int64_t n = 0;
        for (std::int32_t i = bins[cell * slices]; i < bins[(cell + 1) * slices]; ++i) {
            const md::PackedPosition here = v.position(v.slot[i]);
            v.for_each_neighbour(i, [&](md::PackedPosition there) {
                const double dx = md::to_f64(here.x - there.x), dy = md::to_f64(here.y - there.y);
                n += md::less(md::square_of(dx, dy), cutoff2);
            });
        }
        pairs[cell] = n;
    }
};

}  // namespace gpu
