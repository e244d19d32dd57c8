// SPDX-License-Identifier: MIT
// What a rebuild does with vectors: keys to sort particles by, and the rows of neighbours of each cluster. Included by
// kernels_isa.cpp only.
#pragma once
#include <cstdint>

#include "md/kernels/kernels.hpp"
#include "md/kernels/pair.hpp"
#include "md/kernels/simd.hpp"
#include "md/kernels/sorting_key.hpp"

namespace md::STEELYARD_ISA_NAME {
namespace {

// Close to an edge, the exact cells decide.
void sorting_keys(const KeysArgs& a) {
    const auto front = [&](int axis) { return I64(static_cast<std::uint64_t>(a.edges[axis][0]) << edge_shift); };
    const I64 front_x = front(0), front_y = front(1);
    const F64 scale_x(a.per_cell[0] / (1 << edge_shift)), scale_y(a.per_cell[1] / (1 << edge_shift));
    const F64 half(0.5), close(1e-6), far(1 - 1e-6), slices(a.slices),
        column(static_cast<double>(a.cells[1]) * a.slices);
    for (std::int64_t i = 0; i < a.count; i += wide_width) {
        const int n = a.count - i < wide_width ? static_cast<int>(a.count - i) : wide_width;
        const F64 x = to_f64(load<std::uint64_t>(a.x + i) - front_x) * scale_x,
                  y = to_f64(load<std::uint64_t>(a.y + i) - front_y) * scale_y;
        const F64 cx = to_f64(to_i64(x - half)),
                  cy = to_f64(to_i64(y - half));  // nearest: the cell, but close to an edge
        const F64 in_x = x - cx, in_y = y - cy;
        std::int64_t key[wide_width];
        store(key, to_i64(fma(cx, column, to_f64(to_i64(y * slices - half)))));
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
    Positions own[parts];
    for (int p = 0; p < parts; ++p) own[p] = load_positions(a.packed + a.slot + p * width);
    const I32 first_x(own[0].x.v[0]), first_y(own[0].y.v[0]);
    const F32 zero(0.0f);  // the first particle's place
    F32 x[parts], y[parts], low_x = zero, high_x = zero, low_y = zero, high_y = zero;
    for (int p = 0; p < parts; ++p) {
        const M32 filled = first_lanes(a.count - p * width);
        x[p] = keep(filled, to_f32(own[p].x - first_x)), y[p] = keep(filled, to_f32(own[p].y - first_y));
        low_x = min(low_x, x[p]), high_x = max(high_x, x[p]), low_y = min(low_y, y[p]), high_y = max(high_y, y[p]);
    }
    const float left = -reduce_max(zero - low_x), right = reduce_max(high_x), bottom = -reduce_max(zero - low_y),
                top = reduce_max(high_y);
    const auto mid_x = static_cast<std::int32_t>((left + right) / 2),
               mid_y = static_cast<std::int32_t>((bottom + top) / 2);
    const double radius = searched_radius(a.radius) * two_to(a.packed_bits);
    ClusterBox box{first_x + I32(static_cast<std::uint32_t>(mid_x)),
                   first_y + I32(static_cast<std::uint32_t>(mid_y)),
                   F32((right - left) / 2),
                   F32((top - bottom) / 2),
                   F32(static_cast<float>(radius * radius)),
                   {},
                   {}};
    for (int p = 0; p < parts; ++p) {
        store(box.lane_x + p * width, x[p] - F32(static_cast<float>(mid_x)));
        store(box.lane_y + p * width, y[p] - F32(static_cast<float>(mid_y)));
    }
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
        for (int j = begin; j < end; j += width) {
            const Positions p = load_positions(a.packed + j);
            const F32 x = to_f32(p.x - box.x0), y = to_f32(p.y - box.y0);
            const F32 dx = max(abs(x) - box.half_x, zero), dy = max(abs(y) - box.half_y, zero);
            const M32 near = less(first_lanes(end - j), square_of(dx, dy), box.radius2);
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
    store(a.x + s.candidates, F32(1e30f));  // what follows in the last vector is out of reach
    return s;
}

// The neighbours of each lane among the survivors, in a.lane_rows; their numbers in `lengths`.
void list_lanes(const RowsArgs& a, const ClusterBox& box, const Survivors& s, int (&lengths)[lanes]) {
    for (int l = 0; l < a.count; l += 2) {  // two at a time: each vector of candidates is loaded once
        const F32 x_0(box.lane_x[l]), y_0(box.lane_y[l]), x_1(box.lane_x[l + 1]), y_1(box.lane_y[l + 1]);
        const I32 self_0(static_cast<std::uint32_t>(s.self + l)), self_1 = self_0 + I32(1);
        std::int32_t *row_0 = a.lane_rows + l * a.stride, *row_1 = row_0 + a.stride;
        int n_0 = 0, n_1 = 0;
        for (int j = 0; j < s.candidates; j += width) {
            const F32 cx = load<float>(a.x + j), cy = load<float>(a.y + j);
            const I32 place = load<std::uint32_t>(a.place + j);
            const F32 dx_0 = cx - x_0, dy_0 = cy - y_0, dx_1 = cx - x_1, dy_1 = cy - y_1;
            n_0 += compress(row_0 + n_0, less(differs(place, self_0), square_of(dx_0, dy_0), box.radius2), place);
            n_1 += compress(row_1 + n_1, less(differs(place, self_1), square_of(dx_1, dy_1), box.radius2), place);
        }
        lengths[l] = n_0;
        lengths[l + 1] = l + 1 < a.count ? n_1 : 0;
    }
}

typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));

/// The first `count` of 16 places less `from`, in 8 bits each; the rest becomes the far place.
HD Bytes16 load_narrow(const std::int32_t* p, int count, int from) {
#if STEELYARD_ISA == 512
    const __mmask16 valid = _mm512_cmpgt_epi32_mask(_mm512_set1_epi32(count), integers(counting_from(0)));
    return same_bits<Bytes16>(_mm512_cvtepi32_epi8(
        _mm512_mask_sub_epi32(_mm512_set1_epi32(far_place), valid, _mm512_loadu_si512(p), _mm512_set1_epi32(from))));
#elif STEELYARD_ISA == 2
    const auto eight = [&](int first) {
        const auto place = same_bits<Raw<std::int32_t> >(load<std::uint32_t>(p + first).v) - from;
        return same_bits<__m256i>(first_lanes(count - first).v ? place : Raw<std::int32_t>{} + far_place);
    };
    const __m256i t = _mm256_permute4x64_epi64(_mm256_packus_epi32(eight(0), eight(8)), 0xd8);
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
HD void transpose_16_columns(std::uint8_t* out, const std::int32_t* rows, int stride, const int* taken,
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
        const int from = steps ? h * (used - windows) / steps : 0,
                  next = steps ? (h + 1) * (used - windows) / steps : 0;
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

}  // namespace
}  // namespace md::STEELYARD_ISA_NAME
