// SPDX-License-Identifier: MIT
// A pass over particles that have rows: forces, kicks and drift, and sums over pairs. All arithmetic is that of md's
// functors; here are loads, stores and sums.
#pragma once
#include <cstdint>
#include <cstring>

#include "gpu/kernels/view.hpp"
#include "md/thermostat.hpp"

#ifdef __CUDACC__
#define STEELYARD_NOT_UNROLLED
#else
#define STEELYARD_NOT_UNROLLED _Pragma("GCC unroll 1")  // an unrolled loop becomes no vectors
#endif

namespace gpu {

/// The particles' arrays that a pass reads and writes.
template <int D>
struct PassView {
    Particles<D> particles;
    const md::Packed<D>*packed, *reference;
    md::Packed<D>* next;
    const std::int32_t* slot;
    Rows rows;
    std::int64_t* force[D];  ///< where to store the force quanta of each axis; may be null
    Totals* totals;
    std::int32_t packed_shift;
    bool sum_kinetic;

    /// Calls use(displacement), packed, for each neighbour of own number i; returns how often. The host takes them in
    /// vectors, the last one filled up with places that are out of every reach: what `use` adds up must not notice
    /// those.
    template <class Use>
    HD std::int32_t for_each_pair(std::int64_t i, Use use) const {
        const md::Packed<D> here = packed[slot[i]];
        const std::int32_t length = rows.length[i];
        const Four* row = rows.row(i);
#ifdef __CUDA_ARCH__
        // All positions are on their way before the first is used, so that the thread waits once for eight.
        constexpr std::int32_t at_once = 2 * Four::size;
        const std::int32_t last = Rows::fours_of(length) - 1;
        for (std::int32_t done = 0; done < length; done += at_once) {
            const std::int32_t f = done / Four::size;
            const Four near[2]{row[f * group], row[(f < last ? f + 1 : last) * group]};
            md::Packed<D> there[at_once];
#pragma unroll
            for (std::int32_t k = 0; k < at_once; ++k) there[k] = packed[near[k / Four::size].slots[k % Four::size]];
#pragma unroll
            for (std::int32_t k = 0; k < at_once; ++k)
                if (done + k < length) use(md::displacement(here, there[k]));
        }
        return length;
#else
        constexpr std::int32_t at_once = 32;
        std::uint32_t d[D][at_once];
        std::int32_t done = 0;
        for (; done < length; done += at_once) {
            const std::int32_t n = length - done < at_once ? length - done : at_once;
            for (std::int32_t k = 0; k < at_once; ++k)
                for (int a = 0; a < D; ++a) d[a][k] = std::uint32_t{1} << 31;
            STEELYARD_NOT_UNROLLED
            for (std::int32_t k = 0; k < n; ++k) {
                const std::int32_t f = (done + k) / Four::size;
                const md::Packed<D> there = packed[row[f * group].slots[k % Four::size]];
                for (int a = 0; a < D; ++a) d[a][k] = here.at[a] - there.at[a];
            }
            STEELYARD_NOT_UNROLLED
            for (std::int32_t k = 0; k < at_once; ++k) use(md::vec<D>([&](int a) { return d[a][k]; }));
        }
        return done;
#endif
    }
    HD void record(md::FaultKind kind, std::int64_t i) const {
        atomic_max(&totals->fault, Totals::fault_of(kind, particles.id[i]));
    }
};

/// Quanta of the force on a particle.
template <int D>
struct ForceSum {
    md::Vec<std::uint64_t, D> f{};
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
template <int D, template <class, bool> class P, bool softened>
HD ForceSum<D> wide_force(const md::MixedForce<P, softened>& force, const PassView<D>& v, std::int64_t i) {
    ForceSum<D> sum;
    v.for_each_pair(
        i, [&](const md::Vec<std::uint32_t, D>& d) __attribute__((always_inline)) {
            const auto p = force(md::to_f32(d));
            // Below 2^34 from safe2 on (force_limits()); closer pairs are faults, whatever is added up.
            for (int a = 0; a < D; ++a) sum.f[a] += md::to_i64(p.f[a]);
            sum.too_close |= md::bits(md::less(p.s, force.safe2));
        });
    return sum;
}

/// narrow_g2: MixedForce::narrow_g2() for each number of pairs. The largest g^2, as often as there are pairs, stands
/// for the sum of g^2: it is no smaller. So sums that leave 32 bits are always noticed, and so are pairs that are too
/// close.
template <int D, template <class, bool> class P, bool softened>
HD ForceSum<D> force_on(const md::MixedForce<P, softened>& force, const float* narrow_g2, const PassView<D>& v,
                        std::int64_t i) {
    md::Vec<std::uint32_t, D> sum{};
    std::int32_t largest = 0;
    v.for_each_pair(
        i, [&](const md::Vec<std::uint32_t, D>& d) __attribute__((always_inline)) {
            const auto p = force(md::to_f32(d));
            const std::int32_t g = size_bits(p.g);
            largest = g > largest ? g : largest;
            for (int a = 0; a < D; ++a) sum[a] += nearest(p.f[a]);
        });
    const std::int32_t pairs = v.rows.length[i];
    const float g = of_size_bits(largest), narrow = narrow_g2[pairs < md::narrow_rows ? pairs : md::narrow_rows - 1];
    if (!md::less(g * g * static_cast<float>(pairs), narrow)) return wide_force(force, v, i);
    return {md::vec<D>([&](int a) { return static_cast<std::uint64_t>(static_cast<std::int32_t>(sum[a])); }), 0};
}

template <int D, template <class, bool> class P, bool softened>
HD ForceSum<D> force_on(const md::DoubleForce<P, softened>& force, const float*, const PassView<D>& v, std::int64_t i) {
    ForceSum<D> sum;
    const std::int32_t pairs = v.for_each_pair(
        i, [&](const md::Vec<std::uint32_t, D>& d) __attribute__((always_inline)) {
            const auto p = force(md::to_f64(d));
            for (int a = 0; a < D; ++a) sum.f[a] += p.f[a];
            sum.too_close |= md::bits(md::less(p.s, force.safe2));
        });
    return {md::vec<D>([&](int a) { return sum.f[a] - md::biases(pairs); }), sum.too_close};
}

/// Own number i, as md::Integration sees it.
template <int D>
struct OneParticle {
    using Int = std::uint64_t;
    const PassView<D>& v_;
    std::int64_t i;

