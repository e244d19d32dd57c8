// SPDX-License-Identifier: MIT
// The parts of a rebuild that use vectors: keys for sorting particles, and the rows of neighbours of each cluster. Only
// kernels_isa.cpp includes this file.
#pragma once
#include <cstdint>

#include "md/kernels/kernels.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/simd.hpp"
#include "md/kernels/sorting_key.hpp"

namespace md::STEELYARD_ISA_NAME {
namespace {

// Close to an edge, the exact cells decide. Positions are of the tile's own cells, so they are not negative. Shifted to
// the unit of edges they are below 2^46, which to_f64() converts exactly on every instruction set.
template <int D>
void sorting_keys(const KeysArgs<D>& a) {
    constexpr int up = D - 1;
    const auto front = vec<D>([&](int k) { return I64(static_cast<std::uint64_t>(a.edges[k][0])); });
    const auto scale = vec<D>([&](int k) { return F64(a.per_cell[k]); });
    double margin = 1e-6;  // of a cell; edges are rounded up to whole units, which are much of a cell of a few units
    for (const double per_cell : a.per_cell) margin = margin < 2 * per_cell ? 2 * per_cell : margin;
    const F64 half(0.5), close(margin), far(1 - margin), slices(a.slices);
    Vec<F64, D> stride = scale;  // of keys, from a cell to the next one along an axis
    double next = a.slices;
    for (int k = up; k >= 0; --k) stride[k] = F64(next), next *= a.cells[k];
    for (std::int64_t i = 0; i < a.count; i += wide_width) {
        const int n = a.count - i < wide_width ? static_cast<int>(a.count - i) : wide_width;
        const auto x = vec<D>(
            [&](int k) { return to_f64(I64(load<std::uint64_t>(a.x[k] + i).v >> edge_shift) - front[k]) * scale[k]; });
        F64 key_up = nearest(x[up] * slices - half);
        unsigned edge = 0;
        for (int k = 0; k < D; ++k) {
            const F64 cell = nearest(x[k] - half), inside = x[k] - cell;  // nearest: the cell, but close to an edge
            edge |= bits(less(inside, close)) | bits(not_below(inside, far));
            if (k < up) key_up = fma(cell, stride[k], key_up);
        }
        std::int64_t key[wide_width];
        store(key, to_i64(key_up));
        for (edge &= (1u << n) - 1; edge; edge &= edge - 1) {
            const int l = __builtin_ctz(edge);
            std::int64_t at[D];
            for (int k = 0; k < D; ++k) at[k] = a.x[k][i + l];
            key[l] = sorting_key(a, at);
        }
        for (int l = 0; l < n; ++l) {
            a.key[i + l] = static_cast<std::uint32_t>(key[l]);
            ++a.bin[key[l] + 1];
        }
    }
}

// Positions of a tile's slots in 16 bits, axis by axis.
template <int D>
void coarse_positions(const Packed<D>* packed, std::int64_t count, int shift, std::uint16_t* const* to) {
    for (std::int64_t j = 0; j < count; j += width) {
        const Positions<D> p = load_positions(packed + j);
        for (int k = 0; k < D; ++k) {
            typedef std::uint16_t Half __attribute__((vector_size(vector_bytes / 2)));
            const Half x = __builtin_convertvector(p[k].v >> shift, Half);
            __builtin_memcpy(to[k] + j, &x, sizeof x);
        }
    }
}

// The bounding box of a cluster.
template <int D>
struct ClusterBox {
    Vec<I16, D> middle, half;  // half: of its sides
};
template <int D>
ClusterBox<D> cluster_box(const RowsArgs<D>& a) {
    ClusterBox<D> box;
    for_each_axis<D>([&](int k) STEELYARD_INLINED {
        const std::uint16_t* x = a.coarse[k] + a.slot;
        int low = 0, high = 0;  // from the first particle
        for (int l = 1; l < a.count; ++l) {
            const int from_first = static_cast<std::int16_t>(x[l] - x[0]);
            low = from_first < low ? from_first : low;
            high = from_first > high ? from_first : high;
        }
        const int middle = (low + high) / 2, half = high - middle > middle - low ? high - middle : middle - low;
        box.middle[k] = I16(static_cast<std::uint16_t>(x[0] + middle));
        box.half[k] = I16(static_cast<std::uint16_t>(half));
    });
    return box;
}

template <int D>
HD I16 scaled_square_of(const Vec<I16, D>& d) {
    I16 sum = scaled_square(d[0]);
    for (int k = 1; k < D; ++k) sum = capped_sum(sum, scaled_square(d[k]));
    return sum;
}

// Candidates that lie within the radius of the cluster's bounding box, in a.x, a.place; in the plane windows in
// a.start.
struct Survivors {
    int candidates = 0, used = 0;  // candidates, windows
    int self = 0;                  // place of the first particle of the cluster; the others follow
};
template <int D>
Survivors filter_candidates(const RowsArgs<D>& a) {
    const ClusterBox<D> box = cluster_box(a);
    Survivors s;
    if (D == 3) s.self = a.slot - a.base;
    const I16 limit(a.limit);
    const auto to = vec<D>([&](int k) { return a.x[k]; });
    const auto coarse = vec<D>([&](int k) { return a.coarse[k]; });
    std::uint16_t* const places = a.place;
    int candidates = 0;
    // In the plane windows lie side by side from the first to the last survivor of a run, so places rise as slots do.
    for (int r = 0; r < a.range_count; ++r) {
        const int begin = a.ranges[2 * r], end = a.ranges[2 * r + 1];
        int first = -1, shift = D == 3 ? -a.base : 0;
        for (int j = begin; j < end; j += short_width) {
            const auto x = vec<D>([&](int k) STEELYARD_INLINED { return load<std::uint16_t>(coarse[k] + j); });
            const auto gap =
                vec<D>([&](int k) STEELYARD_INLINED { return excess(magnitude(x[k] - box.middle[k]), box.half[k]); });
            const M16 near = both(first_shorts(end - j), not_above(scaled_square_of(gap), limit));
            if (D == 2 && bits(near) == 0) continue;  // in space about half of them are near: a branch would be a guess
            if (D == 2 && first < 0) first = j + __builtin_ctz(bits(near)), shift = s.used * window - first;
            for_each_axis<D>([&](int k) STEELYARD_INLINED { compress(to[k] + candidates, near, x[k]); });
            candidates += compress(places + candidates, near, counting_from(static_cast<std::uint16_t>(j + shift)));
        }
        if (D == 3 || first < 0) continue;
        if (begin <= a.slot && a.slot < end) s.self = a.slot + shift;
        for (const int last = places[candidates - 1]; s.used * window <= last; ++s.used)
            a.start[s.used] = s.used * window - shift - a.base;
    }
    // The rest of the last vector is half way round, out of reach.
    for_each_axis<D>([&](int k) STEELYARD_INLINED { store(to[k] + candidates, box.middle[k] + I16(1 << 15)); });
    s.candidates = candidates;
    return s;
}

// The neighbours of each lane among the survivors, in a.lane_rows; their numbers in `lengths`.
template <int D>
void list_lanes(const RowsArgs<D>& a, const Survivors& s, int (&lengths)[lanes]) {
    const auto x = vec<D>([&](int k) { return static_cast<const std::uint16_t*>(a.x[k]); });
    const std::uint16_t* places = a.place;
    const I16 limit(a.limit);
    const int candidates = s.candidates;
    constexpr int together = 4;  // lanes for which each vector of candidates is loaded once
    for (int l = 0; l < a.count; l += together) {
        Vec<I16, D> at[together];
        I16 self[together];
        for (int i = 0; i < together; ++i) {
            at[i] = vec<D>([&](int k) STEELYARD_INLINED { return I16(a.coarse[k][a.slot + l + i]); });
            self[i] = I16(static_cast<std::uint16_t>(s.self + l + i));
        }
        std::uint16_t* end[together];
        for (int i = 0; i < together; ++i) end[i] = a.lane_rows + (l + i) * a.stride;
        for (int j = 0; j < candidates; j += short_width) {
            const auto c = vec<D>([&](int k) STEELYARD_INLINED { return load<std::uint16_t>(x[k] + j); });
            const I16 place = load<std::uint16_t>(places + j);
#pragma GCC unroll 4
            for (int i = 0; i < together; ++i) {
                const auto d = vec<D>([&](int k) STEELYARD_INLINED { return c[k] - at[i][k]; });
                end[i] += compress(end[i], both(differs(place, self[i]), not_above(scaled_square_of(d), limit)), place);
            }
        }
        for (int i = 0; i < together && l + i < a.count; ++i)
            lengths[l + i] = static_cast<int>(end[i] - (a.lane_rows + (l + i) * a.stride));
    }
}

typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));

