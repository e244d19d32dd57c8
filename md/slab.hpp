// SPDX-License-Identifier: MIT
// What a deck says of a slab of particles; the lattice itself is made in initial.cpp.
#pragma once
#include <array>
#include <optional>

namespace md {

/// A hexagonal lattice of number density `density` (per area), either in the rectangle [lower, upper) or, with `cells`,
/// filling the periodic box without a seam (two particles a lattice cell; the box is then derived: `box: fit`).
struct Slab {
    std::array<double, 2> lower{0, 0}, upper{0, 0};  // lengths; unused with `cells`
    std::optional<std::array<long long, 2>> cells;   // lattice cells along x and y
    double density = 1.0;
    double temperature = 0.0;
    std::array<double, 2> velocity{0, 0};
};

}  // namespace md
