// SPDX-License-Identifier: MIT
// A body of particles as a deck describes it: shape, filling and motion. A slab is a body that a lattice fills.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "balance/words.hpp"
#include "md/state_file.hpp"

namespace md {

/// How particles of a lattice lie: hexagonal in two dimensions; simple, body-centred and face-centred cubic and
/// hexagonal close-packed in three.
enum class LatticeKind { hexagonal, sc, bcc, fcc, hcp };
constexpr auto words_of(LatticeKind) {
    return std::to_array<balance::Word<LatticeKind>>({{LatticeKind::hexagonal, "hexagonal"},
                                                      {LatticeKind::sc, "sc"},
                                                      {LatticeKind::bcc, "bcc"},
                                                      {LatticeKind::fcc, "fcc"},
                                                      {LatticeKind::hcp, "hcp"}});
}

/// The part of the box between its corners that a body fills. A ball touches all faces of that box, which is a cube. In
/// two dimensions a ball is a disc in a square. A shell is a ball with a concentric spherical hole (a ring in two
/// dimensions). A cylinder touches the side faces of the box and ends at the two faces across its axis.
enum class BodyShape { box, ball, cylinder, shell };
constexpr auto words_of(BodyShape) {
    return std::to_array<balance::Word<BodyShape>>({{BodyShape::box, "box"},
                                                    {BodyShape::ball, "ball"},
                                                    {BodyShape::cylinder, "cylinder"},
                                                    {BodyShape::shell, "shell"}});
}

enum class AxisName { x, y, z };
constexpr auto words_of(AxisName) {
    return std::to_array<balance::Word<AxisName>>({{AxisName::x, "x"}, {AxisName::y, "y"}, {AxisName::z, "z"}});
}

/// Where the particles of a body come from: initial.hpp, or for a file its reader.
enum class Fill { lattice, random, file };
constexpr auto words_of(Fill) {
    return std::to_array<balance::Word<Fill>>(
        {{Fill::lattice, "lattice"}, {Fill::random, "random"}, {Fill::file, "file"}});
}

/// How the density of what is at random varies along an axis (profile.hpp).
enum class ProfileKind { uniform, linear, geometric, sinusoidal };
constexpr auto words_of(ProfileKind) {
    return std::to_array<balance::Word<ProfileKind>>({{ProfileKind::uniform, "uniform"},
                                                      {ProfileKind::linear, "linear"},
                                                      {ProfileKind::geometric, "geometric"},
                                                      {ProfileKind::sinusoidal, "sinusoidal"}});
}
struct Profile {
    ProfileKind kind = ProfileKind::uniform;
    AxisName axis = AxisName::x;
    std::array<double, 2> ends{1, 0};  // Linear: densities at the lower and the upper end, relative to each other.
    double ratio = 1;                  // Geometric: factor of the density over one length.
    double periods = 1;                // Sinusoidal: periods of cos^2 from end to end.
};

/// Particles of number density `density` (per area, or per volume). A lattice in a box has its first site at `lower`
/// and ends below `upper`. In another shape it has a site at the centre. With `cells` it fills the periodic box
/// without a seam, and the box follows from it (`box: fit`). In two dimensions z is not used.
struct Body {
    std::array<double, 3> lower{0, 0, 0}, upper{0, 0, 0};  // lengths; unused with `cells`
    BodyShape shape = BodyShape::box;                      // a box with `cells`
    // What a deck says of shapes that are round; the corners follow from it.
    std::array<double, 3> center{0, 0, 0};
    double radius = 0, inner_radius = 0;  // the latter of a shell
    AxisName axis = AxisName::z;          // of a cylinder
    double length = 0;                    // along it

    Fill fill = Fill::lattice;
    std::optional<std::array<long long, 3>> cells;  // of the lattice, along each axis
    LatticeKind lattice = LatticeKind::hexagonal;
    double density = 1.0;
    std::optional<std::int64_t> particles;  // At random: their number. The density follows from it.
    double spacing = 0;                     // At random: the smallest distance of two particles.
    Profile profile;                        // At random: `density` is then the mean.
    StateFile from;                         // From a file: its box is repeated from the lower corner on, and cut.

    double temperature = 0.0;
    std::array<double, 3> velocity{0, 0, 0};
    std::array<double, 3> spin{0, 0, 0};  // angular velocity about the centre; in two dimensions along z
};

/// The lattices that a body can have in this number of dimensions.
inline int dimensions_of(LatticeKind kind) { return kind == LatticeKind::hexagonal ? 2 : 3; }

/// Its volume, in two dimensions its area, from its corners.
double volume(const Body& body);

/// Speed of its fastest particle without thermal motion: drift, and spin at the point farthest from the centre.
double speed_of(const Body& body);

}  // namespace md
