// SPDX-License-Identifier: MIT
// A few particles that a pass can or cannot follow, and which of them it has to name.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "md/kernels/kernels.hpp"
#include "md/tile.hpp"

namespace test {

template <int D>
struct FaultCase {
    const char* name;
    md::PotentialSpec spec;
    std::vector<md::Particle<D>> particles;
    double dt;
    md::FaultKind fault;
    std::int64_t id;
};

/// A particle at rest but for its velocity v along x; lengths. In three dimensions z is 8.
template <int D = 2>
md::Particle<D> particle_at(std::int64_t id, double x, double y, double v) {
    const double at[] = {x, y, 8};
    md::Particle<D> p{id, {}, {}};
    for (int a = 0; a < D; ++a) p.x[a] = std::llrint(at[a] / md::position_unit);
    p.v[0] = std::llrint(v / md::velocity_unit);
    return p;
}

/// In a box that is periodic along x and at least 14 long. last_x: a place 0.5 before that of x = 0.05, around the
/// edge.
template <int D = 2>
std::vector<FaultCase<D>> fault_cases(double last_x) {
    const auto at = particle_at<D>;
    md::PotentialSpec steep{"mie"};
    steep.own[0] = 64, steep.own[1] = 62;
    const auto none = md::FaultKind::none, force = md::FaultKind::force_range, speed = md::FaultKind::speed,
               velocity = md::FaultKind::velocity;
    return {
        {"calm", {}, {at(7, 8, 8, 1), at(5, 5, 8, 1), at(3, 12, 8, 1)}, 0.001, none, INT64_MAX},
        {"close, but not too close", {}, {at(7, 8, 8, 0), at(5, 8.52, 8, 0), at(3, 12, 8, 1)}, 1e-6, none, INT64_MAX},
        {"too close", {}, {at(7, 8, 8, 0), at(5, 8.5, 8, 0), at(3, 12, 8, 1)}, 1e-6, force, 5},
        {"too close across the edge", {}, {at(7, 0.05, 8, 0), at(5, last_x, 8, 0), at(3, 12, 8, 1)}, 1e-6, force, 5},
        {"in one place", {}, {at(7, 8, 8, 0), at(0, 8, 8, 0), at(3, 12, 8, 1)}, 0.001, force, 0},
        {"infinite in floats", steep, {at(7, 8, 8, 0), at(5, 8.01, 8, 0), at(3, 12, 8, 1)}, 0.001, force, 5},
        {"kicked too hard", {}, {at(7, 8, 8, 0), at(5, 8.52, 8, 0), at(3, 12, 8, 0)}, 1.0, force, 5},
        {"further than a cell", {}, {at(7, 8, 8, 1000), at(5, 5, 8, 900), at(3, 12, 8, 1)}, 0.004, speed, 5},
        {"faster than 51 bits", {}, {at(7, 8, 8, 3000), at(5, 5, 8, 2500), at(3, 12, 8, 1)}, 1e-6, velocity, 5}};
}

}  // namespace test
