// SPDX-License-Identifier: MIT
// AVX-512 (F, DQ, BW, VL). See simd.hpp for the rules.
#pragma once
#include <immintrin.h>

namespace md::avx512 {

struct M16 {
    __mmask16 m;
};
struct M8 {
    __mmask8 m;
};
HD unsigned bits(M16 a) { return a.m; }
HD unsigned bits(M8 a) { return a.m; }
HD M16 first_of_16(int n) { return {static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1)}; }

struct I32 {
    __m512i v;
    HD friend I32 operator-(I32 a, I32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
    HD friend I32 operator+(I32 a, I32 b) { return {_mm512_add_epi32(a.v, b.v)}; }
};
HD I32 i32(std::int32_t a) { return {_mm512_set1_epi32(a)}; }
HD I32 load_i32(const std::int32_t* p) { return {_mm512_loadu_si512(p)}; }
HD I32 counting_from(std::int32_t a) {
    return {_mm512_add_epi32(_mm512_set1_epi32(a),
                             _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))};
}
HD M16 differs(I32 a, I32 b) { return {_mm512_cmpneq_epi32_mask(a.v, b.v)}; }

struct F32 {
    __m512 v;
    HD F32(__m512 a) : v(a) {}
    HD F32(float a) : v(_mm512_set1_ps(a)) {}
    HD friend F32 operator+(F32 a, F32 b) { return _mm512_add_ps(a.v, b.v); }
    HD friend F32 operator-(F32 a, F32 b) { return _mm512_sub_ps(a.v, b.v); }
    HD friend F32 operator*(F32 a, F32 b) { return _mm512_mul_ps(a.v, b.v); }
    HD friend F32 operator/(F32 a, F32 b) { return _mm512_div_ps(a.v, b.v); }
};
HD F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
HD F32 min(F32 a, F32 b) { return _mm512_min_ps(a.v, b.v); }
HD F32 max(F32 a, F32 b) { return _mm512_max_ps(a.v, b.v); }
HD F32 abs(F32 a) { return _mm512_abs_ps(a.v); }
HD M16 less(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
HD M16 less(M16 among, F32 a, F32 b) { return {_mm512_mask_cmp_ps_mask(among.m, a.v, b.v, _CMP_LT_OQ)}; }
HD F32 keep(M16 m, F32 a) { return _mm512_maskz_mov_ps(m.m, a.v); }
HD F32 to_f32(I32 a) { return _mm512_cvtepi32_ps(a.v); }
HD I32 to_i32(F32 a) { return {_mm512_cvtps_epi32(a.v)}; }
HD F32 load_f32(const float* p) { return _mm512_loadu_ps(p); }
HD void store_f32(float* p, F32 a) { _mm512_storeu_ps(p, a.v); }
HD float reduce_max(F32 a) { return _mm512_reduce_max_ps(a.v); }
/// Writes the lanes of m one after the other; may write 16 elements. Returns how many count.
HD int compress(float* out, M16 m, F32 a) {
    _mm512_storeu_ps(out, _mm512_maskz_compress_ps(m.m, a.v));
    return __builtin_popcount(m.m);
}
HD int compress(std::int32_t* out, M16 m, I32 a) {
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(m.m, a.v));
    return __builtin_popcount(m.m);
}

/// How many of the first n are below the limit; reads whole vectors.
HD int count_below(const std::int32_t* p, int n, int limit) {
    int count = 0;
    for (int k = 0; k < n; k += 16)
        count += __builtin_popcount(
            _mm512_mask_cmplt_epi32_mask(first_of_16(n - k).m, _mm512_loadu_si512(p + k), _mm512_set1_epi32(limit)));
    return count;
}

struct F64 {
    __m512d v;
    HD F64(__m512d a) : v(a) {}
    HD F64(double a) : v(_mm512_set1_pd(a)) {}
    HD friend F64 operator+(F64 a, F64 b) { return _mm512_add_pd(a.v, b.v); }
    HD friend F64 operator-(F64 a, F64 b) { return _mm512_sub_pd(a.v, b.v); }
    HD friend F64 operator*(F64 a, F64 b) { return _mm512_mul_pd(a.v, b.v); }
    HD friend F64 operator/(F64 a, F64 b) { return _mm512_div_pd(a.v, b.v); }
};
HD F64 fma(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a.v, b.v, c.v); }
HD F64 min(F64 a, F64 b) { return _mm512_min_pd(a.v, b.v); }
HD F64 max(F64 a, F64 b) { return _mm512_max_pd(a.v, b.v); }
HD F64 abs(F64 a) { return _mm512_abs_pd(a.v); }
HD M8 less(F64 a, F64 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)}; }
HD M8 not_below(F64 a, F64 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_NLT_UQ)}; }
HD F64 keep(M8 m, F64 a) { return _mm512_maskz_mov_pd(m.m, a.v); }

