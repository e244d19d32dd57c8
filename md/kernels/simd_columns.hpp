// SPDX-License-Identifier: MIT
// Rows of neighbours into the interleaved layout that the kernels read. Included by kernels_isa.cpp only.
#pragma once
#include <cstdint>

namespace md::STEELYARD_ISA_NAME {

typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));

/// The first `count` of 16 places less `from`, in 8 bits each; the rest becomes the far place.
HD Bytes16 load_narrow(const std::int32_t* p, int count, int from) {
#if STEELYARD_ISA == 512
    const __mmask16 valid = _mm512_cmpgt_epi32_mask(_mm512_set1_epi32(count), integers(counting_from(0)));
    return same_bits<Bytes16>(_mm512_cvtepi32_epi8(
        _mm512_mask_sub_epi32(_mm512_set1_epi32(far_place), valid, _mm512_loadu_si512(p), _mm512_set1_epi32(from))));
#elif STEELYARD_ISA == 2
    const auto eight = [&](int first) {
        const auto place = same_bits<Raw<std::int32_t>>(load<std::uint32_t>(p + first).v) - from;
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

}  // namespace md::STEELYARD_ISA_NAME
