// SPDX-License-Identifier: MIT
#include "md/kernels/kernels.hpp"

#include <cmath>
#include <stdexcept>

#include "md/potential.hpp"

namespace md {

// One of these for each object library of md/CMakeLists.txt; rows_vbmi2 changes the rows of another set.
namespace avx512 {
const Kernels& kernels();
Kernels with_vbmi2(Kernels kernels);
}  // namespace avx512
namespace avx2 {
const Kernels& kernels();
}
namespace neon {
const Kernels& kernels();
}
namespace portable {
const Kernels& kernels();
}
namespace scalar {
const Kernels& kernels();
}

std::vector<std::string> built_kernels() {
#if defined(STEELYARD_X86)
    return {"avx512vbmi2", "avx512", "avx2", "portable", "scalar"};
#elif defined(STEELYARD_NEON)
    return {"neon", "scalar"};
#else
    return {"portable", "scalar"};
#endif
}

std::vector<const Kernels*> available_kernels() {
    std::vector<const Kernels*> found;
#if defined(STEELYARD_X86)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2")) {
        if (__builtin_cpu_supports("avx512vbmi2")) {
            static const Kernels vbmi2 = avx512::with_vbmi2(avx512::kernels());
            found.push_back(&vbmi2);
        }
        found.push_back(&avx512::kernels());
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        found.push_back(&avx2::kernels());
    if (__builtin_cpu_supports("avx") && __builtin_cpu_supports("fma")) found.push_back(&portable::kernels());
#elif defined(STEELYARD_NEON)
    found.push_back(&neon::kernels());
#else
    found.push_back(&portable::kernels());
#endif
    found.push_back(&scalar::kernels());
    return found;
}

// Among n pairs, the forces of those beyond a radius r are small: together they take at most a share of the range. The
// others' forces g r, g = F/r, add up to at most r sqrt(n sum g^2) (Cauchy-Schwarz), the remaining share.
ForceLimits force_limits(const PotentialSpec& potential) {
    const double range = std::ldexp(0.999, 31 - force_bits(Precision::mixed)), far_share = 1.0 / 8;
    std::vector<double> limits{std::ldexp(1.0, 18)};  // forces below 2^18 sum up in 64 bits in any number
    for (int n = 1; n < narrow_rows; ++n) limits.push_back(far_share * range / n);
    const std::vector<double> r2 = smallest_safe_r2(potential, limits);
    ForceLimits out{{0.0}, r2.front()};
    for (int n = 1; n < narrow_rows; ++n) out.narrow_g2.push_back(std::pow((1 - far_share) * range, 2) / (n * r2[n]));
    out.narrow_g2.front() = out.narrow_g2[1];  // no pairs, no force
    out.narrow_g2.back() = 0;                  // no sum of more pairs is safe
    return out;
}

template <int D>
typename KernelsOf<D>::Step KernelsOf<D>::step_for(const PotentialSpec& potential, Precision precision) const {
    return step[potential_index(potential.kind)][precision == Precision::mixed ? 0 : 1]
               [potential.softening == 0.0 ? 0 : 1];
}
template KernelsOf<2>::Step KernelsOf<2>::step_for(const PotentialSpec&, Precision) const;
template KernelsOf<3>::Step KernelsOf<3>::step_for(const PotentialSpec&, Precision) const;

const Kernels& choose_kernels(const std::string& name) {
    std::string names;
    for (const Kernels* k : available_kernels()) {
        if (name.empty() || name == k->isa) return *k;
        names += (names.empty() ? "" : ", ") + std::string(k->isa);
    }
    throw std::invalid_argument("no kernels '" + name + "' on this processor; use one of " + names);
}

}  // namespace md
