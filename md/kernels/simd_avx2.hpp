// SPDX-License-Identifier: MIT
// AVX2 with FMA: each vector is two registers. See simd.hpp for the rules.
#pragma once
#include <immintrin.h>

namespace md::avx2 {

struct M16 {
    unsigned m;
};
struct M8 {
    unsigned m;
};
HD unsigned bits(M16 a) { return a.m; }
HD unsigned bits(M8 a) { return a.m; }
HD M16 both(M16 a, M16 b) { return {a.m & b.m}; }
HD M16 first_of_16(int n) { return {n >= 16 ? 0xffffu : (1u << n) - 1}; }
HD __m256i lanes8(unsigned m) {  // bit l -> all ones in 32-bit lane l
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(m)), bit), bit);
}
HD __m256i lanes4(unsigned m) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(m), bit), bit);
}

struct I32 {
    __m256i a, b;
    HD friend I32 operator-(I32 x, I32 y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
    HD friend I32 operator+(I32 x, I32 y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
};
HD I32 i32(std::int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
HD I32 load_i32(const std::int32_t* p) {
    const auto* q = reinterpret_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
HD I32 counting_from(std::int32_t x) {
    const __m256i n = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return {_mm256_add_epi32(_mm256_set1_epi32(x), n), _mm256_add_epi32(_mm256_set1_epi32(x + 8), n)};
}
HD M16 differs(I32 x, I32 y) {
    const auto equal = [](__m256i p, __m256i q) {
        return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(p, q))));
    };
    return {0xffffu & ~(equal(x.a, y.a) | equal(x.b, y.b) << 8)};
}

struct F32 {
    __m256 a, b;
    HD F32(__m256 x, __m256 y) : a(x), b(y) {}
    HD F32(float x) : a(_mm256_set1_ps(x)), b(_mm256_set1_ps(x)) {}
    HD friend F32 operator+(F32 x, F32 y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
    HD friend F32 operator-(F32 x, F32 y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
    HD friend F32 operator*(F32 x, F32 y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
    HD friend F32 operator/(F32 x, F32 y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
};
HD F32 fma(F32 x, F32 y, F32 z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
HD F32 min(F32 x, F32 y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
HD F32 max(F32 x, F32 y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
HD F32 abs(F32 x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
HD M16 less(F32 x, F32 y) {
    return {static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ))) |
            static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ))) << 8};
}
HD M16 less(M16 among, F32 x, F32 y) { return both(among, less(x, y)); }
HD F32 keep(M16 m, F32 x) {
    return {_mm256_and_ps(x.a, _mm256_castsi256_ps(lanes8(m.m & 0xff))),
            _mm256_and_ps(x.b, _mm256_castsi256_ps(lanes8(m.m >> 8)))};
}
HD F32 to_f32(I32 x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
HD I32 to_i32(F32 x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
HD F32 load_f32(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
HD void store_f32(float* p, F32 x) {
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
HD float lane(F32 x, int l) {
    alignas(32) float t[16];
    _mm256_store_ps(t, x.a);
    _mm256_store_ps(t + 8, x.b);
    return t[l];
}
HD float reduce_max(F32 x) {
    float m = lane(x, 0);
    for (int l = 1; l < 16; ++l) m = lane(x, l) > m ? lane(x, l) : m;
    return m;
}
HD int compress(float* out, M16 m, F32 x) {
    alignas(32) float t[16];
    _mm256_store_ps(t, x.a);
    _mm256_store_ps(t + 8, x.b);
    int n = 0;
    for (unsigned k = m.m; k; k &= k - 1) out[n++] = t[__builtin_ctz(k)];
    return n;
}
HD int compress(std::int32_t* out, M16 m, I32 x) {
    alignas(32) std::int32_t t[16];
    _mm256_store_si256(reinterpret_cast<__m256i*>(t), x.a);
    _mm256_store_si256(reinterpret_cast<__m256i*>(t + 8), x.b);
    int n = 0;
    for (unsigned k = m.m; k; k &= k - 1) out[n++] = t[__builtin_ctz(k)];
    return n;
}

HD int count_below(const std::int32_t* p, int n, int limit) {
    int count = 0;
    for (int k = 0; k < n; ++k) count += p[k] < limit;
    return count;
}

struct F64 {
    __m256d a, b;
    HD F64(__m256d x, __m256d y) : a(x), b(y) {}
    HD F64(double x) : a(_mm256_set1_pd(x)), b(_mm256_set1_pd(x)) {}
    HD friend F64 operator+(F64 x, F64 y) { return {_mm256_add_pd(x.a, y.a), _mm256_add_pd(x.b, y.b)}; }
    HD friend F64 operator-(F64 x, F64 y) { return {_mm256_sub_pd(x.a, y.a), _mm256_sub_pd(x.b, y.b)}; }
    HD friend F64 operator*(F64 x, F64 y) { return {_mm256_mul_pd(x.a, y.a), _mm256_mul_pd(x.b, y.b)}; }
    HD friend F64 operator/(F64 x, F64 y) { return {_mm256_div_pd(x.a, y.a), _mm256_div_pd(x.b, y.b)}; }
};
HD F64 fma(F64 x, F64 y, F64 z) { return {_mm256_fmadd_pd(x.a, y.a, z.a), _mm256_fmadd_pd(x.b, y.b, z.b)}; }
HD F64 min(F64 x, F64 y) { return {_mm256_min_pd(x.a, y.a), _mm256_min_pd(x.b, y.b)}; }
HD F64 max(F64 x, F64 y) { return {_mm256_max_pd(x.a, y.a), _mm256_max_pd(x.b, y.b)}; }
HD F64 abs(F64 x) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, x.a), _mm256_andnot_pd(sign, x.b)};
}
template <int op>
HD M8 compare(F64 x, F64 y) {
    return {static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x.a, y.a, op))) |
            static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x.b, y.b, op))) << 4};
}
HD M8 less(F64 x, F64 y) { return compare<_CMP_LT_OQ>(x, y); }
HD M8 not_below(F64 x, F64 y) { return compare<_CMP_NLT_UQ>(x, y); }
HD F64 keep(M8 m, F64 x) {
    return {_mm256_and_pd(x.a, _mm256_castsi256_pd(lanes4(m.m & 0xf))),
            _mm256_and_pd(x.b, _mm256_castsi256_pd(lanes4(m.m >> 4)))};
}

