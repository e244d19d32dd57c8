// SPDX-License-Identifier: MIT
// Particles of an initial state that are too close to each other. On a lattice they lie a lattice constant apart, so
// only those at the borders of bodies that touch, or that touch an image, are looked at. What lies at random keeps its
// distance from everything (random_filling.hpp).
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "md/body.hpp"
#include "md/domain.hpp"
#include "md/kernels/kernels.hpp"

namespace md {

struct ClosePair {
    std::array<std::size_t, 2> body;  ///< their numbers, the lower one first; the same where one meets itself
    std::array<double, 3> at;         ///< position of the first body's particle, lengths
    double distance;                  ///< lengths
    bool in_lattice = false;          ///< neighbours on a lattice, which is too dense
    bool across_box = false;          ///< one of them is a periodic image
};

/// Distance of two bodies, lengths; below 0 where they overlap. Their lattices are of the same dimension. Of two
/// cylinders along unlike axes one is taken for the box around it, so that the distance may be too small.
double distance(const Body& a, const Body& b);

/// The closest pair of particles on lattices of these bodies of which one is nearer to the other than `radius`
/// (lengths); nothing where there is none. domain: its periodic axes make images.
std::optional<ClosePair> closest_pair(const Domain& domain, std::span<const Body> bodies, double radius);

/// Distances of a pair below which its force alone leaves the exact range: such a state cannot make its first step.
double least_distance(const PotentialSpec& potential, Precision precision);

/// Distance from which on, up to the cutoff, a pair of particles feels no more than a few times epsilon per length and
/// has no more than a few times epsilon of energy: a gap between bodies that disturbs nothing.
double calm_distance(const PotentialSpec& potential);

/// Largest distance at which a pair has more than this energy; 0 where none has.
double distance_of_energy(const PotentialSpec& potential, double energy);

}  // namespace md
