// SPDX-License-Identifier: MIT
// The vector kernels' one text. Compiled once for each instruction set (STEELYARD_ISA); simd.hpp supplies the vectors.
// It loads, picks, masks, sums and stores; the arithmetic of pairs and of integration is in functors, which a thread
// that has a single particle can call too.
#include "md/kernels/integration.hpp"
#include "md/kernels/kernels.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/simd.hpp"
#include "md/kernels/simd_search.hpp"

namespace md::STEELYARD_ISA_NAME {
namespace {

HD std::int64_t lane_of(I64 a, int l) { return static_cast<std::int64_t>(a.v[l]); }

HD void record(Fault& fault, FaultKind kind, const std::int64_t* id, unsigned lanes) {
    for (; lanes; lanes &= lanes - 1) {
        const std::int64_t i = id[__builtin_ctz(lanes)];
        if (i < fault.id) fault = {kind, i};
    }
}

// Memory is asked for some clusters ahead: a row loop fills the processor's window, so it doesn't run into the next
// cluster's loads by itself.
constexpr int clusters_ahead = 3;
template <int D>
HD void prefetch_own(const TileView<D>& tile, const Cluster& cluster) {
    for (int l = 0; l < lanes; l += 8) {
        const std::int64_t own = cluster.own + clusters_ahead * lanes + l;
        for (const std::int64_t* p : tile.x) __builtin_prefetch(p + own, 1);
        for (const std::int64_t* p : tile.v) __builtin_prefetch(p + own, 1);
        __builtin_prefetch(tile.reference + own);
        __builtin_prefetch(tile.next + cluster.slot + clusters_ahead * lanes + l, 1);
    }
}
HD void prefetch_near(const Neighbourhood<2>& hood, const Packed<2>* base, const std::uint8_t* row) {
    constexpr int usual = 20 * lanes;
    for (int b = 0; b < usual; b += 64) __builtin_prefetch(row + clusters_ahead * usual + b);
    for (int w = windows / 2; w < windows; ++w)
        __builtin_prefetch(base + hood.start[w] + clusters_ahead * lanes);  // other columns are known
    __builtin_prefetch(&hood + clusters_ahead + 1);
}
HD void prefetch_near(const Neighbourhood<3>&, const Packed<3>*, const std::uint16_t*) {}  // rows are long enough

// Shows each part of a cluster its neighbours. A part is `width` lanes, which stay in registers while their rows last.
// A Part is copied and has these members:
//
//   pair(positions)       Begins the work on the lanes' next neighbours, as far as their distances, and returns it.
//   add(pair)             Does the rest.
// Returns the number of rows. The work on a row ends a row later, and its neighbours are picked a row before, because
// instructions that wait for others fill the processor's queues.
template <int D, class Part>
HD int for_each_row(const ListView<D>& tile, const Cluster& cluster, NearOf<D>& near, Part (&part)[parts]) {
    int length = 0;
    for (std::int32_t h = cluster.first; h != cluster.last; ++h) {
        const Neighbourhood<D>& hood = tile.neighbourhoods[h];
        const Packed<D>* base = tile.packed + cluster.base;
        const Place<D>* rows = tile.rows + hood.row;
        prefetch_near(hood, base, rows);
        load_near(near, base, hood, cluster.far_x);
#pragma GCC unroll 1
        for (int p = 0; p < parts; ++p) {
            Part mine = part[p];
            const Place<D>*row = rows + p * width, *last = row + std::int64_t{hood.length - 1} * lanes;
            auto begun = mine.pair(pick(near, row));
            Positions<D> next = pick(near, row + lanes);  // there is room behind the last row
            for (; row != last; row += lanes) {
                const Positions<D> there = next;
                const auto before = begun;
                next = pick(near, row + 2 * lanes);
                if (D == 3 && p == 0) __builtin_prefetch(row + 64 * lanes);
                begun = mine.pair(there);
                mine.add(before);
            }
            mine.add(begun);
            part[p] = mine;
        }
        length += hood.length;
    }
    return length;
}

// Positions of a cluster's particles, part by part.
template <int D>
HD Positions<D> own_positions(const ListView<D>& tile, const Cluster& cluster, int part) {
    return load_positions(tile.packed + cluster.slot + part * width);
}

// Force sums of a cluster, quanta, in the order of lanes. They wait for the next cluster's pairs before they are
// integrated: by then nothing waits for them.
template <int D>
struct Sums {
    const Cluster* cluster;
    I64 f[D * 2 * parts];  // axis by axis

