// SPDX-License-Identifier: MIT
// The kernels' one text. Compiled once for each instruction set (STEELYARD_ISA); simd.hpp supplies the vectors.
#include "md/kernels/kernels.hpp"
#include "md/kernels/simd.hpp"
#include "md/kernels/simd_columns.hpp"
#include "md/potential.hpp"

namespace md::STEELYARD_ISA_NAME {
namespace {

constexpr double two_to(int n) { return n < 0 ? 1.0 / two_to(-n) : n == 0 ? 1.0 : 2.0 * two_to(n - 1); }
// Adding 1.5 * 2^52 rounds a double of less than 2^51 to an integer, to even on a tie whatever its sign, and leaves
// that integer in the low bits: sums of the bits are exact sums of the integers.
constexpr double round_bias = 1.5 * two_to(52);

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

// Reflection in place at walls half a quantum outside the first and last position: -1 - x and 2 L - 1 - x. Mirror
// images of each other, and exact, so a reversed run still retraces its steps.
HD void reflect(std::int64_t* x, std::int64_t* v, int n, const bool (&wall)[2], std::int64_t length) {
    // A velocity that a fault left at -2^63 stays there.
    const auto turned = [](std::int64_t a) { return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)); };
    for (int l = 0; l < n; ++l) {
        if (wall[0] && x[l] < 0) x[l] = -1 - x[l], v[l] = turned(v[l]);
        if (wall[1] && x[l] >= length) x[l] = 2 * length - 1 - x[l], v[l] = turned(v[l]);
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
HD int for_each_neighbour(const TileView& tile, const Cluster& cluster, NearBuffer& buffer, Body body) {
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

// Half-kicks, drift, new packed positions and checks of up to 16 particles with force sums in quanta.
struct Integrate {
    const TileView& tile;
    const StepArgs& args;
    StepResult& result;
    double kick;  // velocity quanta a force quantum gives in dt / 2
    bool walls;
    F32 farthest{0.0f};  // squared way since the last rebuild

    HD Integrate(const TileView& t, const StepArgs& a, StepResult& r, Precision p)
        : tile(t),
          args(a),
          result(r),
          kick(a.dt / 2 * two_to(position_bits - force_bits(p))),
          walls(a.wall[0][0] || a.wall[0][1] || a.wall[1][0] || a.wall[1][1]) {}

    HD void operator()(const Sums& f) {
        const Cluster& c = *f.cluster;
        eight(c.own, c.slot, c.count < 8 ? c.count : 8, f.x_lo, f.y_lo);
        if (c.count > 8) eight(c.own + 8, c.slot + 8, c.count - 8, f.x_hi, f.y_hi);
    }

    HD void eight(int own, int slot, int n, I64 fx, I64 fy) {
        const unsigned valid = n >= 8 ? 0xffu : (1u << n) - 1;
        if (args.force_x) {
            store_first(args.force_x + own, fx, n);
            store_first(args.force_y + own, fy, n);
        }
        const F64 kick_x = to_f64(fx) * F64(kick), kick_y = to_f64(fy) * F64(kick);
        const F64 limit(two_to(50));
        unsigned bad = bits(beyond_51_bits(fx, fy)) | bits(not_below(max(abs(kick_x), abs(kick_y)), limit));
        if (bad & valid) record(result.fault, FaultKind::force_range, tile.id + own, bad & valid);
        const I64 dvx = to_i64(kick_x), dvy = to_i64(kick_y);
        const I64 old_vx = load_i64(tile.vx + own), old_vy = load_i64(tile.vy + own);
        I64 vx = old_vx + dvx, vy = old_vy + dvy;
        const bool whole_before = args.kick == Kick::none || args.kick == Kick::first;
        if (args.sum_kinetic) whole_before ? sum(old_vx, old_vy, n) : sum(vx, vy, n);
        if (args.kick == Kick::none) return;
        if (args.kick == Kick::middle) vx = vx + dvx, vy = vy + dvy;
        bad = bits(beyond_51_bits(vx, vy));
        store_first(tile.vx + own, vx, n);
        store_first(tile.vy + own, vy, n);
        if (args.kick == Kick::last) {
            if (bad & valid) record(result.fault, FaultKind::speed, tile.id + own, bad & valid);
            return;
        }
        const F64 dx = to_f64(vx) * F64(args.dt), dy = to_f64(vy) * F64(args.dt);
        bad |= bits(not_below(abs(dx), F64(args.cell[0] * two_to(position_bits)))) |
               bits(not_below(abs(dy), F64(args.cell[1] * two_to(position_bits))));
        if (bad & valid) record(result.fault, FaultKind::speed, tile.id + own, bad & valid);
        I64 x = load_i64(tile.x + own) + to_i64(dx), y = load_i64(tile.y + own) + to_i64(dy);
        store_first(tile.x + own, x, n);
        store_first(tile.y + own, y, n);
        if (walls) {
            reflect(tile.x + own, tile.vx + own, n, args.wall[0], args.length[0]);
            reflect(tile.y + own, tile.vy + own, n, args.wall[1], args.length[1]);
            x = load_i64(tile.x + own);
            y = load_i64(tile.y + own);
        }
        const I64 packed = pack_positions(x, y, position_bits - tile.packed_bits);
        store_first(tile.next + slot, packed, n);
        farthest = max(farthest, distance2(packed, tile.reference + own, n));
    }

    HD void finish() { result.displacement2 = reduce_max(farthest); }

    HD void sum(I64 vx, I64 vy, int n) {
        const F64 x = to_f64(vx) * F64(velocity_unit), y = to_f64(vy) * F64(velocity_unit);
        const I64 energy = to_i64(fma(x, x, y * y) * F64(two_to(kinetic_bits - 1)));
        for (int l = 0; l < n; ++l) {
            result.momentum[0] += lane_of(vx, l);
            result.momentum[1] += lane_of(vy, l);
            result.kinetic += lane_of(energy, l);
        }
    }
};

// Pair arithmetic in floats, force sums in 32-bit integers, or in 64-bit ones where a close pair could overflow those.
template <template <class, bool> class P, bool softened>
void step_mixed(const TileView& tile, const StepArgs& args, StepResult& result) {
    constexpr Precision precision = Precision::mixed;
    const double s_unit = two_to(2 * tile.packed_bits);
    const double g_unit = two_to(force_bits(precision) - tile.packed_bits);  // quanta of F/r times a packed length
    const P<float, softened> potential = make_potential<P, float, softened>(*args.potential, {s_unit, g_unit});
    const F32 cutoff2(static_cast<float>(args.potential->cutoff * args.potential->cutoff * s_unit));
    const F32 safe2(static_cast<float>(args.safe_r2 * s_unit)), zero(0.0f);
    Integrate integrate(tile, args, result, precision);
    NearBuffer buffer{};
    Sums before{nullptr, i64(0), i64(0), i64(0), i64(0)};

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        struct Pair {
            F32 s, g, fx, fy;
        };
        const auto pair = [&](Positions16 there) __attribute__((always_inline)) {
            const F32 dx = to_f32(here.x - there.x), dy = to_f32(here.y - there.y), s = fma(dx, dx, dy * dy);
            const F32 g = keep(less(s, cutoff2), potential.force_over_r(s));
            return Pair{s, g, g * dx, g * dy};
        };
        I32 sum_x = i32(0), sum_y = i32(0);
        F32 square = zero;
        const int length = for_each_neighbour(
            tile, cluster, buffer, [&](Positions16 there) __attribute__((always_inline)) {
                const Pair p = pair(there);
                square = fma(p.g, p.g, square);
                sum_x = sum_x + to_i32(p.fx);
                sum_y = sum_y + to_i32(p.fy);
            });
        I64 x_lo = low_half(sum_x), x_hi = high_half(sum_x), y_lo = low_half(sum_y), y_hi = high_half(sum_y);
        const int size = length < narrow_rows ? length : narrow_rows - 1;
        const F32 narrow(static_cast<float>(args.narrow_g2[size] * g_unit * g_unit));
        const unsigned valid = (1u << cluster.count) - 1;
        if (~bits(less(square, narrow)) & valid) [[unlikely]] {
            F32 closest = cutoff2;
            x_lo = x_hi = y_lo = y_hi = i64(0);
            for_each_neighbour(tile, cluster, buffer, [&](Positions16 there) {
                const Pair p = pair(there);
                closest = min(closest, p.s);
                x_lo = x_lo + low_to_i64(p.fx), x_hi = x_hi + high_to_i64(p.fx);
                y_lo = y_lo + low_to_i64(p.fy), y_hi = y_hi + high_to_i64(p.fy);
            });
            const unsigned bad = bits(less(closest, safe2)) & valid;
            if (bad) record(result.fault, FaultKind::force_range, tile.id + cluster.own, bad);
        }
        if (before.cluster) integrate(before);
        before = {&cluster, x_lo, x_hi, y_lo, y_hi};
    }
    if (before.cluster) integrate(before);
    integrate.finish();
}

// Pair arithmetic in doubles, force sums in 64-bit integers.
template <template <class, bool> class P, bool softened>
void step_double(const TileView& tile, const StepArgs& args, StepResult& result) {
    constexpr Precision precision = Precision::double_;
    const int difference_bits = tile.packed_bits + difference_shift;
    const double s_unit = two_to(2 * difference_bits);
    const P<double, softened> potential =
        make_potential<P, double, softened>(*args.potential, {s_unit, two_to(force_bits(precision) - difference_bits)});
    const F64 cutoff2(args.potential->cutoff * args.potential->cutoff * s_unit), safe2(args.safe_r2 * s_unit);
    const F64 bias(round_bias);
    const std::int64_t bias_bits = lane_of(bits_of(bias), 0);
    Integrate integrate(tile, args, result, precision);
    NearBuffer buffer{};
    Sums before{nullptr, i64(0), i64(0), i64(0), i64(0)};

    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        prefetch_own(tile, cluster);
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        I64 x_0 = i64(0), x_1 = i64(0), y_0 = i64(0), y_1 = i64(0);
        F64 closest_0 = cutoff2, closest_1 = cutoff2;
        const auto pair = [&](F64 dx, F64 dy, F64 & closest, I64 & x, I64 & y) __attribute__((always_inline)) {
            const F64 s = fma(dx, dx, dy * dy);
            closest = min(closest, s);
            const F64 g = keep(less(s, cutoff2), potential.force_over_r(s));
            x = x + bits_of(fma(g, dx, bias));
            y = y + bits_of(fma(g, dy, bias));
        };
        const int length = for_each_neighbour(
            tile, cluster, buffer, [&](Positions16 there) __attribute__((always_inline)) {
                const Halves dx = to_halves(here.x - there.x), dy = to_halves(here.y - there.y);
                pair(dx.a, dy.a, closest_0, x_0, y_0);
                pair(dx.b, dy.b, closest_1, x_1, y_1);
            });
        const I64 biases =
            i64(static_cast<std::int64_t>(static_cast<std::uint64_t>(bias_bits) * static_cast<std::uint64_t>(length)));
        const unsigned bad =
            bits_in_order(less(closest_0, safe2), less(closest_1, safe2)) & ((1u << cluster.count) - 1);
        if (bad) [[unlikely]]
            record(result.fault, FaultKind::force_range, tile.id + cluster.own, bad);
        in_order(x_0, x_1);
        in_order(y_0, y_1);
        if (before.cluster) integrate(before);
        before = {&cluster, x_0 - biases, x_1 - biases, y_0 - biases, y_1 - biases};
    }
    if (before.cluster) integrate(before);
    integrate.finish();
}

template <template <class, bool> class P>
void pair_sums(const TileView& tile, const PotentialSpec& spec, PairSums& out) {
    const double s_unit = two_to(2 * (tile.packed_bits + difference_shift));
    const P<double, true> potential = make_potential<P, double, true>(spec, {s_unit, 1.0});
    const F64 cutoff2(spec.cutoff * spec.cutoff * s_unit), bias(round_bias);
    const F64 quanta(two_to(energy_bits)), virial_quanta(two_to(energy_bits) / s_unit);
    const auto bias_bits = static_cast<std::uint64_t>(lane_of(bits_of(bias), 0));
    NearBuffer buffer{};
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        const unsigned valid = (1u << cluster.count) - 1;
        I64 energy[2] = {i64(0), i64(0)}, virial[2] = {i64(0), i64(0)};
        const auto pair = [&](F64 dx, F64 dy, int half) {
            const F64 s = fma(dx, dx, dy * dy);
            const M8 near = less(s, cutoff2);
            energy[half] = energy[half] + bits_of(fma(keep(near, potential.energy(s)), quanta, bias));
            virial[half] = virial[half] + bits_of(fma(keep(near, potential.force_over_r(s)) * s, virial_quanta, bias));
            return near;
        };
        const int length = for_each_neighbour(tile, cluster, buffer, [&](Positions16 there) {
            const Halves dx = to_halves(here.x - there.x), dy = to_halves(here.y - there.y);
            const M8 near_0 = pair(dx.a, dy.a, 0), near_1 = pair(dx.b, dy.b, 1);
            out.pairs += __builtin_popcount(bits_in_order(near_0, near_1) & valid);
        });
        in_order(energy[0], energy[1]);
        in_order(virial[0], virial[1]);
        const auto biases = bias_bits * static_cast<std::uint64_t>(length);
        for (int l = 0; l < cluster.count; ++l) {
            out.energy += static_cast<std::int64_t>(static_cast<std::uint64_t>(lane_of(energy[l / 8], l % 8)) - biases);
            out.virial += static_cast<std::int64_t>(static_cast<std::uint64_t>(lane_of(virial[l / 8], l % 8)) - biases);
        }
    }
}

