// SPDX-License-Identifier: MIT
// Bodies of all shapes: which sites of a lattice they hold, how far apart they are, and what fills them at random.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "md/closest.hpp"
#include "md/initial.hpp"
#include "md/profile.hpp"
#include "md/random.hpp"
#include "md/random_filling.hpp"
#include "md/region.hpp"

namespace {

using md::BodyShape;
using md::Point;

md::Domain domain(const std::vector<double>& sides, bool periodic = true) {
    md::Domain d;
    d.dimensions = static_cast<int>(sides.size());
    for (std::size_t a = 0; a < sides.size(); ++a)
        d.axis[a] = {md::to_edge_units(sides[a]), static_cast<int>(sides[a] / 2.5), periodic};
    return d;
}

// A body of this shape around a point: of a box half its sides, of a cylinder radius and half its length.
md::Body body(int dimensions, BodyShape shape, const std::array<double, 3>& centre, double radius, double other = 0,
              md::AxisName axis = md::AxisName::z) {
    md::Body b;
    b.lattice = dimensions == 2 ? md::LatticeKind::hexagonal : md::LatticeKind::fcc;
    b.shape = shape, b.center = centre, b.radius = radius, b.axis = axis;
    if (shape == BodyShape::shell) b.inner_radius = other;
    for (int a = 0; a < dimensions; ++a) {
        const double half = shape == BodyShape::cylinder && a == static_cast<int>(axis) ? other : radius;
        b.lower[a] = centre[a] - half, b.upper[a] = centre[a] + half;
    }
    return b;
}

double length(std::int64_t quanta) { return static_cast<double>(quanta) * md::position_unit; }

Point end_of(const md::Domain& d) {
    Point end{};
    for (int a = 0; a < d.dimensions; ++a) end[a] = d.axis[a].fixed_length();
    return end;
}

// Of two positions, or the nearest images of them.
double distance(const md::Domain& d, const Point& a, const Point& b) {
    double square = 0;
    for (int k = 0; k < d.dimensions; ++k) {
        double x = length(a[k] - b[k]);
        if (d.axis[k].periodic) x -= d.axis[k].real_length() * std::round(x / d.axis[k].real_length());
        square += x * x;
    }
    return std::sqrt(square);
}

// All lattices and then what is at random, on one rank.
struct Filled {
    std::vector<md::Body> bodies;
    std::vector<std::unique_ptr<md::Filling>> fillings;
    std::vector<const md::Filling*> others;
    std::vector<std::vector<Point>> points;  // by body
    std::vector<md::RandomFilling*> at_random;

    Filled(const md::Domain& d, std::vector<md::Body> given, std::uint64_t seed) : bodies(std::move(given)) {
        others.reserve(bodies.size());
        points.resize(bodies.size());
        for (std::size_t i = 0; i < bodies.size(); ++i)
            if (bodies[i].fill == md::Fill::lattice) {
                fillings.push_back(std::make_unique<md::LatticeFilling>(d, bodies[i]));
                others.push_back(fillings.back().get());
                fillings.back()->for_each_in({}, end_of(d), [&](const Point& p) { points[i].push_back(p); });
            }
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (bodies[i].fill != md::Fill::random) continue;
            auto filling = std::make_unique<md::RandomFilling>(d, bodies[i], i, seed, std::span(others));
            const auto wanted = static_cast<std::size_t>(md::particle_count(bodies[i]));
            std::vector<md::Placed> placed;
            for (int epochs = 1; placed.size() < wanted; epochs *= 2) {
                REQUIRE(epochs <= filling->most_epochs());
                placed.clear();
                for (std::int64_t b = 0; b < filling->blocks(); ++b)
                    for (const md::Placed& p : filling->placed(b, epochs)) placed.push_back(p);
            }
            std::sort(placed.begin(), placed.end(),
                      [](const md::Placed& a, const md::Placed& b) { return a.when < b.when; });
            filling->set_last(placed[wanted - 1].when);
            for (std::size_t k = 0; k < wanted; ++k) points[i].push_back(placed[k].at);
            at_random.push_back(filling.get());
            others.push_back(filling.get());
            fillings.push_back(std::move(filling));
        }
    }
};