    HD Int x(int axis) const { return static_cast<Int>(v_.particles.x[axis][i]); }
    HD Int v(int axis) const { return static_cast<Int>(v_.particles.v[axis][i]); }
    HD void fault(md::FaultKind kind, unsigned bad) const {
        if (bad) v_.record(kind, i);
    }
    HD void whole_step(const md::Vec<Int, D>& v) const {
        if (!v_.sum_kinetic) return;
        fault(md::FaultKind::velocity, md::bits(md::beyond_51_bits(v)));
        for (int a = 0; a < D; ++a) v_.totals->momentum[a].add(static_cast<std::int64_t>(v[a]));
        v_.totals->kinetic.add(static_cast<std::int64_t>(md::kinetic_energy(v)));
    }
    HD md::Vec<Int, D> with_external(const md::Integration<D>& step, const md::Vec<Int, D>& dv) const {
        return step.external_kicks(*this, dv);
    }
    HD md::Drifted<Int, D> reflected(const md::Integration<D>& step, const md::Drifted<Int, D>& d) const {
        return step.reflected_by_moved(*this, d);
    }
    HD void pushed(const md::Vec<Int, D>& before, const md::Vec<Int, D>& v) const {
        const Int gained = md::kinetic_energy(v) - md::kinetic_energy(before);
        if (gained != 0) v_.totals->work.add(static_cast<std::int64_t>(gained));
    }
    HD void set_velocity(const md::Vec<Int, D>& v) const {
        for (int a = 0; a < D; ++a) v_.particles.v[a][i] = static_cast<std::int64_t>(v[a]);
    }
    HD void move(const md::Vec<Int, D>& x) const {
        std::int64_t at[D];
        for (int a = 0; a < D; ++a) v_.particles.x[a][i] = at[a] = static_cast<std::int64_t>(x[a]);
        const md::Packed<D> packed = md::pack(at, v_.packed_shift);
        v_.next[v_.slot[i]] = packed;
        const float way = md::distance2(packed, v_.reference[i]);
        std::uint32_t bits;
        std::memcpy(&bits, &way, sizeof bits);
        atomic_max(&v_.totals->displacement2, bits);
    }
};

/// Force on own number i, then its half-kicks and drift.
template <int D, class PairForce>
struct Step {
    PassView<D> v;
    PairForce force;
    md::Integration<D> integration;
    const float* narrow_g2;

