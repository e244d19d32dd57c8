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

/// What a slab fills of the box between its corners. The ball touches the faces of that box, which is a cube; in two
/// dimensions it is a disc in a square.
enum class SlabShape { box, ball };
constexpr auto words_of(SlabShape) {
    return std::to_array<balance::Word<SlabShape>>({{SlabShape::box, "box"}, {SlabShape::ball, "ball"}});
}

/// A lattice of number density `density` (per area, or per volume). It has its first site at `lower` and ends below
/// `upper`; or it is a ball with a site at its centre; or, with `cells`, it fills the periodic box without a seam (the
/// box is then derived: `box: fit`). In two dimensions z is not used.
struct Slab {
    std::array<double, 3> lower{0, 0, 0}, upper{0, 0, 0};  // lengths; unused with `cells`
    SlabShape shape = SlabShape::box;                      // a box with `cells`
    std::optional<std::array<long long, 3>> cells;         // of the lattice, along each axis
    LatticeKind lattice = LatticeKind::hexagonal;
    double density = 1.0;
    double temperature = 0.0;
    std::array<double, 3> velocity{0, 0, 0};
};

}  // namespace md
