// SPDX-License-Identifier: MIT
// The functors of kernels/all.hpp as plain functions, one table for each instruction set; all give the same bits.
#pragma once
#include <cstdint>
#include <string>

namespace gpu {

/// Runs functor(i) for i in [begin, end), in this order.
using RunChunk = void (*)(const void* functor, std::int64_t begin, std::int64_t end);

/// In the order of AllKernels.
struct HostTable {
    RunChunk run[96];
};

/// The best table that this processor can run, up to an instruction set of md::Kernels: AVX2 for "avx2" and "avx512",
/// the plain one for others; empty: any.
const HostTable& host_table(const std::string& isa);

}  // namespace gpu