struct I64 {
    __m256i a, b;
    HD friend I64 operator+(I64 x, I64 y) { return {_mm256_add_epi64(x.a, y.a), _mm256_add_epi64(x.b, y.b)}; }
    HD friend I64 operator-(I64 x, I64 y) { return {_mm256_sub_epi64(x.a, y.a), _mm256_sub_epi64(x.b, y.b)}; }
};
HD I64 i64(std::int64_t x) { return {_mm256_set1_epi64x(x), _mm256_set1_epi64x(x)}; }
HD I64 load_i64(const std::int64_t* p) {
    const auto* q = reinterpret_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
HD void store_first(std::int64_t* p, I64 x, int n) {
    const unsigned m = n >= 8 ? 0xffu : (1u << n) - 1;
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), lanes4(m & 0xf), x.a);
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p + 4), lanes4(m >> 4), x.b);
}
HD void store_first(std::uint64_t* p, I64 x, int n) { store_first(reinterpret_cast<std::int64_t*>(p), x, n); }
// No 64-bit conversions before AVX-512: adding 1.5 * 2^52 lines up the bits of any |x| < 2^51, exactly.
HD F64 to_f64(I64 x) {
    const __m256d m = _mm256_set1_pd(6755399441055744.0);
    const auto one = [m](__m256i i) {
        return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(i, _mm256_castpd_si256(m))), m);
    };
    return {one(x.a), one(x.b)};
}
HD I64 to_i64(F64 x) {
    const __m256d m = _mm256_set1_pd(6755399441055744.0);
    const auto one = [m](__m256d d) {
        return _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(d, m)), _mm256_castpd_si256(m));
    };
    return {one(x.a), one(x.b)};
}
HD I64 bits_of(F64 x) { return {_mm256_castpd_si256(x.a), _mm256_castpd_si256(x.b)}; }
HD M8 beyond_51_bits(I64 x, I64 y) {
    const __m256i half = _mm256_set1_epi64x(std::int64_t{1} << 51);
    const auto one = [&](__m256i i, __m256i j) {
        const __m256i t = _mm256_srli_epi64(_mm256_or_si256(_mm256_add_epi64(i, half), _mm256_add_epi64(j, half)), 52);
        return 0xfu & ~static_cast<unsigned>(
                          _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(t, _mm256_setzero_si256()))));
    };
    return {one(x.a, y.a) | one(x.b, y.b) << 4};
}
HD I64 widen(__m256i x) {
    return {_mm256_cvtepi32_epi64(_mm256_castsi256_si128(x)), _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1))};
}
HD I64 low_half(I32 x) { return widen(x.a); }
HD I64 high_half(I32 x) { return widen(x.b); }
HD I64 round_lanes(__m256 x) {
    return to_i64(F64(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))));
}
HD I64 low_to_i64(F32 x) { return round_lanes(x.a); }
HD I64 high_to_i64(F32 x) { return round_lanes(x.b); }
HD I64 pack_positions(I64 x, I64 y, int shift) {
    const __m128i n = _mm_cvtsi32_si128(shift);
    const auto one = [n](__m256i p, __m256i q) {
        return _mm256_or_si256(_mm256_and_si256(_mm256_srl_epi64(p, n), _mm256_set1_epi64x(0xffffffffll)),
                               _mm256_slli_epi64(_mm256_srl_epi64(q, n), 32));
    };
    return {one(x.a, y.a), one(x.b, y.b)};
}
HD F32 distance2(I64 x, const std::uint64_t* reference, int n) {
    const auto four = [&](__m256i p, int first, unsigned valid) {
        const __m256 f = _mm256_cvtepi32_ps(
            _mm256_sub_epi32(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(reference + first))));
        const __m256 q = _mm256_mul_ps(f, f);
        return _mm256_and_ps(_mm256_add_ps(q, _mm256_permute_ps(q, 0xb1)), _mm256_castsi256_ps(lanes4(valid)));
    };
    const unsigned valid = n >= 8 ? 0xffu : (1u << n) - 1;
    return {four(x.a, 0, valid & 0xf), four(x.b, 4, valid >> 4)};
}