    HD I64& at(int axis, int i) { return f[axis * 2 * parts + i]; }
    HD const I64& at(int axis, int i) const { return f[axis * 2 * parts + i]; }
    HD void set(int part, const Vec<WideI, D>& sum) {
        for (int a = 0; a < D; ++a) at(a, 2 * part) = sum[a].low, at(a, 2 * part + 1) = sum[a].high;
    }
};

// All by value, so that the particles stay in registers where nothing but pairs acts on them.
template <int D>
struct Some;
template <int D>
[[gnu::noinline]] Vec<I64, D> external_kicks(const Integration<D>& step, Some<D> particles, Vec<I64, D> dv);
template <int D>
[[gnu::noinline]] Drifted<I64, D> reflected_by_moved(const Integration<D>& step, Some<D> particles, Drifted<I64, D> d);

// Up to `wide_width` particles of a tile, as Integration sees them.
template <int D>
struct Some {
    const TileView<D>& tile;
    const StepArgs& args;
    StepResult& result;
    F32& farthest;
    int own, slot, n;

    HD I64 x(int axis) const { return load<std::uint64_t>(tile.x[axis] + own); }
    HD I64 v(int axis) const { return load<std::uint64_t>(tile.v[axis] + own); }
    HD void fault(FaultKind kind, unsigned bad) {
        bad &= (1u << n) - 1;
        if (bad) record(result.fault, kind, tile.id + own, bad);
    }
    HD void whole_step(const Vec<I64, D>& v) {
        if (!args.sum_kinetic) return;
        fault(FaultKind::velocity, bits(beyond_51_bits(v)));
        const I64 energy = kinetic_energy(v);
        for (int l = 0; l < n; ++l) {
            for_each_axis<D>([&](int a) STEELYARD_INLINED { result.momentum[a] += lane_of(v[a], l); });
            result.kinetic += lane_of(energy, l);
        }
    }
    HD Vec<I64, D> with_external(const Integration<D>& step, const Vec<I64, D>& dv) const {
        return external_kicks(step, *this, dv);
    }
    HD Drifted<I64, D> reflected(const Integration<D>& step, const Drifted<I64, D>& d) const {
        return reflected_by_moved(step, *this, d);
    }
    HD void pushed(const Vec<I64, D>& before, const Vec<I64, D>& v) {
        const I64 gained = kinetic_energy(v) - kinetic_energy(before);
        for (int l = 0; l < n; ++l) result.work += lane_of(gained, l);
    }
    HD void set_velocity(const Vec<I64, D>& v) {
        for_each_axis<D>([&](int a) STEELYARD_INLINED { store_first(tile.v[a] + own, v[a], n); });
    }
    HD void move(const Vec<I64, D>& x) {
        for_each_axis<D>([&](int a) STEELYARD_INLINED { store_first(tile.x[a] + own, x[a], n); });
        farthest =
            max(farthest, store_packed(tile.next + slot, tile.reference + own, x, n, position_bits - tile.packed_bits));
    }
};

template <int D>
Vec<I64, D> external_kicks(const Integration<D>& step, const Some<D> particles, const Vec<I64, D> dv) {
    return step.external_kicks(particles, dv);
}
template <int D>
Drifted<I64, D> reflected_by_moved(const Integration<D>& step, Some<D> particles, const Drifted<I64, D> d) {
    return step.reflected_by_moved(particles, d);
}

// Integrates up to 16 particles with force sums in quanta.
template <int D>
struct Integrate {
    const TileView<D>& tile;
    const StepArgs& args;
    StepResult& result;
    Integration<D> step;
    F32 farthest{0.0f};  // squared way since the last rebuild

    HD Integrate(const TileView<D>& t, const StepArgs& a, StepResult& r, Precision p)
        : tile(t), args(a), result(r), step(a, p) {}

    HD void inlined(const Sums<D>& sums) {
        const Cluster& c = *sums.cluster;
#pragma GCC unroll 1  // as fast as copies, and half the time of a build
        for (int i = 0; i < 2 * parts; ++i) {
            const int first = i * wide_width, n = c.count - first < wide_width ? c.count - first : wide_width;
            if (n <= 0) break;
            some(c.own + first, c.slot + first, n, vec<D>([&](int a) { return sums.at(a, i); }));
        }
    }
    [[gnu::noinline]] void called(const Sums<D>& sums) { inlined(sums); }

