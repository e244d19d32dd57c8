// SPDX-License-Identifier: MIT
#include "md/region.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace md {

Region::Region(const Body& body) : dimensions(dimensions_of(body.lattice)) {
    for (int a = 0; a < dimensions; ++a) {
        lower[a] = std::llrint(body.lower[a] / position_unit);  // bodies lie within the box, so this is at most 2^60
        upper[a] = std::llrint(body.upper[a] / position_unit);
        centre[a] = lower[a] + (upper[a] - lower[a]) / 2;
        round[a] =
            body.shape != BodyShape::box && !(body.shape == BodyShape::cylinder && a == static_cast<int>(body.axis));
        if (!round[a]) continue;
        const std::int64_t half = std::max<std::int64_t>(1, (upper[a] - lower[a]) / 2);
        radius = radius == 0 ? half : std::min(radius, half);
    }
    if (body.shape == BodyShape::shell) inner = std::llrint(body.inner_radius / position_unit);
}

bool Region::contains(const Point& at) const {
    Int128 from_centre = 0;
    for (int a = 0; a < dimensions; ++a) {
        if (at[a] < lower[a] || at[a] >= upper[a]) return false;
        if (round[a]) from_centre += square(at[a] - centre[a]);
    }
    return radius == 0 || (from_centre < square(radius) && from_centre >= square(inner));
}

double volume(const Body& body) {
    const int dimensions = dimensions_of(body.lattice);
    double v = 1;
    for (int a = 0; a < dimensions; ++a) v *= body.upper[a] - body.lower[a];
    const double of_ball = std::numbers::pi / (dimensions == 2 ? 4 : 6);
    switch (body.shape) {
        case BodyShape::box: return v;
        case BodyShape::cylinder: return v * std::numbers::pi / 4;
        case BodyShape::ball: return v * of_ball;
        case BodyShape::shell: {
            double hole = of_ball;
            for (int a = 0; a < dimensions; ++a) hole *= 2 * body.inner_radius;
            return v * of_ball - hole;
        }
    }
    return v;
}

double speed_of(const Body& body) {
    const double drift = std::hypot(body.velocity[0], body.velocity[1], body.velocity[2]),
                 spin = std::hypot(body.spin[0], body.spin[1], body.spin[2]);
    if (spin == 0) return drift;
    double corner = 0, widest = 0;
    for (int a = 0; a < dimensions_of(body.lattice); ++a) {
        const double half = (body.upper[a] - body.lower[a]) / 2;
        corner = std::hypot(corner, half);
        widest = std::max(widest, half);
    }
    return drift + spin * (body.shape == BodyShape::ball || body.shape == BodyShape::shell ? widest : corner);
}

}  // namespace md
