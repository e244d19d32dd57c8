// SPDX-License-Identifier: MIT
#include "md/kernels.hpp"

#include <stdexcept>

namespace md {

namespace scalar { const Kernels& kernels(); }
#ifdef STEELYARD_X86
namespace avx2 { const Kernels& kernels(); }
namespace avx512 { const Kernels& kernels(); }
#endif

std::vector<const Kernels*> available_kernels() {
    std::vector<const Kernels*> found;
#ifdef STEELYARD_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
        found.push_back(&avx512::kernels());
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        found.push_back(&avx2::kernels());
#endif
    found.push_back(&scalar::kernels());
    return found;
}

const Kernels& choose_kernels(const std::string& name) {
    std::string names;
    for (const Kernels* k : available_kernels()) {
        if (name.empty() || name == k->isa) return *k;
        names += (names.empty() ? "" : ", ") + std::string(k->isa);
    }
    throw std::invalid_argument("no kernels '" + name + "' on this processor; use one of " + names);
}

}  // namespace md
