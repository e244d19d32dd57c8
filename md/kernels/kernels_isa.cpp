// SPDX-License-Identifier: MIT
// The vector kernels' one text. Compiled once for each instruction set (STEELYARD_ISA); simd.hpp supplies the vectors.
// It loads, picks, masks, sums and stores; the arithmetic of pairs and of integration is in functors, which a thread
// that has a single particle can call too.
#include "md/kernels/integration.hpp"
#include "md/kernels/kernels.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/simd.hpp"
#include "md/kernels/simd_columns.hpp"
#include "md/kernels/sorting_key.hpp"

namespace md::STEELYARD_ISA_NAME {
namespace {

HD std::int64_t lane_of(I64 a, int l) {
    alignas(64) std::int64_t t[8];
    store_first(t, a, 8);
    return t[l];
}

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

// Calls body(positions of the lanes' k-th neighbours) for all k and returns how many k there were. Picks them a row
// ahead: instructions that wait for others fill the processor's queues.
template <class Body>
HD int for_each_neighbour(const ListView& tile, const Cluster& cluster, NearBuffer& buffer, Body body) {
    int length = 0;
    for (std::int32_t h = cluster.first; h != cluster.last; ++h) {
        const Neighbourhood& hood = tile.neighbourhoods[h];
        const std::uint64_t* base = tile.packed + cluster.base;
        const std::uint8_t* row = tile.rows + hood.row;
        prefetch_near(hood, base, row);
        const Near near = load_near(base, hood.start, cluster.far_x, buffer);
        Positions16 next = pick(near, row);
        for (const std::uint8_t* end = row + std::int64_t{hood.length} * lanes; row != end;) {
            row += lanes;
            const Positions16 there = next;
            next = pick(near, row);  // there is room behind the last row
            body(there);
        }
        length += hood.length;
    }
    return length;
}

// Force sums of a cluster, quanta, in the order of lanes. They wait for the next cluster's pairs before they are
// integrated: by then nothing waits for them.
struct Sums {
    const Cluster* cluster;
    I64 x_lo, x_hi, y_lo, y_hi;
};

// Up to eight particles of a tile, as Integration sees them.
struct Eight {
    const TileView& tile;
    const StepArgs& args;
    StepResult& result;
    F32& farthest;
    int own, slot, n;

    HD I64 x() const { return load_i64(tile.x + own); }
    HD I64 y() const { return load_i64(tile.y + own); }
    HD I64 vx() const { return load_i64(tile.vx + own); }
    HD I64 vy() const { return load_i64(tile.vy + own); }
    HD void fault(FaultKind kind, unsigned bad) {
        bad &= n >= 8 ? 0xffu : (1u << n) - 1;
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
        const I64 x[2] = {f.x_lo, f.x_hi}, y[2] = {f.y_lo, f.y_hi};
#pragma GCC unroll 1  // as fast as two copies, and half the time of a build
        for (int half = 0; half < 2; ++half) {
            const int n = c.count - 8 * half;
            if (n <= 0) break;
            eight(c.own + 8 * half, c.slot + 8 * half, n < 8 ? n : 8, x[half], y[half]);
        }
    }
    [[gnu::noinline]] void called(const Sums& f) { inlined(f); }

    HD void eight(int own, int slot, int n, I64 fx, I64 fy) {
        if (args.force_x) {
            store_first(args.force_x + own, fx, n);
            store_first(args.force_y + own, fy, n);
        }
        Eight particles{tile, args, result, farthest, own, slot, n};
        step(particles, fx, fy);
    }

