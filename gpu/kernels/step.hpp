// SPDX-License-Identifier: MIT
// A pass over particles that have rows: forces, kicks and drift, and sums over pairs. All arithmetic is that of md's
// functors; here are loads, stores and sums.
#pragma once
#include <cstdint>
#include <cstring>

#include "gpu/kernels/view.hpp"

#ifdef __CUDACC__
#define STEELYARD_NOT_UNROLLED
#else
#define STEELYARD_NOT_UNROLLED _Pragma("GCC unroll 1")  // an unrolled loop becomes no vectors
#endif

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

    /// Calls use(x, y) with the packed displacement from each neighbour of own number i; returns how often. The host
    /// takes them in vectors, the last one filled up with places that are out of every reach: what `use` adds up must
    /// not notice those.
    template <class Use>
    HD std::int32_t for_each_pair(std::int64_t i, Use use) const {
        const md::PackedPosition here = md::unpack(packed[slot[i]]);
        const std::int32_t length = rows.length[i];
        const std::int32_t* row = rows.row(i);
#ifdef __CUDA_ARCH__
        for (std::int32_t k = 0; k < length; ++k, row += group) {
            const md::PackedPosition there = md::unpack(packed[*row]);
            use(here.x - there.x, here.y - there.y);
        }
        return length;
#else
        constexpr std::int32_t at_once = 32;
        std::uint32_t x[at_once], y[at_once];
        std::int32_t done = 0;
        for (; done < length; done += at_once) {
            const std::int32_t n = length - done < at_once ? length - done : at_once;
            for (std::int32_t k = 0; k < at_once; ++k) x[k] = y[k] = std::uint32_t{1} << 31;
            STEELYARD_NOT_UNROLLED
            for (std::int32_t k = 0; k < n; ++k, row += group) {
                const md::PackedPosition there = md::unpack(packed[*row]);
                x[k] = here.x - there.x;
                y[k] = here.y - there.y;
            }
            STEELYARD_NOT_UNROLLED
            for (std::int32_t k = 0; k < at_once; ++k) use(x[k], y[k]);
        }
        return done;
#endif
    }
    HD void record(md::FaultKind kind, std::int64_t i) const {
        atomic_max(&totals->fault, Totals::fault_of(kind, particles.id[i]));
    }
};

/// Quanta of the force on a particle.
struct ForceSum {
    std::uint64_t x = 0, y = 0;
    std::uint32_t too_close = 0;  ///< not 0: a pair is out of the exact range
};

/// The nearest integer, where it has 32 bits; else any number. As an instruction that vectors have too.
HD std::uint32_t nearest(float a) {
#ifdef __CUDA_ARCH__
    return static_cast<std::uint32_t>(__float2int_rn(a));
#elif defined(__has_builtin) && __has_builtin(__builtin_irintf)
    return static_cast<std::uint32_t>(__builtin_irintf(a));
#else
    return md::to_i32(a);
#endif
}
/// The bits of |a|: they are in the order of its values, NaN behind all.
HD std::int32_t size_bits(float a) {
    std::int32_t bits;
    std::memcpy(&bits, &a, sizeof bits);
    return bits & 0x7fffffff;
}
HD float of_size_bits(std::int32_t bits) {
    float a;
    std::memcpy(&a, &bits, sizeof a);
    return a;
}

/// In 64 bits, where 32 might not do.
template <template <class, bool> class P, bool softened>
HD ForceSum wide_force(const md::MixedForce<P, softened>& force, const PassView& v, std::int64_t i) {
    ForceSum sum;
    v.for_each_pair(
        i, [&](std::uint32_t x, std::uint32_t y) __attribute__((always_inline)) {
            const auto p = force(md::to_f32(x), md::to_f32(y));
            sum.x += md::to_i64(p.fx), sum.y += md::to_i64(p.fy);
            sum.too_close |= md::bits(md::less(p.s, force.safe2));
        });
    return sum;
}

/// narrow_g2: MixedForce::narrow_g2() for each number of pairs. The largest g^2, as often as there are pairs, stands
/// for the sum of g^2: it is no smaller. So sums that leave 32 bits are always noticed, and so are pairs that are too
/// close.
template <template <class, bool> class P, bool softened>
HD ForceSum force_on(const md::MixedForce<P, softened>& force, const float* narrow_g2, const PassView& v,
                     std::int64_t i) {
    std::uint32_t x_sum = 0, y_sum = 0;
    std::int32_t largest = 0;
    v.for_each_pair(
        i, [&](std::uint32_t x, std::uint32_t y) __attribute__((always_inline)) {
            const auto p = force(md::to_f32(x), md::to_f32(y));
            const std::int32_t g = size_bits(p.g);
            largest = g > largest ? g : largest;
            x_sum += nearest(p.fx), y_sum += nearest(p.fy);
        });
    const std::int32_t pairs = v.rows.length[i];
    const float g = of_size_bits(largest), narrow = narrow_g2[pairs < md::narrow_rows ? pairs : md::narrow_rows - 1];
    if (!md::less(g * g * static_cast<float>(pairs), narrow)) return wide_force(force, v, i);
    return {static_cast<std::uint64_t>(static_cast<std::int32_t>(x_sum)),
            static_cast<std::uint64_t>(static_cast<std::int32_t>(y_sum)), 0};
}

template <template <class, bool> class P, bool softened>
HD ForceSum force_on(const md::DoubleForce<P, softened>& force, const float*, const PassView& v, std::int64_t i) {
    ForceSum sum;
    const std::int32_t pairs = v.for_each_pair(
        i, [&](std::uint32_t x, std::uint32_t y) __attribute__((always_inline)) {
            const auto p = force(md::to_f64(x), md::to_f64(y));
            sum.x += p.fx, sum.y += p.fy;
            sum.too_close |= md::bits(md::less(p.s, force.safe2));
        });
    return {sum.x - md::biases(pairs), sum.y - md::biases(pairs), sum.too_close};
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
        std::uint64_t energy = 0, virial = 0, near = 0;
        const std::int32_t pairs = v.for_each_pair(
            i, [&](std::uint32_t x, std::uint32_t y) __attribute__((always_inline)) {
                const auto p = pair_energy(md::to_f64(x), md::to_f64(y));
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
        for (std::int32_t i = bins[cell * slices]; i < bins[(cell + 1) * slices]; ++i)
            v.for_each_pair(
                i, [&](std::uint32_t x, std::uint32_t y) __attribute__((always_inline)) {
                    n += md::less(md::square_of(md::to_f64(x), md::to_f64(y)), cutoff2);
                });
        pairs[cell] = n;
    }
};

}  // namespace gpu
