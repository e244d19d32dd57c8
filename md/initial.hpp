// SPDX-License-Identifier: MIT
// Initial states: lattices with thermal velocities. Every rank makes the particles of its own cells; ids,
// positions and velocities depend on the deck alone.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/domain.hpp"
#include "md/lattice.hpp"
#include "md/slab.hpp"
#include "md/system.hpp"
#include "md/tile.hpp"

namespace md {

/// Number of particles of a slab.
std::int64_t particle_count(const Slab& slab);

/// Appends those particles of the lattice's slab that lie in `cells`. Ids begin at first_id and follow the lattice.
/// Velocities are thermal only (normal with variance `temperature`, mass 1): drift and the slab's mean are the
/// caller's, who knows all of it.
template <int D>
void make_particles(const Domain& domain, const Lattice& lattice, std::int64_t first_id, std::uint64_t seed,
                    const balance::Box& cells, std::vector<Particle<D>>& out);

/// Order-independent state hash: add these over all particles (positions wrapped into the box).
template <int D>
std::uint64_t particle_hash(const Particle<D>& p);

/// `position` (2^-40) moved into [0, length) on a periodic axis; unchanged on another.
std::int64_t wrapped(std::int64_t position, const Axis& axis);

}  // namespace md