    HD void finish() { result.displacement2 = reduce_max(farthest); }
};

// In the loop over clusters a call costs 2 % of a step, and inlining it in the loops of all potentials would double the
// time of a build. So it is inlined for the potential that most decks have.
template <template <class, bool> class P>
HD void integrate_in_loop(Integrate& integrate, const Sums& f) {
    if constexpr (STEELYARD_ISA != 0 && std::is_same_v<P<double, true>, LennardJones<double, true>>)
        integrate.inlined(f);
    else integrate.called(f);
}

// Pair arithmetic in floats, force sums in 32-bit integers, or in 64-bit ones where a close pair could overflow those.
template <template <class, bool> class P, bool softened>
void step_mixed(const TileView& tile, const StepArgs& args, StepResult& result) {
    const MixedForce<P, softened> force(*args.potential, args.safe_r2, tile.packed_bits);
    Integrate integrate(tile, args, result, Precision::mixed);
    NearBuffer buffer{};
    Sums before{nullptr, i64(0), i64(0), i64(0), i64(0)};

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        const auto pair = [&](Positions16 there) __attribute__((always_inline)) {
            return force(to_f32(here.x - there.x), to_f32(here.y - there.y));
        };
        I32 sum_x = i32(0), sum_y = i32(0);
        F32 square(0.0f);
        const int length = for_each_neighbour(
            tile, cluster, buffer, [&](Positions16 there) __attribute__((always_inline)) {
                const auto p = pair(there);
                square = fma(p.g, p.g, square);
                sum_x = sum_x + to_i32(p.fx);
                sum_y = sum_y + to_i32(p.fy);
            });
        I64 x_lo = low_half(sum_x), x_hi = high_half(sum_x), y_lo = low_half(sum_y), y_hi = high_half(sum_y);
        const F32 narrow(force.narrow_g2(args.narrow_g2, length));
        const unsigned valid = (1u << cluster.count) - 1;
        if (~bits(less(square, narrow)) & valid) [[unlikely]] {
            F32 closest(force.cutoff2);
            x_lo = x_hi = y_lo = y_hi = i64(0);
            for_each_neighbour(tile, cluster, buffer, [&](Positions16 there) {
                const auto p = pair(there);
                closest = min(closest, p.s);
                x_lo = x_lo + low_to_i64(p.fx), x_hi = x_hi + high_to_i64(p.fx);
                y_lo = y_lo + low_to_i64(p.fy), y_hi = y_hi + high_to_i64(p.fy);
            });
            const unsigned bad = bits(less(closest, F32(force.safe2))) & valid;
            if (bad) record(result.fault, FaultKind::force_range, tile.id + cluster.own, bad);
        }
        if (before.cluster) integrate_in_loop<P>(integrate, before);
        before = {&cluster, x_lo, x_hi, y_lo, y_hi};
    }
    if (before.cluster) integrate.called(before);
    integrate.finish();
}

// Pair arithmetic in doubles, force sums in 64-bit integers.
template <template <class, bool> class P, bool softened>
void step_double(const TileView& tile, const StepArgs& args, StepResult& result) {
    const DoubleForce<P, softened> force(*args.potential, args.safe_r2, tile.packed_bits + difference_shift);
    const F64 safe2(force.safe2);
    Integrate integrate(tile, args, result, Precision::double_);
    NearBuffer buffer{};
    Sums before{nullptr, i64(0), i64(0), i64(0), i64(0)};

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        I64 x_0 = i64(0), x_1 = i64(0), y_0 = i64(0), y_1 = i64(0);
        F64 closest_0(force.cutoff2), closest_1(force.cutoff2);
        const auto pair = [&](F64 dx, F64 dy, F64 & closest, I64 & x, I64 & y) __attribute__((always_inline)) {
            const auto p = force(dx, dy);
            closest = min(closest, p.s);
            x = x + p.fx;
            y = y + p.fy;
        };
        const int length = for_each_neighbour(
            tile, cluster, buffer, [&](Positions16 there) __attribute__((always_inline)) {
                const Halves dx = to_halves(here.x - there.x), dy = to_halves(here.y - there.y);
                pair(dx.a, dy.a, closest_0, x_0, y_0);
                pair(dx.b, dy.b, closest_1, x_1, y_1);
            });
        const unsigned bad =
            bits_in_order(less(closest_0, safe2), less(closest_1, safe2)) & ((1u << cluster.count) - 1);
        if (bad) [[unlikely]]
            record(result.fault, FaultKind::force_range, tile.id + cluster.own, bad);
        in_order(x_0, x_1);
        in_order(y_0, y_1);
        if (before.cluster) integrate_in_loop<P>(integrate, before);
        const I64 bias = i64(static_cast<std::int64_t>(biases(length)));
        before = {&cluster, x_0 - bias, x_1 - bias, y_0 - bias, y_1 - bias};
    }
    if (before.cluster) integrate.called(before);
    integrate.finish();
}