    HD void some(int own, int slot, int n, const Vec<I64, D>& f) {
        if (args.force[0])
            for_each_axis<D>([&](int a) STEELYARD_INLINED { store_first(args.force[a] + own, f[a], n); });
        Some<D> particles{tile, args, result, farthest, own, slot, n};
        step(particles, f);
    }

    HD void finish() { result.displacement2 = reduce_max(farthest); }
};

// The usual potential gets loops of its own in sets with vectors, where they are worth the time of a build. It alone is
// compiled without softening too. Adding a softening of zero changes no bit, but costs 2 to 5 % of a step.
template <template <class, bool> class P>
constexpr bool usual = STEELYARD_ISA != 0 && std::is_same_v<P<double, true>, LennardJones<double, true>>;

// In the loop over clusters a call costs 2 % of a step; inlined in all loops it would double the time of a build.
template <bool inlined, int D>
HD void integrate_in_loop(Integrate<D>& integrate, const Sums<D>& f) {
    if constexpr (inlined) integrate.inlined(f);
    else integrate.called(f);
}

// A displacement in floats and its square.
template <int D>
struct Distance {
    Vec<F32, D> d;
    F32 s;
};
template <int D>
HD Distance<D> distance(const Positions<D>& here, const Positions<D>& there) {
    const auto d = vec<D>([&](int a) __attribute__((always_inline)) { return to_f32(here[a] - there[a]); });
    return {d, square_of(d)};
}

// Parts of a cluster whose forces are computed in floats and summed in 32-bit integers.
template <class Force, int D>
struct NarrowSums {
    const Force* force;
    Positions<D> here;
    Vec<I32, D> sum;
    F32 square{0.0f};  // sum of (F/r)^2

    HD Distance<D> pair(const Positions<D>& there) const { return distance<D>(here, there); }
    HD void add(const Distance<D>& d) {
        const auto p = (*force)(d.d, d.s);
        square = fma(p.g, p.g, square);
        for (int a = 0; a < D; ++a) sum[a] = sum[a] + to_i32(p.f[a]);
    }
};

HD WideI plus(WideI a, I64 low, I64 high) { return {a.low + low, a.high + high}; }
template <int D>
HD Vec<WideI, D> no_wide_sum() {
    return vec<D>([](int) { return WideI{0, 0}; });
}

// The same with sums of 64 bits, for close pairs.
template <class Force, int D>
struct WideSums {
    const Force* force;
    Positions<D> here;
    F32 closest;
    Vec<WideI, D> sum;

