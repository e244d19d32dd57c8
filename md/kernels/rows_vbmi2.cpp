// SPDX-License-Identifier: MIT
// The set "avx512vbmi2": the kernels of AVX-512, but neighbours are listed with the instruction of AVX-512 VBMI2 that
// compresses lanes of 16 bits.
#include "md/kernels/kernels.hpp"
#include "md/kernels/simd_search.hpp"

namespace md::avx512 {

Kernels with_vbmi2(Kernels kernels);
Kernels with_vbmi2(Kernels kernels) {
    kernels.isa = "avx512vbmi2";
    kernels.in_plane.rows = build_rows<2>;
    kernels.in_space.rows = build_rows<3>;
    return kernels;
}

}  // namespace md::avx512