void count_neighbours(const TileView& tile, double cutoff, std::int32_t* within) {
    const F64 cutoff2(cutoff * cutoff * two_to(2 * (tile.packed_bits + difference_shift)));
    NearBuffer buffer{};
    for (std::int32_t c = 0; c < tile.cluster_count; ++c) {
        const Cluster& cluster = tile.clusters[c];
        const Positions16 here = load_positions16(tile.packed + cluster.slot);
        std::int32_t count[lanes] = {};
        for_each_neighbour(tile, cluster, buffer, [&](Positions16 there) {
            const Halves dx = to_halves(here.x - there.x), dy = to_halves(here.y - there.y);
            const unsigned near =
                bits_in_order(less(fma(dx.a, dx.a, dy.a * dy.a), cutoff2), less(fma(dx.b, dx.b, dy.b * dy.b), cutoff2));
            for (int l = 0; l < lanes; ++l) count[l] += near >> l & 1;
        });
        for (int l = 0; l < cluster.count; ++l) within[cluster.own + l] = count[l];
    }
}

// Cells exactly, as Axis::cell_of: edges are rounded, so close to them they decide.
void sorting_keys(const KeysArgs& a) {
    const auto cell_in = [&](int axis, std::int64_t at) {
        int c = static_cast<int>(static_cast<double>(at - a.edges[axis][0]) * a.per_cell[axis]);
        c = c < a.cells[axis] ? c : a.cells[axis] - 1;
        return c + (at >= a.edges[axis][c + 1]) - (at < a.edges[axis][c]);
    };
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
            const std::int64_t at = a.y[i + l] >> edge_shift;
            const int c = cell_in(1, at);
            const int slice = static_cast<int>(static_cast<double>(at - a.edges[1][c]) * a.per_cell[1] * a.slices);
            key[l] = (cell_in(0, a.x[i + l] >> edge_shift) * a.cells[1] + c) * a.slices +
                     (slice < a.slices ? slice : a.slices - 1);
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
    // Floats of packed lengths round by at most 2^-24 of their size; the radius grows by far more than that.
    const double radius = a.radius * (1 + 1e-5) * two_to(a.packed_bits);
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
            const M16 near = less(first_of_16(end - j), fma(dx, dx, dy * dy), box.radius2);
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
            n_0 +=
                compress(row_0 + n_0, less(differs(place, self_0), fma(dx_0, dx_0, dy_0 * dy_0), box.radius2), place);
            n_1 +=
                compress(row_1 + n_1, less(differs(place, self_1), fma(dx_1, dx_1, dy_1 * dy_1), box.radius2), place);
        }
        lengths[l] = n_0;
        lengths[l + 1] = l + 1 < a.count ? n_1 : 0;
    }
}