    HD Distance<D> pair(const Positions<D>& there) const { return distance<D>(here, there); }
    HD void add(const Distance<D>& d) {
        const auto p = (*force)(d.d, d.s);
        closest = min(closest, p.s);
        for (int a = 0; a < D; ++a) {
            const WideI f = to_wide_integers(p.f[a]);  // below 2^34 from safe2 on (force_limits())
            sum[a] = plus(sum[a], f.low, f.high);
        }
    }
};
template <int D, class Force>
[[gnu::noinline]] Sums<D> sum_wide(const TileView<D>& tile, const Cluster& cluster, const Force& force, Fault& fault) {
    NearOf<D> near;
    WideSums<Force, D> part[parts];
    for (int p = 0; p < parts; ++p)
        part[p] = {&force, own_positions<D>(tile, cluster, p), F32(force.cutoff2), no_wide_sum<D>()};
    for_each_row<D>(tile, cluster, near, part);
    Sums<D> sums;
    sums.cluster = &cluster;
    unsigned bad = 0;
    for (int p = 0; p < parts; ++p) {
        sums.set(p, part[p].sum);
        bad |= bits(less(part[p].closest, F32(force.safe2))) << p * width;
    }
    bad &= (1u << cluster.count) - 1;
    if (bad) record(fault, FaultKind::force_range, tile.id + cluster.own, bad);
    return sums;
}

// Pair arithmetic in floats, force sums in 32-bit integers, or in 64-bit ones where a close pair could overflow those.
template <int D, template <class, bool> class P, bool softened>
void step_mixed(const TileView<D>& tile, const StepArgs& args, StepResult& result) {
    using Force = MixedForce<P, softened>;
    const Force force(*args.potential, args.safe_r2, tile.packed_bits);
    Integrate<D> integrate(tile, args, result, Precision::mixed);
    NearOf<D> near;
    Sums<D> before;
    before.cluster = nullptr;

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        NarrowSums<Force, D> part[parts];
        for (int p = 0; p < parts; ++p)
            part[p] = {&force, own_positions<D>(tile, cluster, p), vec<D>([](int) { return I32(0); })};
        const int length = for_each_row<D>(tile, cluster, near, part);
        const F32 narrow(force.narrow_g2(args.narrow_g2, length));
        Sums<D> sums;
        sums.cluster = &cluster;
        unsigned safe = 0;
        for (int p = 0; p < parts; ++p) {
            sums.set(p, vec<D>([&](int a) { return wide(part[p].sum[a]); }));
            safe |= bits(less(part[p].square, narrow)) << p * width;
        }
        if (~safe & ((1u << cluster.count) - 1)) [[unlikely]]
            sums = sum_wide<D>(tile, cluster, force, result.fault);
        if (before.cluster) integrate_in_loop<usual<P>>(integrate, before);
        before = sums;
    }
    if (before.cluster) integrate.called(before);
    integrate.finish();
}

// A displacement in doubles and its square, in the order of differences().
template <int D>
struct WideDistance {
    Vec<F64, D> low, high;
    F64 s_low, s_high;
};
template <int D>
HD WideDistance<D> wide_distance(const Positions<D>& here, const Positions<D>& there) {
    const auto d = vec<D>([&](int a) __attribute__((always_inline)) { return differences(here[a] - there[a]); });
    const auto low = vec<D>([&](int a) __attribute__((always_inline)) { return d[a].low; });
    const auto high = vec<D>([&](int a) __attribute__((always_inline)) { return d[a].high; });
    return {low, high, square_of(low), square_of(high)};
}

// Parts of a cluster whose forces are computed in doubles and summed in 64-bit integers.
template <class Force, int D>
struct DoubleSums {
    const Force* force;
    Positions<D> here;
    WideF closest;
    Vec<WideI, D> sum;

    HD WideDistance<D> pair(const Positions<D>& there) const { return wide_distance<D>(here, there); }
    HD void add(const WideDistance<D>& d) {
        const auto a = (*force)(d.low, d.s_low), b = (*force)(d.high, d.s_high);
        closest = {min(closest.low, a.s), min(closest.high, b.s)};
        for (int k = 0; k < D; ++k) sum[k] = plus(sum[k], a.f[k], b.f[k]);
    }
};

template <int D, template <class, bool> class P, bool softened>
void step_double(const TileView<D>& tile, const StepArgs& args, StepResult& result) {
    using Force = DoubleForce<P, softened>;
    const Force force(*args.potential, args.safe_r2, tile.packed_bits + difference_shift);
    const F64 safe2(force.safe2), cutoff2(force.cutoff2);
    Integrate<D> integrate(tile, args, result, Precision::double_);
    NearOf<D> near;
    Sums<D> before;
    before.cluster = nullptr;

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        DoubleSums<Force, D> part[parts];
        for (int p = 0; p < parts; ++p)
            part[p] = {&force, own_positions<D>(tile, cluster, p), {cutoff2, cutoff2}, no_wide_sum<D>()};
        const I64 bias(biases(for_each_row<D>(tile, cluster, near, part)));
        Sums<D> sums;
        sums.cluster = &cluster;
        unsigned bad = 0;
        for (int p = 0; p < parts; ++p) {
            const DoubleSums<Force, D>& f = part[p];
            bad |= bits_in_order(less(f.closest.low, safe2), less(f.closest.high, safe2)) << p * width;
            sums.set(p, vec<D>([&](int a) { return in_order({f.sum[a].low - bias, f.sum[a].high - bias}); }));
        }
        bad &= (1u << cluster.count) - 1;
        if (bad) [[unlikely]]
            record(result.fault, FaultKind::force_range, tile.id + cluster.own, bad);
        if (before.cluster) integrate_in_loop<usual<P> && !softened>(integrate, before);
        before = sums;
    }
    if (before.cluster) integrate.called(before);
    integrate.finish();
}

// Parts of a cluster whose pairs' energies and virials are summed.
template <class Energy, int D>
struct EnergySums {
    const Energy* pair_energy;
    Positions<D> here;
    unsigned valid;
    WideI energy{0, 0}, virial{0, 0};
    int pairs = 0;

