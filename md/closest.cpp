// SPDX-License-Identifier: MIT
// Bodies do not overlap, so two of them, or one and an image, come close in a thin layer. Its particles are sorted
// along its longest side, and each is compared with those that the other body has next to it.
#include "md/closest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "balance/grid/for_each.hpp"
#include "md/lattice.hpp"
#include "md/potential.hpp"

namespace md {
namespace {

using Corner = std::array<double, 3>;

constexpr double nothing = -std::numeric_limits<double>::infinity();

// A ball is its centre grown by its radius, and a cylinder its axis grown by one in the plane across: boxes of no
// extent there, with round edges.
double roundness(const Body& body) {
    double radius = std::numeric_limits<double>::infinity();
    for (int k = 0; k < dimensions_of(body.lattice); ++k)
        if (!(body.shape == BodyShape::cylinder && k == static_cast<int>(body.axis)))
            radius = std::min(radius, (body.upper[k] - body.lower[k]) / 2);
    return body.shape == BodyShape::box ? 0 : radius;
}

bool is_ball(const Body& body) { return body.shape == BodyShape::ball || body.shape == BodyShape::shell; }

// Of the boxes around two bodies along axes of which along(k) is true, both together as round as this.
template <class Along>
double distance(const Body& a, const Body& b, double round, Along along) {
    double square = 0, widest = nothing;
    for (int k = 0; k < dimensions_of(a.lattice); ++k) {
        if (!along(k)) continue;
        const double gap = std::max(a.lower[k] - b.upper[k], b.lower[k] - a.upper[k]) + round;
        widest = std::max(widest, gap);
        if (gap > 0) square += gap * gap;
    }
    return (widest > 0 ? std::sqrt(square) : widest) - round;
}

// Across the cylinder's axis, and along it. A ball is taken for its centre, which is exact.
double from_cylinder(const Body& cylinder, Body other) {
    const double ball = is_ball(other) ? roundness(other) : 0;
    for (int k = 0; k < 3; ++k) other.lower[k] += ball, other.upper[k] -= ball;
    const int axis = static_cast<int>(cylinder.axis);
    const bool parallel = other.shape == BodyShape::cylinder && other.axis == cylinder.axis;
    const double round = roundness(cylinder) + (parallel ? roundness(other) : 0),
                 across = distance(cylinder, other, round, [axis](int k) { return k != axis; }),
                 along = distance(cylinder, other, 0, [axis](int k) { return k == axis; });
    const double both = std::max(across, along);
    return (both > 0 ? std::hypot(std::max(across, 0.0), std::max(along, 0.0)) : both) - ball;
}

// How far inside the hole of a shell a body lies.
double depth_in_hole(const Body& shell, const Body& body) {
    if (shell.shape != BodyShape::shell) return nothing;
    const double round = roundness(body);
    double farthest = 0, along_axis = 0;
    for (int k = 0; k < dimensions_of(shell.lattice); ++k) {
        const double centre = (shell.lower[k] + shell.upper[k]) / 2;
        const bool is_axis = body.shape == BodyShape::cylinder && k == static_cast<int>(body.axis);
        const double most = std::max(centre - body.lower[k], body.upper[k] - centre) - (is_axis ? 0 : round);
        (is_axis ? along_axis : farthest) += most * most;
    }
    return shell.inner_radius - std::hypot(std::sqrt(farthest) + round, std::sqrt(along_axis));
}

double distance(const Point& a, const Point& b) {
    return std::hypot(static_cast<double>(a[0] - b[0]), static_cast<double>(a[1] - b[1]),
                      static_cast<double>(a[2] - b[2])) *
           position_unit;
}

// The body's particles in [lower, upper) (lengths) that are wanted, sorted along an axis.
template <class Wanted>
std::vector<Point> particles_in(const Domain& domain, const Body& body, const Corner& lower, const Corner& upper,
                                int along, Wanted wanted) {
    Point low{}, high{};
    for (int a = 0; a < domain.dimensions; ++a) {
        low[a] = static_cast<std::int64_t>(std::floor(lower[a] / position_unit));
        high[a] = static_cast<std::int64_t>(std::ceil(upper[a] / position_unit)) + 1;
    }
    std::vector<Point> found;
    Lattice(body).for_each_in(domain, low, high, [&](std::int64_t, const Point& at) {
        if (wanted(at)) found.push_back(at);
    });
    std::sort(found.begin(), found.end(), [along](const Point& a, const Point& b) { return a[along] < b[along]; });
    return found;
}

// The closest pair of two bodies, the second one moved by `shift` boxes.
class Border {
public:
    Border(const Domain& domain, const Body& a, const Body& b, const std::array<int, 3>& shift, double radius)
        : domain_(domain), a_(a), b_(b), radius_(radius) {
        for (int k = 0; k < domain.dimensions; ++k) {
            shift_[k] = shift[k] * domain.axis[k].fixed_length();
            moved_[k] = static_cast<double>(shift_[k]) * position_unit;
            lower_[k] = std::max(a.lower[k], b.lower[k] + moved_[k]) - radius;
            upper_[k] = std::min(a.upper[k], b.upper[k] + moved_[k]) + radius;
        }
    }
    bool empty() const { return lower_[0] > upper_[0] || lower_[1] > upper_[1] || lower_[2] > upper_[2]; }

