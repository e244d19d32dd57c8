// SPDX-License-Identifier: MIT
// Fixed-point space. One *length* is sigma, the unit of length. A coordinate is a 64-bit integer in units of 2^-40
// lengths. The kernels see 32 bits of each coordinate, the *packed position*, in units of 2^-26 lengths (down to 2^-28
// if pairs are computed in doubles). Differences of packed positions wrap exactly, so a pair's displacement is the same
// wherever and from whichever side it is computed. Box sides are whole numbers of 2^-26, so a periodic image is an
// exact shift in every unit.
//
// Code that loops over particles takes the number of dimensions D, 2 or 3, as a template parameter. Descriptions of the
// box know the number at run time. They have three axes; in two dimensions the last axis is one cell deep.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "balance/grid/grid.hpp"
#include "md/kernels/hd.hpp"

namespace md {

inline constexpr int position_bits = 40;
inline constexpr int edge_bits = 26;
inline constexpr int finest_packed_bits = 28;
inline constexpr int edge_shift = position_bits - edge_bits;
inline constexpr double position_unit = 1.0 / (std::int64_t{1} << position_bits);
inline constexpr double edge_unit = 1.0 / (std::int64_t{1} << edge_bits);
/// Velocities are 64-bit integers in units of 2^-40. So kicks add exactly: two half-kicks are one kick, and a reversed
/// run retraces its steps bit by bit.
inline constexpr double velocity_unit = position_unit;
using Int128 = __int128;

/// One axis of the box: its length, and the number of cells along it.
struct Axis {
    std::int64_t length = 0;  ///< 2^-26 lengths
    int cells = 1;
    bool periodic = true;

    std::int64_t fixed_length() const { return length << edge_shift; }  ///< 2^-40 lengths
    double real_length() const { return static_cast<double>(length) * edge_unit; }
    /// First coordinate of cell c, 2^-26 (any integer c; cells go on beyond the box).
    std::int64_t edge(std::int64_t c) const {
        const Int128 n = Int128{c} * length;
        return static_cast<std::int64_t>(n >= 0 ? (n + cells - 1) / cells : -((-n) / cells));
    }
    /// The cell that holds a position (2^-40 lengths, may lie a few boxes outside): floor(x cells / length), exactly.
    int cell_of(std::int64_t position) const {
        const std::int64_t x = position >> edge_shift;
        auto c = static_cast<std::int64_t>(std::floor(static_cast<double>(x) * (cells / static_cast<double>(length))));
        const Int128 scaled = Int128{x} * cells;
        while (Int128{c} * length > scaled) --c;
        while (Int128{c + 1} * length <= scaled) ++c;
        return static_cast<int>(c);
    }
    double cell_width() const { return real_length() / cells; }
    /// Width of the narrowest cell: edges are whole numbers.
    double least_width() const { return static_cast<double>(length / cells) * edge_unit; }
};

/// The periodic or walled box and its uniform grid of cells.
struct Domain {
    int dimensions = 2;
    std::array<Axis, 3> axis{Axis{}, Axis{}, Axis{0, 1, false}};  ///< axes from `dimensions` on are not used
    int packed_bits = edge_bits;  ///< packed positions are in 2^-packed_bits lengths, edge_bits .. finest_packed_bits

    std::span<Axis> axes() { return {axis.data(), static_cast<std::size_t>(dimensions)}; }
    std::span<const Axis> axes() const { return {axis.data(), static_cast<std::size_t>(dimensions)}; }
    int packed_shift() const { return position_bits - packed_bits; }
    double packed_unit() const { return 1.0 / static_cast<double>(std::int64_t{1} << packed_bits); }
    balance::Grid grid() const {
        balance::Grid grid{{1, 1, 1}, {false, false, false}, dimensions};
        for (int a = 0; a < dimensions; ++a) grid.cells[a] = axis[a].cells, grid.periodic[a] = axis[a].periodic;
        return grid;
    }
    /// Widths of a cell along each axis, lengths; 1 along an axis that the domain does not have.
    std::array<double, 3> cell_widths() const {
        std::array<double, 3> width{1, 1, 1};
        for (int a = 0; a < dimensions; ++a) width[a] = axis[a].cell_width();
        return width;
    }
    /// In two dimensions the area.
    double volume() const {
        double v = 1;
        for (const Axis& a : axes()) v *= a.real_length();
        return v;
    }
};

/// The whole number of units of 2^-26 lengths nearest to `length` (lengths). All box sides are such numbers.
inline std::int64_t to_edge_units(double length) { return std::llround(std::ldexp(length, edge_bits)); }

/// A position as the kernels see it, or a shift of one. Each coordinate wraps on its own.
template <int D>
struct alignas(D == 2 ? 8 : 4) Packed {
    std::uint32_t at[D];
    friend bool operator==(const Packed&, const Packed&) = default;
};
/// A packed position from its coordinates, coordinate(axis). In two dimensions both coordinates are joined in a
/// register and stored at once. After two single stores, a load of the whole would have to wait.
template <int D, class Coordinate>
HD Packed<D> packed_from(Coordinate coordinate) {
    Packed<D> p;
    if constexpr (D == 2) {
        const std::uint64_t both =
            std::uint32_t{coordinate(0)} | static_cast<std::uint64_t>(std::uint32_t{coordinate(1)}) << 32;
        std::memcpy(&p, &both, sizeof p);
    } else {
        for (int a = 0; a < D; ++a) p.at[a] = coordinate(a);
    }
    return p;
}
/// Packs a position (2^-40): its coordinates shifted right.
template <int D>
HD Packed<D> pack(const std::int64_t (&x)[D], int shift) {
    return packed_from<D>([&](int a) { return static_cast<std::uint32_t>(x[a] >> shift); });
}
/// Adds a shift to a packed position.
template <int D>
HD Packed<D> shifted(const Packed<D>& p, const Packed<D>& shift) {
    return packed_from<D>([&](int a) { return p.at[a] + shift.at[a]; });
}

/// The radius (lengths) with which a search finds all neighbours within `radius`. It is wider because floats of packed
/// lengths round by at most 2^-24 of their size. The margin is far larger than that.
HD double searched_radius(double radius) { return radius * (1 + 1e-5); }

/// The number of cells that a distance of `radius` spans, rounded up; below 2^31. radius: lengths, up to 20. cell:
/// width of a cell, lengths, at least edge_unit.
inline int cells_within(double radius, double cell) { return static_cast<int>(std::ceil(radius / cell)); }

/// True if wrapped positions can never make two distant particles appear close. One particle lies in a cell of width
/// `cell`, the other in a cell within `radius` (lengths). Packed positions wrap at 2^(32 - packed_bits) lengths.
inline bool fits_before_wrap(int packed_bits, double radius, double cell) {
    const double wrap = std::ldexp(1.0, 32 - packed_bits);
    return cell * (1 + cells_within(radius, cell)) <= wrap - radius && cell <= wrap / 2;
}

/// Largest extent of a cluster along its column (2^-26 lengths). A cluster is a few consecutive particles of a column
/// that share a search for neighbours. Up to this extent, wrapped distances make no distant particle appear close.
inline std::int64_t most_extent(int packed_bits, double radius, double cell) {
    const double wrap = std::ldexp(1.0, 32 - packed_bits);
    return to_edge_units(std::min(wrap - 2 * radius - cell, wrap / 2)) - 2;
}

}  // namespace md