/// The first `count` of 16 places less `from`, in 8 bits each; the rest becomes the far place.
HD Bytes16 load_narrow(const std::uint16_t* p, int count, int from) {
#if STEELYARD_ISA == 512
    const auto valid = static_cast<__mmask16>(first_shorts(count > 0 ? count : 0).m);
    const __m256i place = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return same_bits<Bytes16>(_mm256_cvtepi16_epi8(_mm256_mask_sub_epi16(_mm256_set1_epi16(far_place), valid, place,
                                                                         _mm256_set1_epi16(static_cast<short>(from)))));
#elif STEELYARD_ISA == 2
    const Raw<std::uint16_t> place = load<std::uint16_t>(p).v - static_cast<std::uint16_t>(from);
    const auto t = same_bits<__m256i>(first_shorts(count).v ? place : Raw<std::uint16_t>{} + std::uint16_t{far_place});
    return same_bits<Bytes16>(_mm_packus_epi16(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1)));
#else
    Bytes16 r{};
    for (int i = 0; i < 16; ++i) r[i] = static_cast<std::uint8_t>(i < count ? p[i] - from : far_place);
    return r;
#endif
}

/// Writes out[k * 16 + l] = rows[l * stride + taken[l] + first + k] - from for 16 k, far_place where first + k >=
/// count[l]. Interleaving vector i with vector i + 8, again and again, turns a lane's bits into an element's: four
/// rounds transpose.
HD void transpose_16_columns(std::uint8_t* out, const std::uint16_t* rows, int stride, const int* taken,
                             const int* count, int first, int from) {
    Bytes16 v[16], w[16];
    for (int l = 0; l < 16; ++l) v[l] = load_narrow(rows + l * stride + taken[l] + first, count[l] - first, from);
    const auto round = [](const Bytes16(&a)[16], Bytes16(&b)[16]) __attribute__((always_inline)) {
        for (int i = 0; i < 8; ++i) {
            b[2 * i] = shuffled<[](int e) { return e % 2 * 16 + e / 2; }>(a[i], a[i + 8]);
            b[2 * i + 1] = shuffled<[](int e) { return e % 2 * 16 + e / 2 + 8; }>(a[i], a[i + 8]);
        }
    };
    round(v, w);
    round(w, v);
    round(v, w);
    round(w, v);
    for (int c = 0; c < 16; ++c) __builtin_memcpy(out + c * 16, &v[c], 16);
}

