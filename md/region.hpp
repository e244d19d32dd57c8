// SPDX-License-Identifier: MIT
// The shape of a body in exact integers, so that a particle lies in it or not whatever computes it.
#pragma once
#include <array>
#include <cstdint>

#include "md/body.hpp"
#include "md/domain.hpp"

namespace md {

using Point = std::array<std::int64_t, 3>;  ///< 2^-40 lengths; in two dimensions z is 0

/// Lower faces belong to it, and upper ones do not; what is round ends before its radius, and a hole before its own.
struct Region {
    explicit Region(const Body& body);

    bool contains(const Point& at) const;

    int dimensions;
    Point lower{}, upper{}, centre{};    ///< Corners of the box around it, and its middle.
    std::array<bool, 3> round{};         ///< Axes that count for the distance from the centre (all axes of a ball).
    std::int64_t radius = 0, inner = 0;  ///< 2^-40 lengths; 0: none.
};

/// Square of a length in 2^-40.
inline Int128 square(std::int64_t x) { return Int128{x} * x; }

}  // namespace md
