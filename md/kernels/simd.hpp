// SPDX-License-Identifier: MIT
// Vectors of 16 floats or 8 doubles for the kernels, the same names and the same bits for AVX-512, AVX2 and plain
// loops. Included by kernels_isa.cpp only, which is compiled once for each STEELYARD_ISA (512, 2, 0). Every operation
// is correctly rounded or exact; conversions round to nearest even and want their argument in range (ints: 31 bits,
// int64: 51 bits).
#pragma once
#include <cmath>
#include <cstdint>

#include "md/kernels/hd.hpp"

#ifndef STEELYARD_ISA
#error "define STEELYARD_ISA as 512, 2 or 0"
#endif

#if STEELYARD_ISA != 512
#include "md/kernels/simd_near.hpp"
#endif
#if STEELYARD_ISA == 512
#include "md/kernels/simd_avx512.hpp"
#elif STEELYARD_ISA == 2
#include "md/kernels/simd_avx2.hpp"
#else
#include "md/kernels/simd_scalar.hpp"
#endif

namespace md::STEELYARD_ISA_NAME {

/// Lets f change the lanes of a and b, pair by pair: f(lane of a, lane of b).
template <class F>
HD void for_each_lane(I64& a, I64& b, F f) {
    alignas(64) std::uint64_t s[8], t[8];
    store_first(s, a, 8);
    store_first(t, b, 8);
    for (int l = 0; l < 8; ++l) f(s[l], t[l]);
    a = load_i64(reinterpret_cast<const std::int64_t*>(s));
    b = load_i64(reinterpret_cast<const std::int64_t*>(t));
}

}  // namespace md::STEELYARD_ISA_NAME
