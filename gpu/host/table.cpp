// SPDX-License-Identifier: MIT
#include "gpu/host/table.hpp"

namespace gpu {

namespace plain {
const HostTable& table();
}
#ifdef STEELYARD_GPU_AVX2
namespace avx2 {
const HostTable& table();
}
#endif

const HostTable& host_table([[maybe_unused]] const std::string& isa) {
#ifdef STEELYARD_GPU_AVX2
    __builtin_cpu_init();
    const bool wanted = isa.empty() || isa.starts_with("avx");
    if (wanted && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return avx2::table();
#endif
    return plain::table();
}

}  // namespace gpu