template <template <class, bool> class P>
void pair_sums(const ListView& tile, const PotentialSpec& spec, PairSums& out) {
    const PairEnergy<P> pair_energy(spec, tile.packed_bits + difference_shift);
    NearBuffer buffer{};
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        const unsigned valid = (1u << cluster.count) - 1;
        I64 energy[2] = {i64(0), i64(0)}, virial[2] = {i64(0), i64(0)};
        const auto pair = [&](F64 dx, F64 dy, int half) {
            const auto p = pair_energy(dx, dy);
            energy[half] = energy[half] + p.energy;
            virial[half] = virial[half] + p.virial;
            return p.near;
        };
        const int length = for_each_neighbour(tile, cluster, buffer, [&](Positions16 there) {
            const Halves dx = to_halves(here.x - there.x), dy = to_halves(here.y - there.y);
            const M8 near_0 = pair(dx.a, dy.a, 0), near_1 = pair(dx.b, dy.b, 1);
            out.pairs += __builtin_popcount(bits_in_order(near_0, near_1) & valid);
        });
        in_order(energy[0], energy[1]);
        in_order(virial[0], virial[1]);
        const std::uint64_t bias = biases(length);
        for (int l = 0; l < cluster.count; ++l) {
            out.energy += static_cast<std::int64_t>(static_cast<std::uint64_t>(lane_of(energy[l / 8], l % 8)) - bias);
            out.virial += static_cast<std::int64_t>(static_cast<std::uint64_t>(lane_of(virial[l / 8], l % 8)) - bias);
        }
    }
}

void count_neighbours(const ListView& tile, double cutoff, std::int32_t* within) {
    const F64 cutoff2(cutoff * cutoff * two_to(2 * (tile.packed_bits + difference_shift)));
    NearBuffer buffer{};
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        std::int32_t count[lanes] = {};
        for_each_neighbour(tile, cluster, buffer, [&](Positions16 there) {
            const Halves dx = to_halves(here.x - there.x), dy = to_halves(here.y - there.y);
            const unsigned near =
                bits_in_order(less(square_of(dx.a, dy.a), cutoff2), less(square_of(dx.b, dy.b), cutoff2));
            for (int l = 0; l < lanes; ++l) count[l] += near >> l & 1;
        });
        for (int l = 0; l < cluster.count; ++l) within[cluster.own + l] = count[l];
    }
}

// Close to an edge, the exact cells decide.
void sorting_keys(const KeysArgs& a) {
    const I64 front_x = i64(a.edges[0][0] << edge_shift), front_y = i64(a.edges[1][0] << edge_shift);
    const F64 scale_x(a.per_cell[0] / (1 << edge_shift)), scale_y(a.per_cell[1] / (1 << edge_shift));
    const F64 half(0.5), close(1e-6), far(1 - 1e-6), slices(a.slices),
        column(static_cast<double>(a.cells[1]) * a.slices);
    for (std::int64_t i = 0; i < a.count; i += 8) {
        const int n = a.count - i < 8 ? static_cast<int>(a.count - i) : 8;
        const F64 x = to_f64(load_i64(a.x + i) - front_x) * scale_x, y = to_f64(load_i64(a.y + i) - front_y) * scale_y;
        const F64 cx = to_f64(to_i64(x - half)),
                  cy = to_f64(to_i64(y - half));  // nearest: the cell, but close to an edge
        const F64 in_x = x - cx, in_y = y - cy;
        alignas(64) std::int64_t key[8];
        store_first(key, to_i64(fma(cx, column, to_f64(to_i64(y * slices - half)))), 8);
        unsigned edge =
            bits(less(in_x, close)) | bits(not_below(in_x, far)) | bits(less(in_y, close)) | bits(not_below(in_y, far));
        for (edge &= (1u << n) - 1; edge; edge &= edge - 1) {
            const int l = __builtin_ctz(edge);
            key[l] = sorting_key(a, a.x[i + l], a.y[i + l]);
        }
        for (int l = 0; l < n; ++l) {
            a.key[i + l] = static_cast<std::uint32_t>(key[l]);
            ++a.bin[key[l] + 1];
        }
    }
}

