// SPDX-License-Identifier: MIT
// The sets without mask registers: NEON, AVX2, the portable set and the plain reference. Their masks are vectors, all
// ones in the lanes that are meant. Their registers cannot hold a neighbourhood. Instructions of AVX2 that the compiler
// does not find stand beside the general text.
#pragma once
#if STEELYARD_ISA == 2
#include <immintrin.h>
#endif

namespace md::STEELYARD_ISA_NAME {

struct M32 {
    Raw<std::int32_t> v;
};
struct M64 {
    Raw<std::int64_t> v;
};
struct M16 {
    Raw<std::int16_t> v;
};
HD M32 first_lanes(int n) { return {same_bits<Raw<std::int32_t>>(counting_from<std::uint32_t>(0).v) < n}; }
/// Mask of the first n lanes of I16: all lanes if n is larger than their number, none if it is negative.
HD M16 first_shorts(int n) {
    const auto most = static_cast<std::int16_t>(n < short_width ? n : short_width);
    return {same_bits<Raw<std::int16_t>>(counting_from<std::uint16_t>(0).v) < most};
}
HD M16 both(M16 a, M16 b) { return {a.v & b.v}; }
HD M16 not_above(I16 a, I16 b) { return {a.v <= b.v}; }
HD M16 differs(I16 a, I16 b) { return {a.v != b.v}; }
HD M32 less(F32 a, F32 b) { return {a.v < b.v}; }
HD M64 less(F64 a, F64 b) { return {a.v < b.v}; }
HD M64 not_below(F64 a, F64 b) { return {~(a.v < b.v)}; }
HD F32 keep(M32 m, F32 a) { return same_bits<Raw<float>>(m.v & same_bits<Raw<std::int32_t>>(a.v)); }
HD F64 keep(M64 m, F64 a) { return same_bits<Raw<double>>(m.v & same_bits<Raw<std::int64_t>>(a.v)); }
HD F32 min(F32 a, F32 b) { return a.v < b.v ? a.v : b.v; }
HD F32 max(F32 a, F32 b) { return a.v > b.v ? a.v : b.v; }
HD F64 min(F64 a, F64 b) { return a.v < b.v ? a.v : b.v; }
HD F64 max(F64 a, F64 b) { return a.v > b.v ? a.v : b.v; }

#if STEELYARD_ISA == 2
HD F32 fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a.v, b.v, c.v); }
HD F64 fma(F64 a, F64 b, F64 c) { return _mm256_fmadd_pd(a.v, b.v, c.v); }
HD I32 to_i32(F32 a) { return same_bits<Raw<std::uint32_t>>(_mm256_cvtps_epi32(a.v)); }
HD unsigned bits(M32 m) { return static_cast<unsigned>(_mm256_movemask_ps(same_bits<__m256>(m.v))); }
HD unsigned bits(M64 m) { return static_cast<unsigned>(_mm256_movemask_pd(same_bits<__m256d>(m.v))); }
#else
// The compiler makes one instruction of each of these loops where there is one.
HD F32 fma(F32 a, F32 b, F32 c) {
    for (int l = 0; l < width; ++l) c.v[l] = __builtin_fmaf(a.v[l], b.v[l], c.v[l]);
    return c;
}
HD F64 fma(F64 a, F64 b, F64 c) {
    for (int l = 0; l < wide_width; ++l) c.v[l] = __builtin_fma(a.v[l], b.v[l], c.v[l]);
    return c;
}
HD I32 to_i32(F32 a) {
    for (int l = 0; l < width; ++l) a.v[l] = __builtin_rintf(a.v[l]);
    return same_bits<Raw<std::uint32_t>>(__builtin_convertvector(a.v, Raw<std::int32_t>));
}
HD unsigned bits(M32 m) {
    unsigned r = 0;
    for (int l = 0; l < width; ++l) r |= (m.v[l] & 1u) << l;
    return r;
}
HD unsigned bits(M64 m) {
    unsigned r = 0;
    for (int l = 0; l < wide_width; ++l) r |= static_cast<unsigned>(m.v[l] & 1) << l;
    return r;
}
#endif

// Adding 1.5 * 2^52 lines up the bits of any |a| < 2^51, exactly.
inline constexpr double aligning = 6755399441055744.0;
HD F64 to_f64(I64 a) {
    const F64 c(aligning);
    return F64(same_bits<Raw<double>>(a.v + same_bits<Raw<std::uint64_t>>(c.v))) - c;
}
HD I64 to_i64(F64 a) {
    const F64 c(aligning);
    return same_bits<Raw<std::uint64_t>>((a + c).v) - same_bits<Raw<std::uint64_t>>(c.v);
}
/// The nearest integer, to even on a tie.
HD F64 nearest(F64 a) { return a + F64(aligning) - F64(aligning); }
/// Lanes where some coordinate is not in [-2^51, 2^51).
template <int D>
HD M64 beyond_51_bits(const Vec<I64, D>& a) {
    constexpr std::uint64_t half = std::uint64_t{1} << 51;
    auto any = a[0].v + half;
    for (int k = 1; k < D; ++k) any |= a[k].v + half;
    return {(any >> 52) != 0};
}