md::Body at_random(md::Body b, double density, double spacing) {
    b.fill = md::Fill::random, b.density = density, b.spacing = spacing;
    return b;
}

// Does each body have its number, inside, and is nobody nearer than the spacing? And do pieces hold what blocks hold?
void check_filled(const md::Domain& d, const Filled& f) {
    for (std::size_t i = 0; i < f.bodies.size(); ++i) {
        if (f.bodies[i].fill != md::Fill::random) continue;
        CAPTURE(i);
        CHECK(static_cast<std::int64_t>(f.points[i].size()) == md::particle_count(f.bodies[i]));
        const md::Region region(f.bodies[i]);
        double least = 1e300;
        for (std::size_t j = 0; j < f.bodies.size(); ++j)
            for (const Point& p : f.points[i])
                for (const Point& q : f.points[j])
                    if (i != j || p != q) least = std::min(least, distance(d, p, q));
        for (const Point& p : f.points[i]) CHECK(region.contains(p));
        CHECK(least >= f.bodies[i].spacing);
        if (f.points[i].size() > 20) CHECK(least < 1.1 * f.bodies[i].spacing);  // they do come as near
    }
    std::size_t r = 0;
    for (std::size_t i = 0; i < f.bodies.size(); ++i) {
        if (f.bodies[i].fill != md::Fill::random) continue;
        const Point end = end_of(d);
        std::multiset<Point> pieces, whole(f.points[i].begin(), f.points[i].end());
        const std::array<std::int64_t, 3> n{3, 2, d.dimensions == 3 ? 2 : 1};
        for (int x = 0; x < n[0]; ++x)
            for (int y = 0; y < n[1]; ++y)
                for (int z = 0; z < n[2]; ++z) {
                    const Point piece{x, y, z};
                    Point lower{}, upper{};
                    for (int a = 0; a < d.dimensions; ++a)
                        lower[a] = end[a] / n[a] * piece[a],
                        upper[a] = piece[a] + 1 == n[a] ? end[a] : end[a] / n[a] * (piece[a] + 1);
                    f.at_random[r]->for_each_in(lower, upper, [&](const Point& p) { pieces.insert(p); });
                }
        CHECK(pieces == whole);
        ++r;
    }
}

}  // namespace

TEST_CASE("shells and cylinders hold the sites of a lattice that lie in them, with ids 0..n-1, whole or in pieces") {
    struct Case {
        int dimensions;
        BodyShape shape;
        md::AxisName axis;
    };
    using enum md::AxisName;
    const auto [dimensions, shape, axis] =
        GENERATE(Case{2, BodyShape::shell, z}, Case{3, BodyShape::shell, z}, Case{3, BodyShape::cylinder, x},
                 Case{3, BodyShape::cylinder, y}, Case{3, BodyShape::cylinder, z});
    CAPTURE(dimensions, static_cast<int>(shape), static_cast<int>(axis));
    const md::Domain d = domain(std::vector<double>(dimensions, 26));
    md::Body b = body(dimensions, shape, {13, 13, 13}, 9.87, 4.31, axis);
    b.density = 0.83;
    const md::Lattice lattice(b);
    const md::Region region(b);
    std::map<std::int64_t, Point> sites;
    lattice.for_each_in(d, {}, end_of(d), [&](std::int64_t id, const Point& p) {
        CHECK(region.contains(p));
        sites[id] = p;
    });
    REQUIRE(static_cast<std::int64_t>(sites.size()) == lattice.sites());
    CHECK((sites.begin()->first == 0 && sites.rbegin()->first == lattice.sites() - 1));
    // Of a cylinder up to a layer too many.
    CHECK(static_cast<double>(sites.size()) == Approx(0.83 * md::volume(b)).epsilon(0.08));

    md::Body ball = body(dimensions, BodyShape::ball, {13, 13, 13}, 12.9);  // has all of these sites, and no other
    ball.density = b.density;
    std::set<Point> inside, found;
    md::Lattice(ball).for_each_in(d, {}, end_of(d), [&](std::int64_t, const Point& p) {
        if (region.contains(p)) inside.insert(p);
    });
    for (const auto& [id, p] : sites) found.insert(p);
    CHECK(found == inside);

    std::map<std::int64_t, Point> pieces;
    for (std::int64_t begin = 0; begin < d.axis[0].fixed_length(); begin += std::int64_t{3} << md::position_bits) {
        Point lower{begin, 0, 0}, upper = end_of(d);
        upper[0] = std::min(upper[0], begin + (std::int64_t{3} << md::position_bits));
        lattice.for_each_in(d, lower, upper, [&](std::int64_t id, const Point& p) { pieces[id] = p; });
    }
    CHECK(pieces == sites);
}

