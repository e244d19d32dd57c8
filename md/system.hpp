// SPDX-License-Identifier: MIT
// The simulated system: a box with its faces, the initial particles (from bodies or a file), and the pair force.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "balance/words.hpp"
#include "md/body.hpp"
#include "md/potential_spec.hpp"
#include "md/thermostat_spec.hpp"
#include "md/wall.hpp"

namespace md {

enum class Boundary { periodic, reflecting };
constexpr auto words_of(Boundary) {
    return std::to_array<balance::Word<Boundary>>(
        {{Boundary::periodic, "periodic"}, {Boundary::reflecting, "reflecting"}});
}

struct System {
    int dimensions = 2;
    std::array<double, 3> box{0, 0, 0};  ///< lengths, from the origin on
    std::array<Boundary, 3> boundary{Boundary::periodic, Boundary::periodic, Boundary::periodic};
    std::uint64_t seed = 1;  ///< of thermal velocities and of places at random
    PotentialSpec potential;
    std::array<double, 3> gravity{0, 0, 0};  ///< acceleration, lengths / time^2; 0 along periodic axes
    std::vector<Wall> walls;                 ///< faces that do more than reflect
    Thermostat thermostat;
    StateFile from;                   ///< in place of slabs and bodies, where it names a file
    std::vector<Body> slabs, bodies;  ///< those that are slabs for a deck, and those of any shape and filling
};

/// Does something act on its particles besides each other that has a potential energy?
bool has_external_energy(const System& system);
/// Does a face move?
bool has_motion(const System& system);

/// Its slabs and then its other bodies, the order of their particles' ids.
std::vector<Body> all_bodies(const System& system);

/// Name of number i of them in messages ("slab 0", "body 1"), and its place in a deck ("system.slabs.0").
std::string body_name(const System& system, std::size_t i);
std::string body_path(const System& system, std::size_t i);

/// Number of particles of all of them, or of the file.
std::int64_t particle_count(const System& system);

}  // namespace md