    template <class Use>
    void for_each_pair(Use use) const {
        constexpr Corner unmoved{};
        int along = domain_.dimensions - 1;  // the longest
        for (int k = along; k >= 0; --k)
            if (upper_[k] - lower_[k] > upper_[along] - lower_[along]) along = k;
        Corner lower = lower_, upper = upper_;
        const std::vector<Point> as =
            particles_in(domain_, a_, lower, upper, along, [&](const Point& p) { return !is_far(p, b_, moved_); });
        for (int k = 0; k < 3; ++k) lower[k] -= moved_[k], upper[k] -= moved_[k];
        const auto moved = [&](Point p) {
            for (int k = 0; k < 3; ++k) p[k] += shift_[k];
            return p;
        };
        std::vector<Point> bs = particles_in(domain_, b_, lower, upper, along,
                                             [&](const Point& p) { return !is_far(moved(p), a_, unmoved); });
        for (Point& p : bs) p = moved(p);
        const auto reach = static_cast<std::int64_t>(radius_ / position_unit) + 1;
        auto first = bs.begin();
        for (const Point& p : as) {
            while (first != bs.end() && (*first)[along] < p[along] - reach) ++first;
            for (auto q = first; q != bs.end() && (*q)[along] <= p[along] + reach; ++q) use(p, distance(p, *q));
        }
    }

private:
    // From the body, moved so far. Balls are next to others in a small part of the box in which both are.
    bool is_far(const Point& p, const Body& body, const Corner& moved) const {
        Body point;
        point.lattice = body.lattice;
        for (int k = 0; k < 3; ++k) point.lower[k] = static_cast<double>(p[k]) * position_unit - moved[k];
        point.upper = point.lower;
        return md::distance(point, body) > radius_ + edge_unit;
    }

    const Domain& domain_;
    const Body &a_, &b_;
    const double radius_;
    Point shift_{};
    Corner moved_{}, lower_{}, upper_{};  // lower_, upper_: where both may be
};

std::optional<ClosePair> too_dense(std::span<const Body> bodies, double radius) {
    std::optional<ClosePair> densest;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double constant = lattice_constant(bodies[i].lattice, bodies[i].density);
        if (bodies[i].fill == Fill::lattice && constant < (densest ? densest->distance : radius))
            densest = {{i, i}, bodies[i].lower, constant, true};
    }
    if (densest && !Lattice(bodies[densest->body[0]]).has_neighbours()) return std::nullopt;
    return densest;
}

}  // namespace

double distance(const Body& a, const Body& b) {
    const double apart = a.shape == BodyShape::cylinder ? from_cylinder(a, b)
                         : b.shape == BodyShape::cylinder
                             ? from_cylinder(b, a)
                             : distance(a, b, roundness(a) + roundness(b), [](int) { return true; });
    return std::max({apart, depth_in_hole(a, b), depth_in_hole(b, a)});
}

std::optional<ClosePair> closest_pair(const Domain& domain, std::span<const Body> bodies, double radius) {
    if (const std::optional<ClosePair> dense = too_dense(bodies, radius)) return dense;
    std::optional<ClosePair> closest;
    constexpr std::array<int, 3> here{};
    for (std::size_t i = 0; i < bodies.size(); ++i)
        for (std::size_t j = i; j < bodies.size(); ++j)
            balance::for_each_image(domain.grid(), 1, [&](const std::array<int, 3>& image) {
                if (bodies[i].fill != Fill::lattice || bodies[j].fill != Fill::lattice) return;
                if (i == j && (bodies[i].cells || image <= here)) return;  // each pair once
                const Border border(domain, bodies[i], bodies[j], image, radius);
                if (border.empty()) return;
                border.for_each_pair([&](const Point& p, double d) {
                    if (d >= (closest ? closest->distance : radius)) return;
                    const auto length = [](std::int64_t quanta) { return static_cast<double>(quanta) * position_unit; };
                    closest = {{i, j}, {length(p[0]), length(p[1]), length(p[2])}, d, false, image != here};
                });
            });
    return closest;
}

double least_distance(const PotentialSpec& potential, Precision precision) {
    const ForceLimits limits = force_limits(potential);
    const double r = std::sqrt(limits.safe_r2);
    if (r == 0 || precision == Precision::double_) return r;
    const double g = pair_value(potential, r * (1 - 1e-9)).force / r;  // narrow sums are not checked
    return g * g > limits.narrow_g2.front() ? r : 0;
}

double calm_distance(const PotentialSpec& potential) {
    const std::vector<double> calm{10 * potential.epsilon / std::min(1.0, potential.sigma)};
    return std::sqrt(smallest_safe_r2(potential, calm).front());
}

double distance_of_energy(const PotentialSpec& potential, double energy) {
    constexpr int samples = 1000;
    for (int i = samples - 1; i > 0; --i)
        if (const double r = potential.cutoff * i / samples; pair_value(potential, r).energy > energy) return r;
    return 0;
}

}  // namespace md
