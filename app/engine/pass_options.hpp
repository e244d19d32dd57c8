// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "md/kernels/kernels.hpp"

namespace app {

/// Options of a pass over all particles, besides computing their forces.
struct PassOptions {
    md::Kick kick = md::Kick::none;
    bool sums = false;         ///< also add up energies and momenta at this whole step
    bool keep_forces = false;  ///< for force()
    std::int64_t step = 0;     ///< its number, by which faces move
};

}  // namespace app