// A cluster as the search for its neighbours sees it: positions from the middle of its bounding box, so that candidates
// on all sides stay on theirs of the wrap.
struct ClusterBox {
    I32 x0, y0;  // the middle, packed
    F32 half_x, half_y, radius2;
    alignas(64) float lane_x[16], lane_y[16];
};
ClusterBox cluster_box(const RowsArgs& a) {
    const Positions16 own = load_positions16(a.packed + a.slot);
    const auto first = [](I32 v) { return static_cast<std::int32_t>(lane_of(low_half(v), 0)); };
    const I32 x0 = i32(first(own.x)), y0 = i32(first(own.y));
    const M16 filled = first_of_16(a.count);
    const F32 x = keep(filled, to_f32(own.x - x0)), y = keep(filled, to_f32(own.y - y0));  // 0 is the first particle's
    const F32 zero(0.0f);
    const float low_x = -reduce_max(zero - x), high_x = reduce_max(x), low_y = -reduce_max(zero - y),
                high_y = reduce_max(y);
    const auto mid_x = static_cast<std::int32_t>((low_x + high_x) / 2),
               mid_y = static_cast<std::int32_t>((low_y + high_y) / 2);
    const double radius = searched_radius(a.radius) * two_to(a.packed_bits);
    ClusterBox box{x0 + i32(mid_x),
                   y0 + i32(mid_y),
                   F32((high_x - low_x) / 2),
                   F32((high_y - low_y) / 2),
                   F32(static_cast<float>(radius * radius)),
                   {},
                   {}};
    store_f32(box.lane_x, x - F32(static_cast<float>(mid_x)));
    store_f32(box.lane_y, y - F32(static_cast<float>(mid_y)));
    return box;
}

// Candidates that lie within the radius of the cluster's bounding box, in a.x, a.y, a.place; windows in a.start.
struct Survivors {
    int candidates = 0, used = 0;  // candidates, windows
    int self = 0;                  // place of the first particle of the cluster; the others follow
};
Survivors filter_candidates(const RowsArgs& a, const ClusterBox& box) {
    Survivors s;
    const F32 zero(0.0f);
    // Windows lie side by side from the first to the last survivor of a run, so places rise as slots do.
    for (int r = 0; r < a.range_count; ++r) {
        const int begin = a.ranges[2 * r], end = a.ranges[2 * r + 1];
        int first = -1, shift = 0;
        for (int j = begin; j < end; j += 16) {
            const Positions16 p = load_positions16(a.packed + j);
            const F32 x = to_f32(p.x - box.x0), y = to_f32(p.y - box.y0);
            const F32 dx = max(abs(x) - box.half_x, zero), dy = max(abs(y) - box.half_y, zero);
            const M16 near = less(first_of_16(end - j), square_of(dx, dy), box.radius2);
            if (bits(near) == 0) continue;
            if (first < 0) first = j + __builtin_ctz(bits(near)), shift = s.used * window - first;
            compress(a.x + s.candidates, near, x);
            compress(a.y + s.candidates, near, y);
            s.candidates += compress(a.place + s.candidates, near, counting_from(j + shift));
        }
        if (first < 0) continue;
        if (begin <= a.slot && a.slot < end) s.self = a.slot + shift;
        for (const int last = a.place[s.candidates - 1]; s.used * window <= last; ++s.used)
            a.start[s.used] = s.used * window - shift - a.base;
    }
    store_f32(a.x + s.candidates, F32(1e30f));  // what follows in the last vector is out of reach
    return s;
}