TEST_CASE("the distance of two bodies is that of their nearest points, and below 0 where they share some") {
    std::mt19937 random(3);
    const auto between = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const std::array shapes{BodyShape::box, BodyShape::ball, BodyShape::cylinder, BodyShape::shell};
    int apart = 0, inside = 0, shared = 0;
    for (int round = 0; round < 300; ++round) {
        std::vector<md::Body> two;
        for (int k = 0; k < 2; ++k) {
            const bool small = k == 1 && round % 3 == 0;  // so that it may lie in a hole
            const double radius = small ? between(0.5, 1.5) : between(1.5, 4);
            two.push_back(body(3, round % 3 == 0 && k == 0 ? BodyShape::shell : shapes[random() % 4],
                               {between(4, small ? 7 : 11), between(4, 8), between(4, 8)}, radius, 0.8 * radius,
                               md::AxisName::y));
        }
        std::vector<std::vector<std::array<double, 3>>> points(2);
        bool meet = false;
        for (int k = 0; k < 2; ++k) {
            const md::Region own(two[k]), other(two[1 - k]);
            while (points[k].size() < 1500) {
                Point p{};
                for (int a = 0; a < 3; ++a)
                    p[a] = std::llrint(between(two[k].lower[a], two[k].upper[a]) / md::position_unit);
                if (!own.contains(p)) continue;
                points[k].push_back({length(p[0]), length(p[1]), length(p[2])});
                meet = meet || other.contains(p);
            }
        }
        double least = 1e300;
        for (const auto& p : points[0])
            for (const auto& q : points[1])
                least = std::min(least, (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                                            (p[2] - q[2]) * (p[2] - q[2]));
        least = std::sqrt(least);
        const double distance = md::distance(two[0], two[1]);
        CAPTURE(round, static_cast<int>(two[0].shape), static_cast<int>(two[1].shape), least, distance, meet);
        CHECK(distance == md::distance(two[1], two[0]));
        if (meet) CHECK(distance < 0);
        if (distance < 0) {
            ++shared;
            CHECK((meet || distance > -0.5));  // too little for points at random
            continue;
        }
        CHECK(least >= distance);
        CHECK(least < distance + 0.6);
        ++apart;
        bool around = two[0].shape == BodyShape::shell;
        for (int a = 0; a < 3; ++a) around = around && std::abs(two[0].center[a] - two[1].center[a]) < two[0].radius;
        inside += around;
    }
    CAPTURE(apart, inside, shared);
    CHECK((apart > 50 && inside > 5 && shared > 50));
}

TEST_CASE(
    "what lies at random has its number, its spacing also across the box and from others, and is the same in pieces") {
    SECTION("in the plane") {
        const md::Domain d = domain({24, 20});
        md::Body slab = body(2, BodyShape::box, {12, 3, 0}, 0);
        slab.lower = {0, 0, 0}, slab.upper = {24, 5, 0}, slab.density = 0.9;
        md::Body gas = at_random(body(2, BodyShape::box, {}, 0), 0.5, 0.9);  // touches the slab, also across the box
        gas.lower = {0, 5, 0}, gas.upper = {24, 13, 0};
        md::Body more = at_random(body(2, BodyShape::box, {}, 0), 0.1, 1.3);
        more.lower = {0, 13, 0}, more.upper = {24, 20, 0};
        check_filled(d, Filled(d, {gas, slab, more}, 7));
    }
    SECTION("so dense that what lies beyond the first margin matters") {
        const md::Domain d = domain({22, 18, 18});
        md::Body gas = at_random(body(3, BodyShape::box, {}, 0), 0.49, 1);
        gas.upper = {22, 18, 18};
        check_filled(d, Filled(d, {gas}, 7));
    }
    SECTION("in space, between walls and not") {
        const bool periodic = GENERATE(false, true);
        const md::Domain d = domain({14, 12, 12}, periodic);
        const md::Body shell = body(3, BodyShape::shell, {6, 6, 6}, 6, 4.5);
        const md::Body gas = at_random(body(3, BodyShape::ball, {6, 6, 6}, 4.5), 0.4, 1);
        md::Body rod = at_random(body(3, BodyShape::cylinder, {13, 6, 6}, 1, 6, md::AxisName::z), 0.5, 0.8);
        check_filled(d, Filled(d, {shell, gas, rod}, 7));
    }
    SECTION("thin, in a box that is little longer than the spacing, and two particles alone") {
        const md::Domain d = domain({5.1, 30});
        md::Body thin = at_random(body(2, BodyShape::box, {}, 0), 0.5, 1);
        thin.lower = {0, 1, 0}, thin.upper = {5.1, 1.7, 0};
        md::Body pair = at_random(body(2, BodyShape::ball, {2.5, 20, 0}, 1.2), 0, 1.5);
        pair.particles = 2, pair.density = 2 / md::volume(pair);
        check_filled(d, Filled(d, {thin, pair}, 7));
    }
}

TEST_CASE("places at random are uniform, of any seed others, and nothing but the spacing keeps them apart") {
    const md::Domain d = domain({40, 40});
    const double spacing = GENERATE(0.0, 0.5);
    md::Body gas = at_random(body(2, BodyShape::box, {}, 0), 1.0, spacing);
    gas.upper = {40, 40, 0};
    const std::vector<Point> one = Filled(d, {gas}, 1).points[0], other = Filled(d, {gas}, 2).points[0];
    CHECK(one.size() == 1600);
    std::vector<Point> common;
    const std::set<Point> a(one.begin(), one.end()), b(other.begin(), other.end());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    CHECK(common.empty());
    // Particles in 10 x 10 squares: mean 16, variance 16 without a spacing and less with one.
    double square = 0;
    int n = 0;
    for (int seed = 1; seed <= 5; ++seed) {
        std::array<int, 100> counts{};
        const Filled filled(d, {gas}, seed);
        for (const Point& p : filled.points[0])
            ++counts[static_cast<int>(length(p[0]) / 4) * 10 + static_cast<int>(length(p[1]) / 4)];
        for (const int c : counts) square += (c - 16.0) * (c - 16.0), ++n;
    }
    const double variance = square / n;
    if (spacing == 0) CHECK(variance == Approx(16 * 0.99).epsilon(0.2));  // its standard error is 6 %
    else CHECK((variance > 4 && variance < 12));
    // Pairs nearer than 0.5: pi / 4 x 0.25 around each of 1600 where places are independent.
    int near = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) near += distance(d, one[i], one[j]) < 0.5;
    if (spacing == 0) CHECK(near == Approx(800 * std::acos(-1.0) * 0.25).epsilon(0.15));
    else CHECK(near == 0);
}

