// SPDX-License-Identifier: MIT
// HD marks kernel text: code for every instruction set and, under nvcc, for the device. On the host it is always
// inlined, so that a function compiled for AVX-512 never becomes the one copy that the linker keeps for all.
// Sanitizers' checks multiply with every inlining, and the plain loops need no such care, so there they are functions.
#pragma once

#ifdef __CUDACC__
#define HD __host__ __device__ inline
#elif defined(STEELYARD_SANITIZED) && (!defined(STEELYARD_ISA) || STEELYARD_ISA == 0)
#define HD inline
#else
#define HD [[gnu::always_inline]] inline
#endif