// Deals the lanes' neighbours to neighbourhoods of `windows` windows; returns how many there are. Neighbourhoods
// overlap. Each must take the neighbours that the next one cannot address; lanes with shorter rows may take more, up to
// the longest row, to even the lengths out.
std::int32_t deal_to_neighbourhoods(const RowsArgs& a, int real, int used, const int (&lengths)[lanes]) {
    const int steps = used > windows ? (used - 2) / (windows - 1) : 0;  // of windows - 1 at most
    std::int32_t hoods = 0, rows_used = 0;
    int taken[lanes] = {};
    for (int h = 0; h <= steps; ++h) {
        const int from = steps ? h * (used - windows) / steps : 0,
                  next = h < steps ? (h + 1) * (used - windows) / steps : 0;
        int length = 0, count[lanes];
        for (int l = 0; l < lanes; ++l) {
            const std::int32_t* row = a.lane_rows + l * a.stride;
            const int needed = (h < steps ? count_below(row, lengths[l], next * window) : lengths[l]) - taken[l];
            count[l] = (h < steps ? count_below(row, lengths[l], from * window + far_place) : lengths[l]) - taken[l];
            length = needed > length ? needed : length;
        }
        if (length == 0) continue;
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
    return deal_to_neighbourhoods(a, s.used, s.used + (full ? 1 : 0), lengths);
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