    HD WideDistance<D> pair(const Positions<D>& there) const { return wide_distance<D>(here, there); }
    HD void add(const WideDistance<D>& d) {
        const auto a = (*pair_energy)(d.low), b = (*pair_energy)(d.high);
        energy = plus(energy, a.energy, b.energy);
        virial = plus(virial, a.virial, b.virial);
        pairs += __builtin_popcount(bits_in_order(a.near, b.near) & valid);
    }
};

template <int D, template <class, bool> class P>
void pair_sums(const ListView<D>& tile, const PotentialSpec& spec, PairSums& out) {
    using Energy = PairEnergy<P>;
    const Energy pair_energy(spec, tile.packed_bits + difference_shift);
    NearOf<D> near;
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        EnergySums<Energy, D> part[parts];
        for (int p = 0; p < parts; ++p)
            part[p] = {&pair_energy, own_positions<D>(tile, cluster, p), ((1u << cluster.count) - 1) >> p * width};
        const std::uint64_t bias = biases(for_each_row<D>(tile, cluster, near, part));
        const auto sum = [&](WideI f, int first) {
            const WideI ordered = in_order(f);
            Int128 r = 0;
            for (int l = 0; l < width && first + l < cluster.count; ++l)
                r += lane_of((l < wide_width ? ordered.low : ordered.high) - I64(bias), l % wide_width);
            return r;
        };
        for (int p = 0; p < parts; ++p) {
            out.energy += sum(part[p].energy, p * width);
            out.virial += sum(part[p].virial, p * width);
            out.pairs += part[p].pairs;
        }
    }
}

// Parts of a cluster whose neighbours within the cutoff are counted.
template <int D>
struct NeighbourCounts {
    F64 cutoff2;
    Positions<D> here;
    std::int32_t count[width] = {};

    HD WideDistance<D> pair(const Positions<D>& there) const { return wide_distance<D>(here, there); }
    HD void add(const WideDistance<D>& d) {
        const unsigned near = bits_in_order(less(d.s_low, cutoff2), less(d.s_high, cutoff2));
        for (int l = 0; l < width; ++l) count[l] += near >> l & 1;
    }
};

template <int D>
void count_neighbours(const ListView<D>& tile, double cutoff, std::int32_t* within) {
    const F64 cutoff2(cutoff * cutoff * two_to(2 * (tile.packed_bits + difference_shift)));
    NearOf<D> near;
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        NeighbourCounts<D> part[parts];
        for (int p = 0; p < parts; ++p) part[p] = {cutoff2, own_positions<D>(tile, cluster, p)};
        for_each_row<D>(tile, cluster, near, part);
        for (int l = 0; l < cluster.count; ++l) within[cluster.own + l] = part[l / width].count[l % width];
    }
}

// One entry a functor, in the order of Potentials.
template <int D, class... T>
constexpr KernelsOf<D> table(std::tuple<T...>*) {
    KernelsOf<D> k{};
    k.keys = sorting_keys<D>;
    k.coarse = coarse_positions<D>;
    k.rows = build_rows<D>;
    k.neighbours = count_neighbours<D>;
    int i = 0;
    const auto add = [&]<template <class, bool> class P>(P<double, true>*) {
        k.step[i][0][0] = step_mixed<D, P, !usual<P>>;
        k.step[i][0][1] = step_mixed<D, P, true>;
        k.step[i][1][0] = step_double<D, P, !usual<P>>;
        k.step[i][1][1] = step_double<D, P, true>;
        k.pair_sums[i] = pair_sums<D, P>;
        ++i;
    };
    (add(static_cast<T*>(nullptr)), ...);
    return k;
}
static_assert(potential_count <= 8, "widen the tables in kernels.hpp");

#define STEELYARD_QUOTE_(x) #x
#define STEELYARD_QUOTE(x) STEELYARD_QUOTE_(x)
constexpr Potentials<double, true>* potentials = nullptr;
constexpr Kernels all_kernels{STEELYARD_QUOTE(STEELYARD_ISA_NAME), table<2>(potentials), table<3>(potentials)};

}  // namespace

const Kernels& kernels();
const Kernels& kernels() { return all_kernels; }

}  // namespace md::STEELYARD_ISA_NAME
