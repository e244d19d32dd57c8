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
HD void prefetch_own(const TileView& tile, const Cluster& cluster) {
    for (int l = 0; l < lanes; l += 8) {
        const std::int64_t own = cluster.own + clusters_ahead * lanes + l;
        for (const std::int64_t* p : {tile.x, tile.y, tile.vx, tile.vy}) __builtin_prefetch(p + own, 1);
        __builtin_prefetch(tile.reference + own);
        __builtin_prefetch(tile.next + cluster.slot + clusters_ahead * lanes + l, 1);
    }
}
HD void prefetch_near(const Neighbourhood& hood, const std::uint64_t* base, const std::uint8_t* row) {
    constexpr int usual = 20 * lanes;
    for (int b = 0; b < usual; b += 64) __builtin_prefetch(row + clusters_ahead * usual + b);
    for (int w = windows / 2; w < windows; ++w)
        __builtin_prefetch(base + hood.start[w] + clusters_ahead * lanes);  // other columns are known
    __builtin_prefetch(&hood + clusters_ahead + 1);
}

// Shows each part of a cluster its neighbours: `width` lanes, which stay in registers while their rows last. A Part is
// copied and has these members:
//   pair(positions)       begins the work on the lanes' next neighbours, as far as their distances, and returns it
//   add(pair)             does the rest
// Returns how many rows there were. What a row begins is finished a row later, and its neighbours are picked a row
// before: instructions that wait for others fill the processor's queues.
template <class Part>
HD int for_each_row(const ListView& tile, const Cluster& cluster, Near& near, Part (&part)[parts]) {
    int length = 0;
    for (std::int32_t h = cluster.first; h != cluster.last; ++h) {
        const Neighbourhood& hood = tile.neighbourhoods[h];
        const std::uint64_t* base = tile.packed + cluster.base;
        const std::uint8_t* rows = tile.rows + hood.row;
        prefetch_near(hood, base, rows);
        load_near(near, base, hood.start, cluster.far_x);
#pragma GCC unroll 1
        for (int p = 0; p < parts; ++p) {
            Part mine = part[p];
            const std::uint8_t *row = rows + p * width, *last = row + std::int64_t{hood.length - 1} * lanes;
            auto begun = mine.pair(pick(near, row));
            Positions next = pick(near, row + lanes);  // there is room behind the last row
            for (; row != last; row += lanes) {
                const Positions there = next;
                const auto before = begun;
                next = pick(near, row + 2 * lanes);
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
HD Positions own_positions(const ListView& tile, const Cluster& cluster, int part) {
    return load_positions(tile.packed + cluster.slot + part * width);
}

// Force sums of a cluster, quanta, in the order of lanes. They wait for the next cluster's pairs before they are
// integrated: by then nothing waits for them.
struct Sums {
    const Cluster* cluster;
    I64 x[2 * parts], y[2 * parts];

    HD void set(int part, WideI fx, WideI fy) {
        x[2 * part] = fx.low, x[2 * part + 1] = fx.high;
        y[2 * part] = fy.low, y[2 * part + 1] = fy.high;
    }
};

// Up to `wide_width` particles of a tile, as Integration sees them.
struct Some {
    const TileView& tile;
    const StepArgs& args;
    StepResult& result;
    F32& farthest;
    int own, slot, n;

    HD I64 x() const { return load<std::uint64_t>(tile.x + own); }
    HD I64 y() const { return load<std::uint64_t>(tile.y + own); }
    HD I64 vx() const { return load<std::uint64_t>(tile.vx + own); }
    HD I64 vy() const { return load<std::uint64_t>(tile.vy + own); }
    HD void fault(FaultKind kind, unsigned bad) {
        bad &= (1u << n) - 1;
        if (bad) record(result.fault, kind, tile.id + own, bad);
    }
    HD void whole_step(I64 vx, I64 vy) {
        if (!args.sum_kinetic) return;
        const I64 energy = kinetic_energy(vx, vy);
        for (int l = 0; l < n; ++l) {
            result.momentum[0] += lane_of(vx, l);
            result.momentum[1] += lane_of(vy, l);
            result.kinetic += lane_of(energy, l);
        }
    }
    HD void set_velocity(I64 vx, I64 vy) {
        store_first(tile.vx + own, vx, n);
        store_first(tile.vy + own, vy, n);
    }
    HD void move(I64 x, I64 y, I64 packed) {
        store_first(tile.x + own, x, n);
        store_first(tile.y + own, y, n);
        store_first(tile.next + slot, packed, n);
        farthest = max(farthest, distance2(packed, tile.reference + own, n));
    }
};

// Integrates up to 16 particles with force sums in quanta.
struct Integrate {
    const TileView& tile;
    const StepArgs& args;
    StepResult& result;
    Integration step;
    F32 farthest{0.0f};  // squared way since the last rebuild

    HD Integrate(const TileView& t, const StepArgs& a, StepResult& r, Precision p)
        : tile(t), args(a), result(r), step(a, p, t.packed_bits) {}

    HD void inlined(const Sums& f) {
        const Cluster& c = *f.cluster;
#pragma GCC unroll 1  // as fast as copies, and half the time of a build
        for (int i = 0; i < 2 * parts; ++i) {
            const int first = i * wide_width, n = c.count - first < wide_width ? c.count - first : wide_width;
            if (n <= 0) break;
            some(c.own + first, c.slot + first, n, f.x[i], f.y[i]);
        }
    }
    [[gnu::noinline]] void called(const Sums& f) { inlined(f); }

    HD void some(int own, int slot, int n, I64 fx, I64 fy) {
        if (args.force_x) {
            store_first(args.force_x + own, fx, n);
            store_first(args.force_y + own, fy, n);
        }
        Some particles{tile, args, result, farthest, own, slot, n};
        step(particles, fx, fy);
    }

    HD void finish() { result.displacement2 = reduce_max(farthest); }
};

// The potential that most decks have gets loops of its own where that is worth the time of a build: with vectors. It
// alone is compiled without softening too (adding a softening of zero changes no bit and costs 2 to 5 % of a step).
template <template <class, bool> class P>
constexpr bool usual = STEELYARD_ISA != 0 && std::is_same_v<P<double, true>, LennardJones<double, true>>;

// In the loop over clusters a call costs 2 % of a step; inlined in all loops it would double the time of a build.
template <bool inlined>
HD void integrate_in_loop(Integrate& integrate, const Sums& f) {
    if constexpr (inlined) integrate.inlined(f);
    else integrate.called(f);
}

// A displacement in floats and its square.
struct Distance {
    F32 dx, dy, s;
};
HD Distance distance(Positions here, Positions there) {
    const F32 dx = to_f32(here.x - there.x), dy = to_f32(here.y - there.y);
    return {dx, dy, square_of(dx, dy)};
}

// Parts of a cluster whose forces are computed in floats and summed in 32-bit integers.
template <class Force>
struct NarrowSums {
    const Force* force;
    Positions here;
    I32 x{0}, y{0};
    F32 square{0.0f};  // sum of (F/r)^2

    HD Distance pair(Positions there) const { return distance(here, there); }
    HD void add(const Distance& d) {
        const auto p = (*force)(d.dx, d.dy, d.s);
        square = fma(p.g, p.g, square);
        x = x + to_i32(p.fx);
        y = y + to_i32(p.fy);
    }
};

// The same with sums of 64 bits, for close pairs.
template <class Force>
struct WideSums {
    const Force* force;
    Positions here;
    F32 closest;
    WideI x{0, 0}, y{0, 0};

    HD Distance pair(Positions there) const { return distance(here, there); }
    HD void add(const Distance& d) {
        const auto p = (*force)(d.dx, d.dy, d.s);
        closest = min(closest, p.s);
        const WideI fx = to_wide_integers(p.fx), fy = to_wide_integers(p.fy);
        x = {x.low + fx.low, x.high + fx.high};
        y = {y.low + fy.low, y.high + fy.high};
    }
};
template <class Force>
[[gnu::noinline]] Sums sum_wide(const TileView& tile, const Cluster& cluster, const Force& force, Fault& fault) {
    Near near;
    WideSums<Force> part[parts];
    for (int p = 0; p < parts; ++p) part[p] = {&force, own_positions(tile, cluster, p), F32(force.cutoff2)};
    for_each_row(tile, cluster, near, part);
    Sums sums;
    sums.cluster = &cluster;
    unsigned bad = 0;
    for (int p = 0; p < parts; ++p) {
        sums.set(p, part[p].x, part[p].y);
        bad |= bits(less(part[p].closest, F32(force.safe2))) << p * width;
    }
    bad &= (1u << cluster.count) - 1;
    if (bad) record(fault, FaultKind::force_range, tile.id + cluster.own, bad);
    return sums;
}

// Pair arithmetic in floats, force sums in 32-bit integers, or in 64-bit ones where a close pair could overflow those.
template <template <class, bool> class P, bool softened>
void step_mixed(const TileView& tile, const StepArgs& args, StepResult& result) {
    using Force = MixedForce<P, softened>;
    const Force force(*args.potential, args.safe_r2, tile.packed_bits);
    Integrate integrate(tile, args, result, Precision::mixed);
    Near near;
    Sums before;
    before.cluster = nullptr;

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        NarrowSums<Force> part[parts];
        for (int p = 0; p < parts; ++p) part[p] = {&force, own_positions(tile, cluster, p)};
        const int length = for_each_row(tile, cluster, near, part);
        const F32 narrow(force.narrow_g2(args.narrow_g2, length));
        Sums sums;
        sums.cluster = &cluster;
        unsigned safe = 0;
        for (int p = 0; p < parts; ++p) {
            sums.set(p, wide(part[p].x), wide(part[p].y));
            safe |= bits(less(part[p].square, narrow)) << p * width;
        }
        if (~safe & ((1u << cluster.count) - 1)) [[unlikely]]
            sums = sum_wide(tile, cluster, force, result.fault);
        if (before.cluster) integrate_in_loop<usual<P>>(integrate, before);
        before = sums;
    }
    if (before.cluster) integrate.called(before);
    integrate.finish();
}

// A displacement in doubles and its square, in the order of differences().
struct WideDistance {
    WideF dx, dy, s;
};
HD WideDistance wide_distance(Positions here, Positions there) {
    const WideF dx = differences(here.x - there.x), dy = differences(here.y - there.y);
    return {dx, dy, {square_of(dx.low, dy.low), square_of(dx.high, dy.high)}};
}
HD WideI plus(WideI a, I64 low, I64 high) { return {a.low + low, a.high + high}; }

// Parts of a cluster whose forces are computed in doubles and summed in 64-bit integers.
template <class Force>
struct DoubleSums {
    const Force* force;
    Positions here;
    WideF closest;
    WideI x{0, 0}, y{0, 0};

    HD WideDistance pair(Positions there) const { return wide_distance(here, there); }
    HD void add(const WideDistance& d) {
        const auto a = (*force)(d.dx.low, d.dy.low, d.s.low), b = (*force)(d.dx.high, d.dy.high, d.s.high);
        closest = {min(closest.low, a.s), min(closest.high, b.s)};
        x = plus(x, a.fx, b.fx);
        y = plus(y, a.fy, b.fy);
    }
};

template <template <class, bool> class P, bool softened>
void step_double(const TileView& tile, const StepArgs& args, StepResult& result) {
    using Force = DoubleForce<P, softened>;
    const Force force(*args.potential, args.safe_r2, tile.packed_bits + difference_shift);
    const F64 safe2(force.safe2), cutoff2(force.cutoff2);
    Integrate integrate(tile, args, result, Precision::double_);
    Near near;
    Sums before;
    before.cluster = nullptr;

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        DoubleSums<Force> part[parts];
        for (int p = 0; p < parts; ++p) part[p] = {&force, own_positions(tile, cluster, p), {cutoff2, cutoff2}};
        const I64 bias(biases(for_each_row(tile, cluster, near, part)));
        Sums sums;
        sums.cluster = &cluster;
        unsigned bad = 0;
        for (int p = 0; p < parts; ++p) {
            const DoubleSums<Force>& f = part[p];
            bad |= bits_in_order(less(f.closest.low, safe2), less(f.closest.high, safe2)) << p * width;
            sums.set(p, in_order({f.x.low - bias, f.x.high - bias}), in_order({f.y.low - bias, f.y.high - bias}));
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
template <class Energy>
struct EnergySums {
    const Energy* pair_energy;
    Positions here;
    unsigned valid;
    WideI energy{0, 0}, virial{0, 0};
    int pairs = 0;

    HD WideDistance pair(Positions there) const { return wide_distance(here, there); }
    HD void add(const WideDistance& d) {
        const auto a = (*pair_energy)(d.dx.low, d.dy.low), b = (*pair_energy)(d.dx.high, d.dy.high);
        energy = plus(energy, a.energy, b.energy);
        virial = plus(virial, a.virial, b.virial);
        pairs += __builtin_popcount(bits_in_order(a.near, b.near) & valid);
    }
};

template <template <class, bool> class P>
void pair_sums(const ListView& tile, const PotentialSpec& spec, PairSums& out) {
    using Energy = PairEnergy<P>;
    const Energy pair_energy(spec, tile.packed_bits + difference_shift);
    Near near;
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        EnergySums<Energy> part[parts];
        for (int p = 0; p < parts; ++p)
            part[p] = {&pair_energy, own_positions(tile, cluster, p), ((1u << cluster.count) - 1) >> p * width};
        const std::uint64_t bias = biases(for_each_row(tile, cluster, near, part));
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
struct NeighbourCounts {
    F64 cutoff2;
    Positions here;
    std::int32_t count[width] = {};

    HD WideDistance pair(Positions there) const { return wide_distance(here, there); }
    HD void add(const WideDistance& d) {
        const unsigned near = bits_in_order(less(d.s.low, cutoff2), less(d.s.high, cutoff2));
        for (int l = 0; l < width; ++l) count[l] += near >> l & 1;
    }
};

void count_neighbours(const ListView& tile, double cutoff, std::int32_t* within) {
    const F64 cutoff2(cutoff * cutoff * two_to(2 * (tile.packed_bits + difference_shift)));
    Near near;
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        NeighbourCounts part[parts];
        for (int p = 0; p < parts; ++p) part[p] = {cutoff2, own_positions(tile, cluster, p)};
        for_each_row(tile, cluster, near, part);
        for (int l = 0; l < cluster.count; ++l) within[cluster.own + l] = part[l / width].count[l % width];
    }
}

// One entry a functor, in the order of Potentials.
template <class... T>
constexpr Kernels table(const char* isa, std::tuple<T...>*) {
    Kernels k{};
    k.isa = isa;
    k.keys = sorting_keys;
    k.rows = build_rows;
    k.neighbours = count_neighbours;
    int i = 0;
    const auto add = [&]<template <class, bool> class P>(P<double, true>*) {
        k.step[i][0][0] = step_mixed<P, !usual<P>>;
        k.step[i][0][1] = step_mixed<P, true>;
        k.step[i][1][0] = step_double<P, !usual<P>>;
        k.step[i][1][1] = step_double<P, true>;
        k.pair_sums[i] = pair_sums<P>;
        ++i;
    };
    (add(static_cast<T*>(nullptr)), ...);
    return k;
}
static_assert(potential_count <= 8, "widen the tables in kernels.hpp");

#define STEELYARD_QUOTE_(x) #x
#define STEELYARD_QUOTE(x) STEELYARD_QUOTE_(x)
constexpr Kernels all_kernels =
    table(STEELYARD_QUOTE(STEELYARD_ISA_NAME), static_cast<Potentials<double, true>*>(nullptr));

}  // namespace

const Kernels& kernels();
const Kernels& kernels() { return all_kernels; }

}  // namespace md::STEELYARD_ISA_NAME
