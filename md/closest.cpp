// SPDX-License-Identifier: MIT
// Slabs do not overlap, so two of them, or one and an image, come close in a thin layer. Its particles are sorted along
// its longest side, and each is compared with those that the other slab has next to it.
#include "md/closest.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "md/lattice.hpp"
#include "md/potential.hpp"

namespace md {
namespace {

using Corner = std::array<double, 3>;

// A ball is its centre grown by its radius: a box of no extent, with round edges.
double roundness(const Slab& s) {
    double radius = s.shape == SlabShape::ball ? (s.upper[0] - s.lower[0]) / 2 : 0;
    for (int k = 1; k < dimensions_of(s.lattice); ++k) radius = std::min(radius, (s.upper[k] - s.lower[k]) / 2);
    return radius;
}

// Of two boxes, both together as round as this.
double distance(int dimensions, const Corner& lower_a, const Corner& upper_a, const Corner& lower_b,
                const Corner& upper_b, double round) {
    double square = 0, widest = 0;
    for (int k = 0; k < dimensions; ++k) {
        const double gap = std::max(lower_a[k] - upper_b[k], lower_b[k] - upper_a[k]) + round;
        widest = k == 0 ? gap : std::max(widest, gap);
        if (gap > 0) square += gap * gap;
    }
    return (widest > 0 ? std::sqrt(square) : widest) - round;
}

double distance(const Point& a, const Point& b) {
    return std::hypot(static_cast<double>(a[0] - b[0]), static_cast<double>(a[1] - b[1]),
                      static_cast<double>(a[2] - b[2])) *
           position_unit;
}

// The slab's particles in [lower, upper) (lengths), sorted along an axis.
std::vector<Point> particles_in(const Domain& domain, const Slab& slab, const Corner& lower, const Corner& upper,
                                int along) {
    Point low{}, high{};
    for (int a = 0; a < domain.dimensions; ++a) {
        low[a] = static_cast<std::int64_t>(std::floor(lower[a] / position_unit));
        high[a] = static_cast<std::int64_t>(std::ceil(upper[a] / position_unit)) + 1;
    }
    std::vector<Point> found;
    Lattice(slab).for_each_in(domain, low, high, [&](std::int64_t, const Point& at) { found.push_back(at); });
    std::sort(found.begin(), found.end(), [along](const Point& a, const Point& b) { return a[along] < b[along]; });
    return found;
}

// What two slabs have closest, the second one moved by `shift` boxes.
class Border {
public:
    Border(const Domain& domain, const Slab& a, const Slab& b, const std::array<int, 3>& shift, double radius)
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
        std::vector<Point> as = particles_in(domain_, a_, lower, upper, along);
        std::erase_if(as, [&](const Point& p) { return is_far(p, b_, moved_); });
        for (int k = 0; k < 3; ++k) lower[k] -= moved_[k], upper[k] -= moved_[k];
        std::vector<Point> bs = particles_in(domain_, b_, lower, upper, along);
        for (Point& p : bs)
            for (int k = 0; k < 3; ++k) p[k] += shift_[k];
        std::erase_if(bs, [&](const Point& p) { return is_far(p, a_, unmoved); });
        const auto reach = static_cast<std::int64_t>(radius_ / position_unit) + 1;
        auto first = bs.begin();
        for (const Point& p : as) {
            while (first != bs.end() && (*first)[along] < p[along] - reach) ++first;
            for (auto q = first; q != bs.end() && (*q)[along] <= p[along] + reach; ++q) use(p, distance(p, *q));
        }
    }

private:
    // From the slab, moved so far. Balls are next to others in a small part of the box in which both are.
    bool is_far(const Point& p, const Slab& slab, const Corner& moved) const {
        Corner at{};
        for (int k = 0; k < 3; ++k) at[k] = static_cast<double>(p[k]) * position_unit - moved[k];
        return distance(domain_.dimensions, at, at, slab.lower, slab.upper, roundness(slab)) > radius_ + edge_unit;
    }

    const Domain& domain_;
    const Slab &a_, &b_;
    const double radius_;
    Point shift_{};
    Corner moved_{}, lower_{}, upper_{};  // lower_, upper_: where both may be
};

std::optional<ClosePair> too_dense(std::span<const Slab> slabs, double radius) {
    const auto constant = [](const Slab& s) { return lattice_constant(s.lattice, s.density); };
    const auto densest = std::min_element(slabs.begin(), slabs.end(),
                                          [&](const Slab& a, const Slab& b) { return constant(a) < constant(b); });
    if (densest == slabs.end() || !(constant(*densest) < radius) || !Lattice(*densest).has_neighbours())
        return std::nullopt;
    const auto i = static_cast<std::size_t>(densest - slabs.begin());
    return ClosePair{{i, i}, densest->lower, constant(*densest), true};
}

// Calls use(shift) for the box itself and its periodic images, those that are mirrored through it before it.
template <class Use>
void for_each_image(const Domain& domain, Use use) {
    std::array<int, 3> images{};
    for (int a = 0; a < domain.dimensions; ++a) images[a] = domain.axis[a].periodic;
    for (int x = -images[0]; x <= images[0]; ++x)
        for (int y = -images[1]; y <= images[1]; ++y)
            for (int z = -images[2]; z <= images[2]; ++z) use(std::array<int, 3>{x, y, z});
}

}  // namespace

double distance(const Slab& a, const Slab& b) {
    return distance(dimensions_of(a.lattice), a.lower, a.upper, b.lower, b.upper, roundness(a) + roundness(b));
}

std::optional<ClosePair> closest_pair(const Domain& domain, std::span<const Slab> slabs, double radius) {
    if (const std::optional<ClosePair> dense = too_dense(slabs, radius)) return dense;
    std::optional<ClosePair> closest;
    constexpr std::array<int, 3> here{};
    for (std::size_t i = 0; i < slabs.size(); ++i)
        for (std::size_t j = i; j < slabs.size(); ++j)
            for_each_image(domain, [&](const std::array<int, 3>& image) {
                if (i == j && (slabs[i].cells || image <= here)) return;  // each pair once
                const Border border(domain, slabs[i], slabs[j], image, radius);
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
