// SPDX-License-Identifier: MIT
// Initial states: lattices, or places at random, with thermal velocities. ids, positions and velocities depend on the
// deck alone. Every rank makes the particles of lattices that lie in its own cells; what is at random is made in blocks
// (random_filling.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/box.hpp"
#include "md/body.hpp"
#include "md/domain.hpp"
#include "md/lattice.hpp"
#include "md/system.hpp"
#include "md/tile.hpp"

namespace md {

/// Number of particles of a body, known without making them.
std::int64_t particle_count(const Body& body);

/// Particle `id` of a body at a place: its velocity is thermal (normal with variance `temperature`, mass 1), and that
/// of the body's spin. Drift and the body's mean are the caller's, who knows all of it.
template <int D>
Particle<D> make_particle(const Body& body, std::uint64_t seed, std::int64_t id, const Point& at);

/// Appends those particles of a lattice that lie in `cells`, as by make_particle(). Ids begin at first_id and follow
/// the lattice.
template <int D>
void make_particles(const Domain& domain, const Lattice& lattice, std::int64_t first_id, std::uint64_t seed,
                    const balance::Box& cells, std::vector<Particle<D>>& out);

/// Sum of velocities (2^-40).
template <int D>
std::array<Int128, D> velocity_sum(std::span<const Particle<D>> particles);

/// The shift that makes the mean velocity of a body's n particles its drift, to the next quantum. `sum` is the sum of
/// their velocities.
template <int D>
std::array<std::int64_t, D> to_drift(const Body& body, std::span<const Int128, D> sum, std::int64_t n);

/// Order-independent state hash: add these over all particles (positions wrapped into the box).
template <int D>
std::uint64_t particle_hash(const Particle<D>& p);

/// `position` (2^-40) moved into [0, length) on a periodic axis; unchanged on another.
std::int64_t wrapped(std::int64_t position, const Axis& axis);

}  // namespace md
