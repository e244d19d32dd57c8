// SPDX-License-Identifier: MIT
// The kernels' vector operations for one particle. With them a thread of a device calls the functors with float, double
// and integers. simd.hpp has the rules. Integers are unsigned, because their sums and differences must wrap as those of
// vectors do. Conversions read them in two's complement. Arguments and results may be signed instead. Only C functions
// that nvcc maps to the device's are called.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "md/domain.hpp"
#include "md/kernels/hd.hpp"
#include "md/kernels/vec.hpp"

namespace md {

HD float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
HD double fma(double a, double b, double c) { return ::fma(a, b, c); }
HD float abs(float a) { return ::fabsf(a); }
HD double abs(double a) { return ::fabs(a); }
HD float min(float a, float b) { return a < b ? a : b; }
HD double min(double a, double b) { return a < b ? a : b; }
HD float max(float a, float b) { return a > b ? a : b; }
HD double max(double a, double b) { return a > b ? a : b; }

/// Masks of one lane.
HD bool less(float a, float b) { return a < b; }
HD bool less(double a, double b) { return a < b; }
HD bool not_below(double a, double b) { return !(a < b); }
/// Some coordinate is not in [-2^51, 2^51).
template <int D>
HD bool beyond_51_bits(const Vec<std::uint64_t, D>& a) {
    constexpr std::uint64_t half = std::uint64_t{1} << 51;
    std::uint64_t any = 0;
    for (int k = 0; k < D; ++k) any |= a[k] + half;
    return any >> 52 != 0;
}
HD unsigned bits(bool mask) { return mask; }
HD float keep(bool mask, float a) { return mask ? a : 0.0f; }
HD double keep(bool mask, double a) { return mask ? a : 0.0; }

HD float to_f32(std::uint32_t a) { return static_cast<float>(static_cast<std::int32_t>(a)); }
HD double to_f64(std::uint32_t a) { return static_cast<std::int32_t>(a); }
HD double to_f64(std::uint64_t a) { return static_cast<double>(static_cast<std::int64_t>(a)); }
/// Nearest integers, even ones on a tie.
HD std::uint32_t to_i32(float a) { return static_cast<std::uint32_t>(::lrintf(a)); }
HD std::uint64_t to_i64(float a) { return static_cast<std::uint64_t>(::llrintf(a)); }
HD std::uint64_t to_i64(double a) { return static_cast<std::uint64_t>(::llrint(a)); }
HD std::uint64_t bits_of(double a) {
    std::uint64_t r;
    std::memcpy(&r, &a, sizeof r);
    return r;
}

/// Displacement between two packed positions, packed units, and its square.
template <int D>
HD Vec<std::uint32_t, D> displacement(const Packed<D>& a, const Packed<D>& b) {
    return vec<D>([&](int k) { return a.at[k] - b.at[k]; });
}
template <int D>
HD float distance2(const Packed<D>& a, const Packed<D>& b) {
    float sum = 0.0f;
    for (int k = 0; k < D; ++k) {
        const float d = to_f32(a.at[k] - b.at[k]);
        sum = sum + d * d;
    }
    return sum;
}
template <int D>
HD Vec<float, D> to_f32(const Vec<std::uint32_t, D>& d) {
    return vec<D>([&](int k) { return to_f32(d[k]); });
}
template <int D>
HD Vec<double, D> to_f64(const Vec<std::uint32_t, D>& d) {
    return vec<D>([&](int k) { return to_f64(d[k]); });
}

/// Lets f change the lanes of a and b: f(lane of a, lane of b).
template <class F>
HD void for_each_lane(std::uint64_t& a, std::uint64_t& b, F f) {
    f(a, b);
}

}  // namespace md