// Deals the lanes' neighbours to neighbourhoods of `windows` windows; returns how many there are. Neighbourhoods
// overlap. Each must take the neighbours that the next one cannot address. Lanes with shorter rows may take more, up to
// the longest row, so that lengths even out. Returns -1 if there is no room. Most clusters need one neighbourhood, and
// its loops are simpler. Compiled on its own, that case saves 8 % of the time of all neighbour lists.
template <bool several>
HD std::int32_t deal_to_neighbourhoods(const RowsArgs<2>& a, int real, int used, const int (&lengths)[lanes]) {
    const int steps = several ? (used - 2) / (windows - 1) : 0;  // of windows - 1 at most
    if (steps >= a.neighbourhoods_room) return -1;
    std::int32_t hoods = 0, rows_used = 0;
    int taken[lanes] = {};
    for (int h = 0; h <= steps; ++h) {
        const int from = steps ? h * (used - windows) / steps : 0,
                  next = steps ? (h + 1) * (used - windows) / steps : 0;
        int length = 0, count[lanes];
        for (int l = 0; l < lanes; ++l) {
            const std::uint16_t* row = a.lane_rows + l * a.stride;
            const int needed = (h < steps ? count_below(row, lengths[l], next * window) : lengths[l]) - taken[l];
            count[l] = (h < steps ? count_below(row, lengths[l], from * window + far_place) : lengths[l]) - taken[l];
            length = needed > length ? needed : length;
        }
        if (length == 0) continue;
        if (rows_used + std::int64_t{(length + 15) / 16 * 16} * lanes > a.rows_room) return -1;
        for (int l = 0; l < lanes; ++l) count[l] = count[l] < length ? count[l] : length;
        for (int k = 0; k < length; k += 16)
            transpose_16_columns(a.rows + rows_used + k * lanes, a.lane_rows, a.stride, taken, count, k, from * window);
        Neighbourhood<2>& hood = a.neighbourhoods[hoods++];
        for (int w = 0; w < windows; ++w)
            hood.start[w] = static_cast<std::uint16_t>(from + w < real ? a.start[from + w] : a.start[0]);
        hood.row = rows_used;
        hood.length = length;
        rows_used += length * lanes;
        for (int l = 0; l < lanes; ++l) taken[l] += count[l];
    }
    return hoods;
}

