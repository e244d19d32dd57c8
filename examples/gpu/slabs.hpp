// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "app/engine/setup.hpp"

struct Problem {
    const char* name;
    md::System system{};
    app::Method method{};
};

/// The collision of inputs/slab.yaml, larger or smaller.
inline Problem slabs(double particles) {
    Problem problem{"slab"};
    const double scale = std::sqrt(particles / 116700);
    problem.system.box = {560 * scale, 340 * scale};
    problem.system.seed = 42;
    md::Body left, right;
    left.lower = {40 * scale, 100 * scale}, left.upper = {180 * scale, 300 * scale}, left.velocity = {14, 0};
    right.lower = {left.upper[0] + 3, 30 * scale}, right.upper = {500 * scale, 310 * scale}, right.velocity = {-6, 0};
    left.temperature = right.temperature = 0.05;
    problem.system.slabs = {left, right};
    problem.method.dt = 0.0005;
    return problem;
}