struct I64 {
    __m512i v;
    HD friend I64 operator+(I64 a, I64 b) { return {_mm512_add_epi64(a.v, b.v)}; }
    HD friend I64 operator-(I64 a, I64 b) { return {_mm512_sub_epi64(a.v, b.v)}; }
};
HD I64 i64(std::int64_t a) { return {_mm512_set1_epi64(a)}; }
HD I64 load_i64(const std::int64_t* p) { return {_mm512_loadu_si512(p)}; }
HD void store_first(std::int64_t* p, I64 a, int n) {
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(n >= 8 ? 0xff : (1u << n) - 1), a.v);
}
HD void store_first(std::uint64_t* p, I64 a, int n) { store_first(reinterpret_cast<std::int64_t*>(p), a, n); }
HD F64 to_f64(I64 a) { return _mm512_cvtepi64_pd(a.v); }
HD I64 to_i64(F64 a) { return {_mm512_cvtpd_epi64(a.v)}; }
HD I64 bits_of(F64 a) { return {_mm512_castpd_si512(a.v)}; }
/// Lanes where a or b is not in [-2^51, 2^51).
HD M8 beyond_51_bits(I64 a, I64 b) {
    const __m512i half = _mm512_set1_epi64(std::int64_t{1} << 51);
    const __m512i t = _mm512_srli_epi64(_mm512_or_si512(_mm512_add_epi64(a.v, half), _mm512_add_epi64(b.v, half)), 52);
    return {_mm512_test_epi64_mask(t, t)};
}
HD I64 low_half(I32 a) { return {_mm512_cvtepi32_epi64(_mm512_castsi512_si256(a.v))}; }
HD I64 high_half(I32 a) { return {_mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(a.v, 1))}; }
/// Nearest integers of the lower and upper 8 floats.
HD I64 low_to_i64(F32 a) { return {_mm512_cvtps_epi64(_mm512_castps512_ps256(a.v))}; }
HD I64 high_to_i64(F32 a) { return {_mm512_cvtps_epi64(_mm512_extractf32x8_ps(a.v, 1))}; }
HD I64 pack_positions(I64 x, I64 y, int shift) {
    const __m512i lo =
        _mm512_and_si512(_mm512_srl_epi64(x.v, _mm_cvtsi32_si128(shift)), _mm512_set1_epi64(0xffffffffll));
    const __m512i hi = _mm512_slli_epi64(_mm512_srl_epi64(y.v, _mm_cvtsi32_si128(shift)), 32);
    return {_mm512_or_si512(lo, hi)};
}
/// Squared distances between the first n packed positions and theirs in `reference`, in floats of squared packed units:
/// each distance stands in two neighbouring floats; those beyond the n-th are 0.
HD F32 distance2(I64 a, const std::uint64_t* reference, int n) {
    const __m512 f = _mm512_cvtepi32_ps(_mm512_sub_epi32(a.v, _mm512_loadu_si512(reference))), q = _mm512_mul_ps(f, f);
    return _mm512_maskz_add_ps(static_cast<__mmask16>(n >= 8 ? 0xffff : (1u << (2 * n)) - 1), q,
                               _mm512_permute_ps(q, 0xb1));
}

/// Packed positions of 16 particles in a row, as two vectors.
struct Positions16 {
    I32 x, y;
};
HD Positions16 unpack(__m512i a, __m512i b) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return {{_mm512_permutex2var_epi32(a, even, b)}, {_mm512_permutex2var_epi32(a, odd, b)}};
}
HD Positions16 load_positions16(const std::uint64_t* p) {
    return unpack(_mm512_loadu_si512(p), _mm512_loadu_si512(p + 8));
}
/// Positions of a neighbourhood in registers, from which permutations pick.
struct NearBuffer {};
struct Near {
    __m512i x[windows / 2], y[windows / 2];
};
HD Near load_near(const std::uint64_t* base, const std::uint16_t* start, std::uint32_t far_x, NearBuffer&) {
    Near near;
    for (int g = 0; g < windows / 2; ++g) {
        const Positions16 p =
            unpack(_mm512_loadu_si512(base + start[2 * g]), _mm512_loadu_si512(base + start[2 * g + 1]));
        near.x[g] = p.x.v;
        near.y[g] = p.y.v;
    }
    near.x[windows / 2 - 1] = _mm512_mask_set1_epi32(near.x[windows / 2 - 1], 0x8000, static_cast<int>(far_x));
    return near;
}
HD Positions16 pick(const Near& near, const std::uint8_t* places) {
    static_assert(windows == 12, "three permutations, each from two vectors");
    const __m512i place = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(places)));
    const __mmask16 second = _mm512_test_epi32_mask(place, _mm512_set1_epi32(32)),
                    third = _mm512_test_epi32_mask(place, _mm512_set1_epi32(64));
    const auto one = [&](const __m512i(&t)[windows / 2]) {
        __m512i r = _mm512_permutex2var_epi32(t[0], place, t[1]);
        r = _mm512_mask_mov_epi32(r, second, _mm512_permutex2var_epi32(t[2], place, t[3]));
        return _mm512_mask_mov_epi32(r, third, _mm512_permutex2var_epi32(t[4], place, t[5]));
    };
    return {{one(near.x)}, {one(near.y)}};
}

/// 16 differences as doubles times 2^32: even lanes and odd lanes, converted where they stand in the upper half of 64
/// bits.
struct Halves {
    F64 a, b;
};
inline constexpr int difference_shift = 32;
HD Halves to_halves(I32 d) {
    return {
        _mm512_cvtepi64_pd(_mm512_slli_epi64(d.v, 32)),
        _mm512_cvtepi64_pd(_mm512_and_si512(d.v, _mm512_set1_epi64(static_cast<long long>(0xffffffff00000000ull))))};
}
/// Back into the order of lanes, 8 and 8.
HD void in_order(I64& a, I64& b) {
    const __m512i lo = _mm512_permutex2var_epi64(a.v, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b.v);
    b.v = _mm512_permutex2var_epi64(a.v, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b.v);
    a.v = lo;
}
HD unsigned bits_in_order(M8 a, M8 b) { return _pdep_u32(a.m, 0x5555) | _pdep_u32(b.m, 0xaaaa); }

}  // namespace md::avx512