    HD void operator()(std::int64_t i) const {
        const ForceSum<D> sum = force_on(force, narrow_g2, v, i);
        if (sum.too_close) v.record(md::FaultKind::force_range, i);
        for (int a = 0; v.force[0] && a < D; ++a) v.force[a][i] = static_cast<std::int64_t>(sum.f[a]);
        OneParticle<D> particle{v, i};
        integration(particle, sum.f);
    }
};

/// Energy and virial of own number i's pairs.
template <int D, template <class, bool> class P>
struct SumPairs {
    PassView<D> v;
    md::PairEnergy<P> pair_energy;

    HD void operator()(std::int64_t i) const {
        std::uint64_t energy = 0, virial = 0, near = 0;
        const std::int32_t pairs = v.for_each_pair(
            i, [&](const md::Vec<std::uint32_t, D>& d) __attribute__((always_inline)) {
                const auto p = pair_energy(md::to_f64(d));
                energy += p.energy;
                virial += p.virial;
                near += md::bits(p.near);
            });
        v.totals->energy.add(static_cast<std::int64_t>(energy - md::biases(pairs)));
        v.totals->virial.add(static_cast<std::int64_t>(virial - md::biases(pairs)));
        atomic_add(&v.totals->pairs, near);
    }
};

/// A thermostat's action on own number i.
template <int D>
struct ChangeVelocities {
    Particles<D> particles;
    md::VelocityChange<D> change;
    Totals* totals;

    HD void operator()(std::int64_t i) const {
        const auto before = md::vec<D>([&](int a) { return particles.v[a][i]; });
        const auto after = change(particles.id[i], before);
        for (int a = 0; a < D; ++a) particles.v[a][i] = after[a];
        totals->heat.add(md::gained(before, after));
    }
};

/// Energy of what acts on own number i by itself.
template <int D>
struct SumExternal {
    PassView<D> v;
    md::External external;

    HD void operator()(std::int64_t i) const {
        v.totals->external.add(external.energy(md::vec<D>([&](int a) { return v.particles.x[a][i]; })));
    }
};

/// Directed pairs within the cutoff of the particles of one of the blocks' cells.
template <int D>
struct CountPairs {
    PassView<D> v;
    const std::int32_t* bins;  ///< scanned
    std::int32_t slices;
    double cutoff2;  ///< squared packed units
    std::int64_t* pairs;

    HD void operator()(std::int64_t cell) const {
        std::int64_t n = 0;
        for (std::int32_t i = bins[cell * slices]; i < bins[(cell + 1) * slices]; ++i)
            v.for_each_pair(
                i, [&](const md::Vec<std::uint32_t, D>& d)
                       __attribute__((always_inline)) { n += md::less(md::square_of(md::to_f64(d)), cutoff2); });
        pairs[cell] = n;
    }
};

}  // namespace gpu
