// SPDX-License-Identifier: MIT
// What is simulated: a box, what its faces do, the slabs of particles that it starts with, and the force between them.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "balance/words.hpp"
#include "md/potential_spec.hpp"
#include "md/slab.hpp"

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
    std::uint64_t seed = 1;  ///< of the thermal velocities
    PotentialSpec potential;
    std::vector<Slab> slabs;
};

/// Number of particles of all slabs.
std::int64_t particle_count(const System& system);

}  // namespace md