TEST_CASE("a spin turns the body as a whole, about its centre") {
    const md::Domain d = domain({20, 20, 20});
    md::Body b = body(3, BodyShape::ball, {9, 10, 11}, 5);
    b.spin = {0.3, -0.2, 0.5};
    const md::Region region(b);
    std::vector<md::Particle<3>> made;
    md::make_particles(d, md::Lattice(b), 0, 1, d.grid().box(), made);
    REQUIRE(made.size() > 400);
    for (const md::Particle<3>& p : made) {
        std::array<double, 3> r{}, v{};
        for (int a = 0; a < 3; ++a) r[a] = length(p.x[a] - region.centre[a]), v[a] = length(p.v[a]);
        for (int a = 0; a < 3; ++a) {
            const int k = (a + 1) % 3, m = (a + 2) % 3;
            CHECK(v[a] == Approx(b.spin[k] * r[m] - b.spin[m] * r[k]).margin(1e-11));
        }
    }
    CHECK(md::speed_of(b) == Approx(5 * std::sqrt(0.38)));
}

TEST_CASE("a profile's functions are those of the library, to a few ulp") {
    for (double x = -30; x < 30; x += 0.0137) {
        CHECK(md::portable_exp(x) == Approx(std::exp(x)).epsilon(1e-14));
        CHECK(md::portable_log(std::exp(x)) == Approx(x).epsilon(1e-14).margin(1e-15));
        CHECK(md::portable_cos_pi(x) == Approx(std::cos(std::acos(-1.0) * x)).margin(1e-13));
    }
    CHECK(md::portable_exp(-5000) == 0);
}