#if STEELYARD_ISA == 2
HD WideI wide(I32 a) {
    const auto v = same_bits<__m256i>(a.v);
    return {same_bits<Raw<std::uint64_t>>(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v))),
            same_bits<Raw<std::uint64_t>>(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)))};
}
HD WideF differences(I32 a) {
    const auto v = same_bits<__m256i>(a.v);
    return {F64(_mm256_cvtepi32_pd(_mm256_castsi256_si128(v))),
            F64(_mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1)))};
}
#else
HD WideI wide(I32 a) {
    const auto sign = same_bits<Raw<std::uint32_t>>(same_bits<Raw<std::int32_t>>(a.v) < 0);
    return {same_bits<Raw<std::uint64_t>>(shuffled<[](int i) { return i % 2 * width + i / 2; }>(a.v, sign)),
            same_bits<Raw<std::uint64_t>>(shuffled<[](int i) { return i % 2 * width + (width + i) / 2; }>(a.v, sign))};
}
/// Differences of packed positions as doubles, times 2^difference_shift, in the order that in_order() and
/// bits_in_order() know.
HD WideF differences(I32 a) {
    const WideI w = wide(a);
    return {to_f64(w.low), to_f64(w.high)};
}
#endif
inline constexpr int difference_shift = 0;
HD WideI in_order(WideI a) { return a; }
HD unsigned bits_in_order(M64 low, M64 high) { return bits(low) | bits(high) << wide_width; }

/// Nearest integers.
HD WideI to_wide_integers(F32 a) {
    F64 low, high;
    for (int l = 0; l < wide_width; ++l) low.v[l] = a.v[l], high.v[l] = a.v[l + wide_width];
    return {to_i64(low), to_i64(high)};
}

HD void store_first(void* p, I64 a, int n) {
    if (n >= wide_width) return store(p, a);
    for (int l = 0; l < n; ++l) static_cast<std::uint64_t*>(p)[l] = a.v[l];
}

/// How many of the first n are below the limit; reads whole vectors.
HD int count_below(const std::uint16_t* p, int n, int limit) {
    Raw<std::int16_t> minus{};
    for (int k = 0; k < n; k += short_width)
        minus += (load<std::uint16_t>(p + k).v < static_cast<std::uint16_t>(limit)) & first_shorts(n - k).v;
    int count = 0;
    for (int l = 0; l < short_width; ++l) count -= minus[l];
    return count;
}

