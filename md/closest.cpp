// SPDX-License-Identifier: MIT
// Slabs do not overlap, so two of them, or one and an image, come close along a thin strip. Its particles are sorted
// along the strip, and each is compared with those that the other slab has next to it.
#include "md/closest.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "md/lattice.hpp"
#include "md/potential.hpp"

namespace md {
namespace {

using Point = std::array<std::int64_t, 2>;  // 2^-40 lengths

double distance(const Point& a, const Point& b) {
    return std::hypot(static_cast<double>(a[0] - b[0]), static_cast<double>(a[1] - b[1])) * position_unit;
}

// The slab's particles in [lower, upper) (lengths), sorted along an axis.
std::vector<Point> particles_in(const Domain& domain, const Slab& slab, const std::array<double, 2>& lower,
                                const std::array<double, 2>& upper, int along) {
    Point low{}, high{};
    for (int a = 0; a < 2; ++a) {
        low[a] = static_cast<std::int64_t>(std::floor(lower[a] / position_unit));
        high[a] = static_cast<std::int64_t>(std::ceil(upper[a] / position_unit)) + 1;
    }
    std::vector<Point> found;
    Lattice(slab).for_each_in(domain, low, high, [&](std::int64_t, std::int64_t x, std::int64_t y) {
        found.push_back({x, y});
    });
    std::sort(found.begin(), found.end(), [along](const Point& a, const Point& b) { return a[along] < b[along]; });
    return found;
}

// What two slabs have closest, the second one moved by `shift` boxes.
class Border {
public:
    Border(const Domain& domain, const Slab& a, const Slab& b, const std::array<int, 2>& shift, double radius)
        : domain_(domain), a_(a), b_(b), radius_(radius) {
        for (int k = 0; k < 2; ++k) {
            shift_[k] = shift[k] * domain.axis[k].fixed_length();
            moved_[k] = static_cast<double>(shift_[k]) * position_unit;
            lower_[k] = std::max(a.lower[k], b.lower[k] + moved_[k]) - radius;
            upper_[k] = std::min(a.upper[k], b.upper[k] + moved_[k]) + radius;
        }
    }
    bool empty() const { return lower_[0] > upper_[0] || lower_[1] > upper_[1]; }

    template <class Use>
    void for_each_pair(Use use) const {
        const int along = upper_[0] - lower_[0] > upper_[1] - lower_[1] ? 0 : 1;
        std::array<double, 2> lower = lower_, upper = upper_;
        const std::vector<Point> as = particles_in(domain_, a_, lower, upper, along);
        for (int k = 0; k < 2; ++k) lower[k] -= moved_[k], upper[k] -= moved_[k];
        std::vector<Point> bs = particles_in(domain_, b_, lower, upper, along);
        for (Point& p : bs)
            for (int k = 0; k < 2; ++k) p[k] += shift_[k];
        const auto reach = static_cast<std::int64_t>(radius_ / position_unit) + 1;
        auto first = bs.begin();
        for (const Point& p : as) {
            while (first != bs.end() && (*first)[along] < p[along] - reach) ++first;
            for (auto q = first; q != bs.end() && (*q)[along] <= p[along] + reach; ++q) use(p, distance(p, *q));
        }
    }

private:
    const Domain& domain_;
    const Slab &a_, &b_;
    const double radius_;
    Point shift_{};
    std::array<double, 2> moved_{}, lower_{}, upper_{};  // lower_, upper_: where both may be
};

std::optional<ClosePair> too_dense(std::span<const Slab> slabs, double radius) {
    const auto densest = std::max_element(slabs.begin(), slabs.end(),
                                          [](const Slab& a, const Slab& b) { return a.density < b.density; });
    if (densest == slabs.end() || !(lattice_constant(densest->density) < radius) || !Lattice(*densest).has_neighbours())
        return std::nullopt;
    const auto i = static_cast<std::size_t>(densest - slabs.begin());
    return ClosePair{{i, i}, densest->lower, lattice_constant(densest->density), true};
}

}  // namespace

std::optional<ClosePair> closest_pair(const Domain& domain, std::span<const Slab> slabs, double radius) {
    if (const std::optional<ClosePair> dense = too_dense(slabs, radius)) return dense;
    std::optional<ClosePair> closest;
    const int images_x = domain.axis[0].periodic, images_y = domain.axis[1].periodic;
    for (std::size_t i = 0; i < slabs.size(); ++i)
        for (std::size_t j = i; j < slabs.size(); ++j)
            for (int x = -images_x; x <= images_x; ++x)
                for (int y = -images_y; y <= images_y; ++y) {
                    const bool image = x != 0 || y != 0;
                    if (i == j && (slabs[i].cells || x < 0 || (x == 0 && y <= 0))) continue;  // each pair once
                    const Border border(domain, slabs[i], slabs[j], {x, y}, radius);
                    if (border.empty()) continue;
                    border.for_each_pair([&](const Point& p, double d) {
                        if (d >= (closest ? closest->distance : radius)) return;
                        const auto length = [](std::int64_t quanta) {
                            return static_cast<double>(quanta) * position_unit;
                        };
                        closest = {{i, j}, {length(p[0]), length(p[1])}, d, false, image};
                    });
                }
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
