// SPDX-License-Identifier: MIT
// Fixed-point space. A position is a 64-bit integer of 2^-40 lengths on the global grid; the kernels see its low 32 bits in
// 2^-26 lengths, packed for x and y in 8 bytes. Differences of packed positions wrap exactly, so a pair's displacement is
// the same wherever and from whichever side it is computed. Box sides are whole numbers of 2^-26, so that a periodic image
// is an exact shift in both.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include "balance/box.hpp"
#include "balance/decomposition.hpp"

namespace md {

inline constexpr int position_bits = 40;
inline constexpr int kernel_bits = 26;
inline constexpr int kernel_shift = position_bits - kernel_bits;
inline constexpr double position_unit = 1.0 / (std::int64_t{1} << position_bits);
inline constexpr double kernel_unit = 1.0 / (std::int64_t{1} << kernel_bits);
/// Velocities are 64-bit integers of 2^-40: kicks add exactly, so two half-kicks are one kick and a reversed run retraces
/// its steps bit by bit.
inline constexpr double velocity_unit = position_unit;
using Int128 = __int128;

/// One axis of the box: its length in 2^-26 and how it is cut into cells.
struct Axis {
    std::int64_t length = 0;  ///< 2^-26 lengths
    int cells = 1;
    bool periodic = true;

    std::int64_t fixed_length() const { return length << kernel_shift; }  ///< 2^-40 lengths
    double real_length() const { return static_cast<double>(length) * kernel_unit; }
    /// First kernel coordinate of cell c (any integer c; cells go on beyond the box).
    std::int64_t edge(std::int64_t c) const {
        const Int128 n = Int128{c} * length;
        return static_cast<std::int64_t>(n >= 0 ? (n + cells - 1) / cells : -((-n) / cells));
    }
    /// The cell that holds a position (2^-40 lengths, may lie outside the box): floor(x cells / length), exactly.
    int cell_of(std::int64_t position) const {
        const std::int64_t x = position >> kernel_shift;
        auto c = static_cast<std::int64_t>(std::floor(static_cast<double>(x) * (cells / static_cast<double>(length))));
        const Int128 scaled = Int128{x} * cells;
        while (Int128{c} * length > scaled) --c;
        while (Int128{c + 1} * length <= scaled) ++c;
        return static_cast<int>(c);
    }
    double cell_width() const { return real_length() / cells; }
};

/// The periodic or walled box and its uniform grid of cells.
struct Domain {
    std::array<Axis, 2> axis;

    balance::Grid grid() const {
        return {{axis[0].cells, axis[1].cells, 1}, {axis[0].periodic, axis[1].periodic, false}};
    }
    double area() const { return axis[0].real_length() * axis[1].real_length(); }
};

/// A whole number of 2^-26 next to `length` (lengths), as the box sides are.
inline std::int64_t to_kernel_units(double length) { return std::llround(std::ldexp(length, kernel_bits)); }

/// Packs a position (2^-40) for the kernels: x in the low, y in the high 32 bits.
inline std::uint64_t pack(std::int64_t x, std::int64_t y) {
    return static_cast<std::uint32_t>(x >> kernel_shift) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(y >> kernel_shift)) << 32;
}

}  // namespace md
