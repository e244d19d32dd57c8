// SPDX-License-Identifier: MIT
// How dense a body at random is along an axis, relative to where it is densest. Trials at random places are kept with
// this probability (random_filling.cpp).
#pragma once
#include "md/body.hpp"

namespace md {

/// The density where a coordinate (2^-40 lengths) along the profile's axis is `at`, between the body's corners; from 0
/// to 1. Only operations that IEEE rounds correctly are used, so it is the same on every machine.
double relative_density(const Body& body, std::int64_t at);

/// Mean of the relative density over all of the body, and mean of its square.
struct ProfileMeans {
    double first = 1, second = 1;

    /// The largest density divided by the mean one.
    double peak() const { return 1 / first; }
    /// The density around a particle in the mean over all particles, divided by the mean one.
    double crowding() const { return second / (first * first); }
};
ProfileMeans means_of(const Body& body);

}  // namespace md
