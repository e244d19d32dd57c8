// SPDX-License-Identifier: MIT
// Rows of neighbours into the interleaved layout that the kernels read. Included by kernels_isa.cpp only.
#pragma once
#include <cstdint>

#if STEELYARD_ISA != 0
#include <immintrin.h>
#endif

namespace md::STEELYARD_ISA_NAME {

#if STEELYARD_ISA != 0
/// The first `count` of 16 places less `from`, in 8 bits each; the rest becomes the far place.
HD __m128i load_narrow(const std::int32_t* p, int count, int from) {
#if STEELYARD_ISA == 512
    const __mmask16 valid = _mm512_cmpgt_epi32_mask(_mm512_set1_epi32(count), counting_from(0).v);
    return _mm512_cvtepi32_epi8(
        _mm512_mask_sub_epi32(_mm512_set1_epi32(far_place), valid, _mm512_loadu_si512(p), _mm512_set1_epi32(from)));
#else
    const auto eight = [&](int first) {
        const __m256i lane = _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const __m256i place =
            _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + first)), _mm256_set1_epi32(from));
        return _mm256_blendv_epi8(_mm256_set1_epi32(far_place), place,
                                  _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane));
    };
    const __m256i t = _mm256_permute4x64_epi64(_mm256_packus_epi32(eight(0), eight(8)), 0xd8);
    return _mm_packus_epi16(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
#endif
}

/// Writes out[k * 16 + l] = rows[l * stride + taken[l] + first + k] - from for 16 k, far_place where first + k >=
/// count[l]. Interleaving vector i with vector i + 8, again and again, turns a lane's bits into an element's: four
/// rounds transpose.
HD void transpose_16_columns(std::uint8_t* out, const std::int32_t* rows, int stride, const int* taken,
                             const int* count, int first, int from) {
    __m128i v[16], w[16];
    for (int l = 0; l < 16; ++l) v[l] = load_narrow(rows + l * stride + taken[l] + first, count[l] - first, from);
    const auto round = [](const __m128i(&a)[16], __m128i(&b)[16]) __attribute__((always_inline)) {
        for (int i = 0; i < 8; ++i) {
            b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
            b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
        }
    };
    round(v, w);
    round(w, v);
    round(v, w);
    round(w, v);
    for (int c = 0; c < 16; ++c) _mm_storeu_si128(reinterpret_cast<__m128i*>(out) + c, v[c]);
}
#else
HD void transpose_16_columns(std::uint8_t* out, const std::int32_t* rows, int stride, const int* taken,
                             const int* count, int first, int from) {
    for (int k = 0; k < 16; ++k)
        for (int l = 0; l < 16; ++l)
            out[k * 16 + l] = static_cast<std::uint8_t>(
                first + k < count[l] ? rows[l * stride + taken[l] + first + k] - from : far_place);
}
#endif

}  // namespace md::STEELYARD_ISA_NAME