struct Positions16 {
    I32 x, y;
};
HD void unpack8(__m256i p, __m256i q, __m256i& x, __m256i& y) {  // two vectors of four packed positions
    const __m256 lo = _mm256_castsi256_ps(p), hi = _mm256_castsi256_ps(q);
    x = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(lo, hi, 0x88)), 0xd8);
    y = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(lo, hi, 0xdd)), 0xd8);
}
HD Positions16 load_positions16(const std::uint64_t* p) {
    const auto* q = reinterpret_cast<const __m256i*>(p);
    Positions16 r;
    unpack8(_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1), r.x.a, r.y.a);
    unpack8(_mm256_loadu_si256(q + 2), _mm256_loadu_si256(q + 3), r.x.b, r.y.b);
    return r;
}
/// 4 packed positions from anywhere, by loads and inserts: faster than the gather instruction.
HD __m256i collect4(const std::uint64_t* base, const std::uint8_t* index) {
    const auto at = [&](int l) { return reinterpret_cast<const double*>(base + index[l]); };
    const auto two = [&](int l) { return _mm_loadh_pd(_mm_load_sd(at(l)), at(l + 1)); };
    return _mm256_castpd_si256(_mm256_insertf128_pd(_mm256_castpd128_pd256(two(0)), two(2), 1));
}

HD Positions16 pick(Near near, const std::uint8_t* places) {
    Positions16 r;
    unpack8(collect4(near.packed, places), collect4(near.packed, places + 4), r.x.a, r.y.a);
    unpack8(collect4(near.packed, places + 8), collect4(near.packed, places + 12), r.x.b, r.y.b);
    return r;
}

/// 16 differences as doubles, 8 and 8.
struct Halves {
    F64 a, b;
};
inline constexpr int difference_shift = 0;
HD Halves to_halves(I32 d) {
    const auto eight = [](__m256i v) {
        return F64(_mm256_cvtepi32_pd(_mm256_castsi256_si128(v)), _mm256_cvtepi32_pd(_mm256_extracti128_si256(v, 1)));
    };
    return {eight(d.a), eight(d.b)};
}
/// Back into the order of lanes, which they have already.
HD void in_order(I64&, I64&) {}
HD unsigned bits_in_order(M8 a, M8 b) { return a.m | b.m << 8; }

}  // namespace md::avx2
