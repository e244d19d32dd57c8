// SPDX-License-Identifier: MIT
#include "md/profile.hpp"

#include <algorithm>
#include <cmath>

#include "md/domain.hpp"
#include "md/random.hpp"

namespace md {
namespace {

// At `way` of `length`, both from the body's lower end on, lengths.
double relative_density(const Profile& profile, double way, double length) {
    const auto [from, to] = profile.ends;
    switch (profile.kind) {
        case ProfileKind::uniform: return 1;
        case ProfileKind::linear: return (from + (to - from) * (way / length)) / std::max(from, to);
        case ProfileKind::geometric: {
            const double growth = portable_log(profile.ratio);
            return portable_exp(growth * (growth > 0 ? way - length : way));
        }
        case ProfileKind::sinusoidal: {
            const double c = portable_cos_pi(profile.periods * (way / length));
            return c * c;
        }
    }
    return 1;
}

// How much of the body lies at a place along its axis, from -1 to 1; in any unit.
double cross_section(const Body& body, int axis, double place) {
    const int dimensions = dimensions_of(body.lattice);
    const auto of_ball = [&](double radius, double at) {
        const double rest = std::max(0.0, radius * radius - at * at);
        return dimensions == 2 ? std::sqrt(rest) : rest;
    };
    switch (body.shape) {
        case BodyShape::box: return 1;
        case BodyShape::ball: return of_ball(1, place);
        case BodyShape::shell: return of_ball(1, place) - of_ball(body.inner_radius / body.radius, place);
        case BodyShape::cylinder:
            return axis == static_cast<int>(body.axis) ? 1 : std::sqrt(std::max(0.0, 1 - place * place));
    }
    return 1;
}

}  // namespace

double relative_density(const Body& body, std::int64_t at) {
    const auto axis = static_cast<std::size_t>(body.profile.axis);
    return relative_density(body.profile, static_cast<double>(at) * position_unit - body.lower[axis],
                            body.upper[axis] - body.lower[axis]);
}

ProfileMeans means_of(const Body& body) {
    if (body.profile.kind == ProfileKind::uniform) return {};
    constexpr int slices = 1 << 14;
    const int axis = static_cast<int>(body.profile.axis);
    const double length = body.upper[axis] - body.lower[axis];
    double all = 0, first = 0, second = 0;
    for (int i = 0; i < slices; ++i) {
        const double share = (i + 0.5) / slices, part = cross_section(body, axis, 2 * share - 1),
                     density = relative_density(body.profile, share * length, length);
        all += part, first += part * density, second += part * density * density;
    }
    return {first / all, second / all};
}

}  // namespace md
