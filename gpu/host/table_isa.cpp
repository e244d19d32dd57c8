// SPDX-License-Identifier: MIT
// The functors' one text as loops, compiled for each instruction set (STEELYARD_ISA_NAME). With fused multiply-adds in
// hardware fma() is an instruction; without, it is an exact but slow function.
#include "gpu/host/table.hpp"
#include "gpu/kernels/all.hpp"

namespace gpu::STEELYARD_ISA_NAME {
namespace {

template <class F>
void run(const void* functor, std::int64_t begin, std::int64_t end) {
    const F f = *static_cast<const F*>(functor);  // a copy, which no store of the loop can change
    for (std::int64_t i = begin; i < end; ++i) f(i);
}

template <class... F>
constexpr HostTable table_of(List<F...>) {
    static_assert(sizeof...(F) <= 96, "widen HostTable");
    return {{run<F>...}};
}
constexpr HostTable all = table_of(AllKernels{});

}  // namespace

const HostTable& table();
const HostTable& table() { return all; }

}  // namespace gpu::STEELYARD_ISA_NAME
