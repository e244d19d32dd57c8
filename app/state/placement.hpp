// SPDX-License-Identifier: MIT
// Where the particles of a file lie in the deck's box: pure functions of integers.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "app/state/particle_source.hpp"
#include "md/domain.hpp"
#include "md/particles.hpp"

namespace app {

struct Placement {
    md::Domain domain;
    std::array<std::int64_t, 3> lower{};   ///< corner of the file's box, 2^-40
    std::array<std::int64_t, 3> length{};  ///< of the file's box, 2^-40; that of the domain where the file says none
};

/// source: of the file. Lengths of its box are rounded as those of the domain.
Placement placement_of(const md::Domain& domain, const SourceHead& source);

/// Moves a position into the box, from the file's lower corner to the origin. A periodic axis adds whole lengths of the
/// file's box. A position at an upper wall moves by a quantum. Returns why it can't be done, empty if it was.
std::string place(md::Particle<3>& p, const Placement& placement);

}  // namespace app