// The neighbours of each lane among the survivors, in a.lane_rows; their numbers in `lengths`.
void list_lanes(const RowsArgs& a, const ClusterBox& box, const Survivors& s, int (&lengths)[lanes]) {
    for (int l = 0; l < a.count; l += 2) {  // two at a time: each vector of candidates is loaded once
        const F32 x_0(box.lane_x[l]), y_0(box.lane_y[l]), x_1(box.lane_x[l + 1]), y_1(box.lane_y[l + 1]);
        const I32 self_0 = i32(s.self + l), self_1 = i32(s.self + l + 1);
        std::int32_t *row_0 = a.lane_rows + l * a.stride, *row_1 = row_0 + a.stride;
        int n_0 = 0, n_1 = 0;
        for (int j = 0; j < s.candidates; j += 16) {
            const F32 cx = load_f32(a.x + j), cy = load_f32(a.y + j);
            const I32 place = load_i32(a.place + j);
            const F32 dx_0 = cx - x_0, dy_0 = cy - y_0, dx_1 = cx - x_1, dy_1 = cy - y_1;
            n_0 += compress(row_0 + n_0, less(differs(place, self_0), square_of(dx_0, dy_0), box.radius2), place);
            n_1 += compress(row_1 + n_1, less(differs(place, self_1), square_of(dx_1, dy_1), box.radius2), place);
        }
        lengths[l] = n_0;
        lengths[l + 1] = l + 1 < a.count ? n_1 : 0;
    }
}

// Deals the lanes' neighbours to neighbourhoods of `windows` windows; returns how many there are. Neighbourhoods
// overlap. Each must take the neighbours that the next one cannot address; lanes with shorter rows may take more, up to
// the longest row, to even the lengths out. -1: there is no room for them. Most clusters need one neighbourhood, whose
// loops are simpler: compiled on its own, that case saves 8 % of the time of all neighbour lists.
template <bool several>
HD std::int32_t deal_to_neighbourhoods(const RowsArgs& a, int real, int used, const int (&lengths)[lanes]) {
    const int steps = several ? (used - 2) / (windows - 1) : 0;  // of windows - 1 at most
    if (steps >= a.neighbourhoods_room) return -1;
    std::int32_t hoods = 0, rows_used = 0;
    int taken[lanes] = {};
    for (int h = 0; h <= steps; ++h) {
        const int from = steps ? h * (used - windows) / steps : 0, next = steps ? (h + 1) * (used - windows) / steps : 0;
        int length = 0, count[lanes];
        for (int l = 0; l < lanes; ++l) {
            const std::int32_t* row = a.lane_rows + l * a.stride;
            const int needed = (h < steps ? count_below(row, lengths[l], next * window) : lengths[l]) - taken[l];
            count[l] = (h < steps ? count_below(row, lengths[l], from * window + far_place) : lengths[l]) - taken[l];
            length = needed > length ? needed : length;
        }
        if (length == 0) continue;
        if (rows_used + std::int64_t{(length + 15) / 16 * 16} * lanes > a.rows_room) return -1;
        for (int l = 0; l < lanes; ++l) count[l] = count[l] < length ? count[l] : length;
        for (int k = 0; k < length; k += 16)
            transpose_16_columns(a.rows + rows_used + k * lanes, a.lane_rows, a.stride, taken, count, k, from * window);
        Neighbourhood& hood = a.neighbourhoods[hoods++];
        for (int w = 0; w < windows; ++w)
            hood.start[w] = static_cast<std::uint16_t>(from + w < real ? a.start[from + w] : a.start[0]);
        hood.row = rows_used;
        hood.length = length;
        rows_used += length * lanes;
        for (int l = 0; l < lanes; ++l) taken[l] += count[l];
    }
    return hoods;
}

// All candidates against the cluster's bounding box, each lane against the survivors, and their neighbours into
// neighbourhoods.
std::int32_t build_rows(const RowsArgs& a) {
    const ClusterBox box = cluster_box(a);
    const Survivors s = filter_candidates(a, box);
    if (s.candidates == 0) return 0;
    int lengths[lanes] = {};
    list_lanes(a, box, s, lengths);
    const bool full = a.place[s.candidates - 1] == s.used * window - 1;  // then an empty window, for the far place
    const int used = s.used + (full ? 1 : 0);
    return used > windows ? deal_to_neighbourhoods<true>(a, s.used, used, lengths)
                          : deal_to_neighbourhoods<false>(a, s.used, used, lengths);
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
        k.step[i][0][0] = step_mixed<P, false>;
        k.step[i][0][1] = step_mixed<P, true>;
        k.step[i][1][0] = step_double<P, false>;
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
