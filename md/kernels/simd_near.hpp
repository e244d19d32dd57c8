// SPDX-License-Identifier: MIT
// A neighbourhood's positions side by side in memory, where registers can't hold them (AVX2, plain loops). Included by
// simd.hpp only.
#pragma once

namespace md::STEELYARD_ISA_NAME {

struct NearBuffer {
    std::uint64_t packed[near_places];
};
struct Near {
    const std::uint64_t* packed;
};
HD Near load_near(const std::uint64_t* base, const std::uint16_t* start, std::uint32_t far_x, NearBuffer& buffer) {
    for (int w = 0; w < windows; ++w)
        for (int l = 0; l < window; ++l) buffer.packed[w * window + l] = base[start[w] + l];
    buffer.packed[far_place] = far_x;
    return {buffer.packed};
}

}  // namespace md::STEELYARD_ISA_NAME
