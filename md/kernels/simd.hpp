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