#if STEELYARD_ISA == 2
/// |a|, in two's complement.
HD I16 magnitude(I16 a) { return same_bits<Raw<std::uint16_t>>(_mm256_abs_epi16(same_bits<__m256i>(a.v))); }
/// a - b, or 0 where b is larger.
HD I16 excess(I16 a, I16 b) {
    return same_bits<Raw<std::uint16_t>>(_mm256_subs_epu16(same_bits<__m256i>(a.v), same_bits<__m256i>(b.v)));
}
/// a + b, or 2^16 - 1 where that is less.
HD I16 capped_sum(I16 a, I16 b) {
    return same_bits<Raw<std::uint16_t>>(_mm256_adds_epu16(same_bits<__m256i>(a.v), same_bits<__m256i>(b.v)));
}
/// a^2 / 2^15 to the nearest integer, up on a tie; a in two's complement.
HD I16 scaled_square(I16 a) {
    return same_bits<Raw<std::uint16_t>>(_mm256_mulhrs_epi16(same_bits<__m256i>(a.v), same_bits<__m256i>(a.v)));
}
/// A bit for each lane of m.
HD unsigned bits(M16 m) {
    const auto v = same_bits<__m256i>(m.v);
    return static_cast<unsigned>(
        _mm_movemask_epi8(_mm_packs_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))));
}
/// For each mask of eight lanes: the bytes of the lanes that it has, one after the other.
struct LanesOf {
    std::uint8_t bytes[256][16];
    constexpr LanesOf() : bytes{} {
        for (int m = 0; m < 256; ++m)
            for (int l = 0, n = 0; l < 8; ++l)
                if (m >> l & 1) {
                    bytes[m][n++] = static_cast<std::uint8_t>(2 * l);
                    bytes[m][n++] = static_cast<std::uint8_t>(2 * l + 1);
                }
    }
};
alignas(64) constexpr LanesOf lanes_of;  // not inline: a table for each set, which the linker does not share
/// Writes the lanes of m one after the other; may write a whole vector. Returns how many count.
HD int compress(std::uint16_t* out, M16 m, I16 a) {
    const unsigned chosen = bits(m), low = chosen & 255, high = chosen >> 8;
    const auto v = same_bits<__m256i>(a.v);
    const auto put = [](std::uint16_t * to, __m128i half, unsigned which) __attribute__((always_inline)) {
        const __m128i from = _mm_load_si128(reinterpret_cast<const __m128i*>(lanes_of.bytes[which]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(half, from));
    };
    put(out, _mm256_castsi256_si128(v), low);
    put(out + __builtin_popcount(low), _mm256_extracti128_si256(v, 1), high);
    return __builtin_popcount(chosen);
}
#else
HD I16 magnitude(I16 a) {
    const auto sign = same_bits<Raw<std::uint16_t>>(same_bits<Raw<std::int16_t>>(a.v) < 0);
    return (a.v ^ sign) - sign;
}
HD I16 excess(I16 a, I16 b) { return (a.v - b.v) & same_bits<Raw<std::uint16_t>>(a.v > b.v); }
HD I16 capped_sum(I16 a, I16 b) {
    const auto sum = a.v + b.v;
    return sum | same_bits<Raw<std::uint16_t>>(sum < a.v);
}
HD I16 scaled_square(I16 a) {
    for (int l = 0; l < short_width; ++l) {
        const int x = static_cast<std::int16_t>(a.v[l]);
        a.v[l] = static_cast<std::uint16_t>((x * x + (1 << 14)) >> 15);
    }
    return a;
}
HD unsigned bits(M16 m) {
    unsigned r = 0;
    for (int l = 0; l < short_width; ++l) r |= (static_cast<unsigned>(m.v[l]) & 1u) << l;
    return r;
}
HD int compress(std::uint16_t* out, M16 m, I16 a) {
    int n = 0;
    for (int l = 0; l < short_width; ++l) {
        out[n] = a.v[l];
        n -= m.v[l];
    }
    return n;
}
#endif

/// 16 bytes from each of at(first), at(first + 4), ...
template <class At>
HD Raw<float> quarter(int first, At at) {
#if STEELYARD_ISA == 2
    const auto one = [&](int lane) { return _mm_loadu_ps(reinterpret_cast<const float*>(at(lane))); };
    return _mm256_insertf128_ps(_mm256_castps128_ps256(one(first)), one(first + 4), 1);
#else
    return load<float>(at(first)).v;
#endif
}

/// Positions of a neighbourhood side by side in memory.
struct Near {
    std::uint64_t packed[near_places];
};
HD void load_near(Near& near, const Packed<2>* base, const std::uint16_t* start, std::uint32_t far_x) {
    for (int w = 0; w < windows; ++w)
        __builtin_memcpy(near.packed + w * window, base + start[w], window * sizeof *base);
    near.packed[far_place] = far_x;
}
/// Positions of the particles at `width` places. They are loaded one by one, because that is faster than instructions
/// that gather. Each 16 bytes of the two vectors hold two positions, so no instruction crosses 16 bytes.
HD Positions<2> pick(const Near& near, const std::uint8_t* places) {
    const auto at = [&](int lane) { return near.packed[places[lane]]; };
#if STEELYARD_ISA == 0
    const std::uint64_t p = at(0), q = at(1);
    const auto both = [](std::uint64_t a, std::uint64_t b) {
        return I32(Raw<std::uint32_t>{static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)});
    };
    return {both(p, q), both(p >> 32, q >> 32)};
#else
    const auto half = [&]<int... i>(int first, std::integer_sequence<int, i...>) __attribute__((always_inline)) {
        return same_bits<Raw<float>>(Raw<std::uint64_t>{at(i / 2 * 4 + i % 2 + first)...});
    };
    const auto all = std::make_integer_sequence<int, wide_width>();
    const Raw<float> a = half(0, all), b = half(2, all);
    // Lane i stands in vector i % 4 / 2, as position 2 * (i / 4) + i % 2 of it.
    constexpr auto x = [](int i) { return i % 4 / 2 * width + 2 * (2 * (i / 4) + i % 2); };
    constexpr auto y = [](int i) { return i % 4 / 2 * width + 2 * (2 * (i / 4) + i % 2) + 1; };
    return {same_bits<Raw<std::uint32_t>>(shuffled<x>(a, b)), same_bits<Raw<std::uint32_t>>(shuffled<y>(a, b))};
#endif
}

}  // namespace md::STEELYARD_ISA_NAME
