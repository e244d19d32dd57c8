// SPDX-License-Identifier: MIT
// AVX-512: masks in registers of their own, a neighbourhood in vector registers, conversions of 64-bit integers.
// simd_masks.hpp says what the functions do.
#pragma once
#include <immintrin.h>

namespace md::avx512 {

struct M32 {
    __mmask16 m;
};
struct M64 {
    __mmask8 m;
};
struct M16 {
    __mmask32 m;
};
HD unsigned bits(M32 a) { return a.m; }
HD unsigned bits(M64 a) { return a.m; }
HD __mmask16 first_bits(int n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1); }
HD M32 first_lanes(int n) { return {first_bits(n)}; }
HD M32 less(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
HD M64 less(F64 a, F64 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)}; }
HD M64 not_below(F64 a, F64 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_NLT_UQ)}; }
HD F32 keep(M32 m, F32 a) { return _mm512_maskz_mov_ps(m.m, a.v); }
HD F64 keep(M64 m, F64 a) { return _mm512_maskz_mov_pd(m.m, a.v); }
HD F32 min(F32 a, F32 b) { return _mm512_min_ps(a.v, b.v); }
HD F32 max(F32 a, F32 b) { return _mm512_max_ps(a.v, b.v); }
HD F64 min(F64 a, F64 b) { return _mm512_min_pd(a.v, b.v); }
HD F64 max(F64 a, F64 b) { return _mm512_max_pd(a.v, b.v); }
HD F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
HD F64 fma(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a.v, b.v, c.v); }

// Intel's functions know integers of all sizes as one type.
template <class T>
HD __m512i integers(Vector<T> a) {
    return same_bits<__m512i>(a.v);
}
HD I32 i32(__m512i a) { return same_bits<Raw<std::uint32_t>>(a); }
HD I64 i64(__m512i a) { return same_bits<Raw<std::uint64_t>>(a); }

HD I16 i16(__m512i a) { return same_bits<Raw<std::uint16_t>>(a); }

HD unsigned bits(M16 a) { return a.m; }
HD M16 first_shorts(int n) { return {n >= 32 ? ~__mmask32{0} : (__mmask32{1} << n) - 1}; }
HD M16 both(M16 a, M16 b) { return {a.m & b.m}; }
HD M16 not_above(I16 a, I16 b) { return {_mm512_cmple_epu16_mask(integers(a), integers(b))}; }
HD M16 differs(I16 a, I16 b) { return {_mm512_cmpneq_epi16_mask(integers(a), integers(b))}; }
HD I16 magnitude(I16 a) { return i16(_mm512_abs_epi16(integers(a))); }
HD I16 excess(I16 a, I16 b) { return i16(_mm512_subs_epu16(integers(a), integers(b))); }
HD I16 capped_sum(I16 a, I16 b) { return i16(_mm512_adds_epu16(integers(a), integers(b))); }
HD I16 scaled_square(I16 a) { return i16(_mm512_mulhrs_epi16(integers(a), integers(a))); }
HD I32 to_i32(F32 a) { return i32(_mm512_cvtps_epi32(a.v)); }
HD F64 to_f64(I64 a) { return _mm512_cvtepi64_pd(integers(a)); }
HD I64 to_i64(F64 a) { return i64(_mm512_cvtpd_epi64(a.v)); }
HD F64 nearest(F64 a) { return _mm512_roundscale_pd(a.v, _MM_FROUND_TO_NEAREST_INT); }
template <int D>
HD M64 beyond_51_bits(const Vec<I64, D>& a) {
    const I64 half(std::uint64_t{1} << 51);
    __m512i any = integers(a[0] + half);
    for (int k = 1; k < D; ++k) any = _mm512_or_si512(any, integers(a[k] + half));
    any = _mm512_srli_epi64(any, 52);
    return {_mm512_test_epi64_mask(any, any)};
}

