// SPDX-License-Identifier: MIT
// Rows of neighbours into the interleaved layout that the kernels read. Included by kernels_isa.cpp only.
#pragma once
#include <cstdint>

#if STEELYARD_ISA != 0
#include <immintrin.h>
#endif

namespace md::STEELYARD_ISA_NAME {

#if STEELYARD_ISA != 0
/// 16 indices in 16 bits each.
HD __m256i load_narrow(const std::int32_t* p) {
#if STEELYARD_ISA == 512
    return _mm512_cvtepi32_epi16(_mm512_loadu_si512(p));
#else
    const auto* q = reinterpret_cast<const __m256i*>(p);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)), 0xd8);
#endif
}

/// Writes out[k * lanes + l] = rows[l * stride + k] for 16 k. Interleaving vector i with vector i + lanes / 2, again and again,
/// turns a lane's bits into an element's: log2(lanes) rounds transpose blocks of `lanes` by 8.
template <int lanes>
HD void transpose_16_columns(std::uint16_t* out, const std::int32_t* rows, int stride) {
    __m256i v[lanes], w[lanes];
    for (int l = 0; l < lanes; ++l) v[l] = load_narrow(rows + l * stride);
    const auto round = [](const __m256i (&from)[lanes], __m256i (&to)[lanes]) __attribute__((always_inline)) {
        for (int i = 0; i < lanes / 2; ++i) {
            to[2 * i] = _mm256_unpacklo_epi16(from[i], from[i + lanes / 2]);
            to[2 * i + 1] = _mm256_unpackhi_epi16(from[i], from[i + lanes / 2]);
        }
    };
    round(v, w);
    round(w, v);
    round(v, w);
    auto* to = reinterpret_cast<__m128i*>(out);
    if constexpr (lanes == 16) {
        round(w, v);
        for (int c = 0; c < 8; ++c) {
            auto* column = reinterpret_cast<__m256i*>(out + c * 16);
            _mm256_storeu_si256(column, _mm256_permute2x128_si256(v[2 * c], v[2 * c + 1], 0x20));
            _mm256_storeu_si256(column + 8, _mm256_permute2x128_si256(v[2 * c], v[2 * c + 1], 0x31));
        }
    } else {
        for (int c = 0; c < 8; ++c) {
            _mm_storeu_si128(to + c, _mm256_castsi256_si128(w[c]));
            _mm_storeu_si128(to + 8 + c, _mm256_extracti128_si256(w[c], 1));
        }
    }
}
#else
template <int lanes>
HD void transpose_16_columns(std::uint16_t* out, const std::int32_t* rows, int stride) {
    for (int k = 0; k < 16; ++k)
        for (int l = 0; l < lanes; ++l) out[k * lanes + l] = static_cast<std::uint16_t>(rows[l * stride + k]);
}
#endif

}  // namespace md::STEELYARD_ISA_NAME
