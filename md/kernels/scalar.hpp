// SPDX-License-Identifier: MIT
// The kernels' vector operations for one particle, so that the functors can also be called with float, double and
// integers, as a thread of a device does; the plain loops (simd_scalar.hpp) apply them lane by lane. simd.hpp has the
// rules. Integers are unsigned, because their sums and differences must wrap as those of vectors do; conversions
// read them in two's complement, and a signed argument or result may be given or taken instead.
// Only C functions that nvcc maps to the device's are called.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "md/domain.hpp"
#include "md/kernels/hd.hpp"

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
/// a or b is not in [-2^51, 2^51).
HD bool beyond_51_bits(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t half = std::uint64_t{1} << 51;
    return ((a + half) | (b + half)) >> 52 != 0;
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

/// The halves of a packed position.
struct PackedPosition {
    std::uint32_t x, y;
};
HD PackedPosition unpack(std::uint64_t p) {
    return {static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(p >> 32)};
}
HD std::uint64_t pack_positions(std::uint64_t x, std::uint64_t y, int shift) {
    return pack(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), shift);
}
/// Squared distance between two packed positions, squared packed units.
HD float distance2(std::uint64_t a, std::uint64_t b) {
    const PackedPosition p = unpack(a), q = unpack(b);
    const float dx = to_f32(p.x - q.x), dy = to_f32(p.y - q.y);
    return dx * dx + dy * dy;
}

/// Lets f change the lanes of a and b: f(lane of a, lane of b).
template <class F>
HD void for_each_lane(std::uint64_t& a, std::uint64_t& b, F f) {
    f(a, b);
}

}  // namespace md
