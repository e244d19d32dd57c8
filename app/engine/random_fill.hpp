// SPDX-License-Identifier: MIT
// Particles of bodies that are filled at random: ranks share the blocks of each body, whoever owns their cells.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "md/domain.hpp"
#include "md/particles.hpp"
#include "md/system.hpp"

namespace app {

/// Calls take(particles) once for each body at random, on all ranks, with this rank's share of its particles. They lie
/// anywhere in the body. first_id: first id of each body of all_bodies(), and one more than the last id. Throws
/// UsageError if a body does not hold its particles. Collective.
template <int D>
void fill_at_random(const md::System& system, std::span<const md::Body> bodies, std::span<const std::int64_t> first_id,
                    const md::Domain& domain, const comm::Communicator& comm,
                    const std::function<void(const std::vector<md::Particle<D>>&)>& take);

}  // namespace app