HD WideI wide(I32 a) {
    return {i64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(integers(a)))),
            i64(_mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(integers(a), 1)))};
}
HD WideI to_wide_integers(F32 a) {
    return {i64(_mm512_cvtps_epi64(_mm512_castps512_ps256(a.v))),
            i64(_mm512_cvtps_epi64(_mm512_extractf32x8_ps(a.v, 1)))};
}
// Even lanes and odd lanes, converted where they stand in the upper half of 64 bits.
inline constexpr int difference_shift = 32;
HD WideF differences(I32 d) {
    const __m512i upper = _mm512_set1_epi64(static_cast<long long>(0xffffffff00000000ull));
    return {F64(_mm512_cvtepi64_pd(_mm512_slli_epi64(integers(d), 32))),
            F64(_mm512_cvtepi64_pd(_mm512_and_si512(integers(d), upper)))};
}
HD WideI in_order(WideI a) {
    return {shuffled<[](int i) { return i % 2 * 8 + i / 2; }>(a.low.v, a.high.v),
            shuffled<[](int i) { return i % 2 * 8 + i / 2 + 4; }>(a.low.v, a.high.v)};
}
HD unsigned bits_in_order(M64 even, M64 odd) { return _pdep_u32(even.m, 0x5555) | _pdep_u32(odd.m, 0xaaaa); }

HD void store_first(void* p, I64 a, int n) {
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(first_bits(n)), integers(a));
}
HD int count_below(const std::uint16_t* p, int n, int limit) {
    int count = 0;
    for (int k = 0; k < n; k += short_width)
        count += __builtin_popcount(_mm512_mask_cmplt_epu16_mask(first_shorts(n - k).m, _mm512_loadu_si512(p + k),
                                                                 _mm512_set1_epi16(static_cast<short>(limit))));
    return count;
}
#ifdef __AVX512VBMI2__
// Compressed in a register: processors exist on which compressing into memory is slow.
HD int compress(std::uint16_t* out, M16 m, I16 a) {
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(m.m, integers(a)));
    return __builtin_popcount(m.m);
}
#else
// With 32-bit lanes, half by half.
HD int compress(std::uint16_t* out, M16 m, I16 a) {
    const auto put = [](std::uint16_t * to, __m256i half, unsigned chosen) __attribute__((always_inline)) {
        const __m512i lanes32 =
            _mm512_maskz_compress_epi32(static_cast<__mmask16>(chosen), _mm512_cvtepu16_epi32(half));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(lanes32));
    };
    const unsigned low = m.m & 0xffff;
    put(out, _mm512_castsi512_si256(integers(a)), low);
    put(out + __builtin_popcount(low), _mm512_extracti64x4_epi64(integers(a), 1), m.m >> 16);
    return __builtin_popcount(m.m);
}
#endif

/// 16 bytes from each of at(first), at(first + 4), at(first + 8), at(first + 12). Units of 256 bits take an instruction
/// of 512 in two halves, so halves are filled first.
template <class At>
HD Raw<float> quarter(int first, At at) {
    const auto one = [&](int lane) { return _mm_loadu_ps(reinterpret_cast<const float*>(at(lane))); };
    const __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256(one(first)), one(first + 4), 1),
                 high = _mm256_insertf128_ps(_mm256_castps128_ps256(one(first + 8)), one(first + 12), 1);
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

struct Near {
    Raw<std::uint32_t> x[windows / 2], y[windows / 2];
};
HD void load_near(Near& near, const Packed<2>* base, const std::uint16_t* start, std::uint32_t far_x) {
    for (int g = 0; g < windows / 2; ++g) {
        const auto a = load<std::uint32_t>(base + start[2 * g]).v, b = load<std::uint32_t>(base + start[2 * g + 1]).v;
        near.x[g] = shuffled<[](int i) { return 2 * i; }>(a, b);
        near.y[g] = shuffled<[](int i) { return 2 * i + 1; }>(a, b);
    }
    near.x[windows / 2 - 1][15] = far_x;
}
/// Each permutation replaces the indices that it serves by what it picks, and leaves the others for the next one.
HD Positions<2> pick(const Near& near, const std::uint8_t* places) {
    static_assert(windows == 12, "three permutations, each from two vectors");
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(places));
    const __mmask16 first = _mm_testn_epi8_mask(bytes, _mm_set1_epi8(96)),
                    second = _mm_test_epi8_mask(bytes, _mm_set1_epi8(32)),
                    third = _mm_test_epi8_mask(bytes, _mm_set1_epi8(64));
    const auto one = [&](const Raw<std::uint32_t>(&t)[windows / 2]) {
        const auto vector = [&](int i) { return same_bits<__m512i>(t[i]); };
        __m512i r = _mm512_cvtepu8_epi32(bytes);
        r = _mm512_mask2_permutex2var_epi32(vector(2), r, second, vector(3));
        r = _mm512_mask2_permutex2var_epi32(vector(4), r, third, vector(5));
        return i32(_mm512_mask2_permutex2var_epi32(vector(0), r, first, vector(1)));
    };
    return {{one(near.x), one(near.y)}};
}

}  // namespace md::avx512
