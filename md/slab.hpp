// SPDX-License-Identifier: MIT
// What a deck says of a slab of particles; the lattice itself is made in initial.cpp.
#pragma once
#include <array>
#include <optional>

#include "balance/words.hpp"

namespace md {

/// How particles of a slab lie: hexagonal in two dimensions; simple, body-centred and face-centred cubic and hexagonal
/// close-packed in three.
enum class LatticeKind { hexagonal, sc, bcc, fcc, hcp };
constexpr auto words_of(LatticeKind) {
    return std::to_array<balance::Word<LatticeKind>>({{LatticeKind::hexagonal, "hexagonal"},
                                                      {LatticeKind::sc, "sc"},
                                                      {LatticeKind::bcc, "bcc"},
                                                      {LatticeKind::fcc, "fcc"},
                                                      {LatticeKind::hcp, "hcp"}});
}

/// A lattice of number density `density` (per area, or per volume), either in the box [lower, upper) or, with `cells`,
/// filling the periodic box without a seam (the box is then derived: `box: fit`). In two dimensions z is not used.
struct Slab {
    std::array<double, 3> lower{0, 0, 0}, upper{0, 0, 0};  // lengths; unused with `cells`
    std::optional<std::array<long long, 3>> cells;         // of the lattice, along each axis
    LatticeKind lattice = LatticeKind::hexagonal;
    double density = 1.0;
    double temperature = 0.0;
    std::array<double, 3> velocity{0, 0, 0};
};

}  // namespace md