TEST_CASE("particles at random follow a profile, in all shapes") {
    const int dimensions = GENERATE(2, 3);
    const auto shape = GENERATE(BodyShape::box, BodyShape::ball, BodyShape::shell, BodyShape::cylinder);
    const auto kind = GENERATE(md::ProfileKind::linear, md::ProfileKind::geometric, md::ProfileKind::sinusoidal);
    if (dimensions == 2 && shape == BodyShape::cylinder) return;
    const md::Domain d = domain(dimensions == 2 ? std::vector<double>{40, 40} : std::vector<double>{40, 40, 40});
    md::Body b = at_random(body(dimensions, shape, {20, 20, dimensions == 2 ? 0.0 : 20.0}, 16, 9), 1, 0);
    b.profile.kind = kind, b.profile.axis = md::AxisName::y;
    b.profile.ends = {0.2, 1.5}, b.profile.ratio = 1.08, b.profile.periods = 1.5;
    b.particles = 8000;
    b.density = 8000 / md::volume(b);
    const double lower = b.lower[1], side = b.upper[1] - lower;
    const auto density = [&](double u) {  // not normalised
        switch (kind) {
            case md::ProfileKind::linear: return 0.2 + 1.3 * u;
            case md::ProfileKind::geometric: return std::pow(1.08, u * side);
            default: return std::pow(std::cos(std::acos(-1.0) * 1.5 * u), 2);
        }
    };
    // How much of the body there is at each height, by places that are uniform in it.
    constexpr int bins = 16;
    std::array<double, bins> expected{}, found{};
    double all = 0, squares = 0, largest = 0, n = 0;
    std::mt19937_64 random(7);
    const md::Region region(b);
    for (int k = 0; k < 2'000'000; ++k) {
        Point at{};
        for (int a = 0; a < dimensions; ++a)
            at[a] = std::uniform_int_distribution<std::int64_t>(region.lower[a], region.upper[a] - 1)(random);
        if (!region.contains(at)) continue;
        const double u = (length(at[1]) - lower) / side, w = density(u);
        expected[static_cast<int>(u * bins)] += w;
        all += w, squares += w * w, n += 1;
    }
    for (int k = 0; k <= 1000; ++k) largest = std::max(largest, density(k / 1000.0));
    const md::ProfileMeans means = md::means_of(b);
    CHECK(means.first == Approx(all / n / largest).epsilon(5e-3));
    CHECK(means.crowding() == Approx(squares / n / (all / n * all / n)).epsilon(5e-3));
    const Filled filled(d, {b}, 5);
    for (const Point& p : filled.points[0]) ++found[static_cast<int>((length(p[1]) - lower) / side * bins)];
    double chi2 = 0;
    for (int k = 0; k < bins; ++k) {
        const double e = expected[k] / all * 8000;
        chi2 += (found[k] - e) * (found[k] - e) / std::max(e, 1.0);
    }
    CAPTURE(dimensions, static_cast<int>(shape), static_cast<int>(kind));
    CHECK(chi2 < 15 + 5 * std::sqrt(30.0));
}

TEST_CASE("particles at random keep their distance from bodies that are solid, and from their images") {
    const md::Domain d = domain({40, 40});
    md::Body liquid = body(2, BodyShape::ball, {36, 20, 0}, 4);
    liquid.fill = md::Fill::file;
    md::Body gas = at_random(body(2, BodyShape::box, {}, 0), 0.6, 0.8);
    gas.upper = {32, 40, 0};
    md::RandomFilling filling(d, gas, 1, 5, {}, {liquid});
    int near = 0, n = 0;
    for (std::int64_t k = 0; k < filling.blocks(); ++k)
        for (const md::Placed& p : filling.placed(k, 16)) {
            const double from_centre = distance(d, p.at, {std::int64_t{36} << 40, std::int64_t{20} << 40, 0});
            CHECK(from_centre >= 4.8 - 1e-9);
            near += from_centre < 5.2, ++n;
        }
    CHECK(n > 500);
    CHECK(near > 0);  // on both sides of it, and through the boundary
}