std::int32_t deal(const RowsArgs<2>& a, const Survivors& s, const int (&lengths)[lanes]) {
    const bool full = a.place[s.candidates - 1] == s.used * window - 1;  // then an empty window, for the far place
    const int used = s.used + (full ? 1 : 0);
    return used > windows ? deal_to_neighbourhoods<true>(a, s.used, used, lengths)
                          : deal_to_neighbourhoods<false>(a, s.used, used, lengths);
}

typedef std::uint16_t Words8 __attribute__((vector_size(16)));

/// Writes out[k * 16 + l] = rows[l * stride + k] for 8 k and 8 l, as transpose_16_columns() does.
HD void transpose_8_columns(std::uint16_t* out, const std::uint16_t* rows, int stride) {
    Words8 v[8], w[8];
    for (int l = 0; l < 8; ++l) __builtin_memcpy(&v[l], rows + l * stride, sizeof v[l]);
    const auto round = [](const Words8(&a)[8], Words8(&b)[8]) __attribute__((always_inline)) {
        for (int i = 0; i < 4; ++i) {
            b[2 * i] = shuffled<[](int e) { return e % 2 * 8 + e / 2; }>(a[i], a[i + 4]);
            b[2 * i + 1] = shuffled<[](int e) { return e % 2 * 8 + e / 2 + 4; }>(a[i], a[i + 4]);
        }
    };
    round(v, w);
    round(w, v);
    round(v, w);
    for (int c = 0; c < 8; ++c) __builtin_memcpy(out + c * lanes, &w[c], 16);
}

// In space one neighbourhood takes all: the lanes' rows are transposed, the shorter ones filled up.
std::int32_t deal(const RowsArgs<3>& a, const Survivors&, const int (&lengths)[lanes]) {
    int length = 0;
    for (int l = 0; l < lanes; ++l) length = lengths[l] > length ? lengths[l] : length;
    if (length == 0) return 0;
    const int padded = (length + 7) / 8 * 8;
    if (a.neighbourhoods_room < 1 || std::int64_t{padded} * lanes > a.rows_room) return -1;
    const I16 far(static_cast<std::uint16_t>(a.far_place));
    for (int l = 0; l < lanes; ++l)
        for (int k = lengths[l]; k < padded; k += short_width) store(a.lane_rows + l * a.stride + k, far);
    for (int k = 0; k < padded; k += 8)
        for (int l = 0; l < lanes; l += 8)
            transpose_8_columns(a.rows + k * lanes + l, a.lane_rows + l * a.stride + k, a.stride);
    a.neighbourhoods[0] = {0, length};
    return 1;
}

// All candidates against the cluster's bounding box, each lane against the survivors, and their neighbours into
// neighbourhoods.
template <int D>
std::int32_t build_rows(const RowsArgs<D>& a) {
    const Survivors s = filter_candidates(a);
    if (s.candidates == 0) return 0;
    int lengths[lanes] = {};
    list_lanes(a, s, lengths);
    return deal(a, s, lengths);
}

}  // namespace
}  // namespace md::STEELYARD_ISA_NAME
