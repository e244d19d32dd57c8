// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "md/closest.hpp"
#include "md/initial.hpp"
#include "md/lattice.hpp"
#include "md/potential.hpp"
#include "md/random.hpp"

namespace {

// A periodic box.
md::Domain domain(const std::vector<double>& sides) {
    md::Domain d;
    d.dimensions = static_cast<int>(sides.size());
    for (std::size_t a = 0; a < sides.size(); ++a)
        d.axis[a] = {md::to_edge_units(sides[a]), static_cast<int>(sides[a] / 2.5), true};
    return d;
}
md::Domain domain(double x, double y) { return domain(std::vector{x, y}); }
// The one that a slab with cells fills.
md::Domain box_of(const md::Body& slab) {
    const std::array<double, 3> box = md::fitted_box(slab);
    return domain(std::vector(box.begin(), box.begin() + md::dimensions_of(slab.lattice)));
}

template <int D>
double distance2(const md::Particle<D>& a, const md::Particle<D>& b, const md::Domain& d) {
    double s = 0;
    for (int k = 0; k < D; ++k) {
        const double length = d.axis[k].real_length();
        double x = static_cast<double>(a.x[k] - b.x[k]) * md::position_unit;
        if (d.axis[k].periodic) x -= length * std::round(x / length);
        s += x * x;
    }
    return s;
}

// The closest two of all particles, images included.
template <int D>
double brute_force(const md::Domain& d, const std::vector<md::Body>& slabs) {
    std::vector<md::Particle<D>> p;
    for (const md::Body& slab : slabs) md::make_particles(d, md::Lattice(slab), 0, 1, d.grid().box(), p);
    double least = 1e300;
    for (std::size_t i = 0; i < p.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) least = std::min(least, distance2(p[i], p[j], d));
    return std::sqrt(least);
}

// Are the ids 0..n-1, and do the pieces of the box make the same particles as the whole of it?
template <int D>
void check_ids_and_pieces(const md::Domain& d, const md::Body& slab, const std::vector<md::Particle<D>>& whole) {
    CHECK(static_cast<std::int64_t>(whole.size()) == md::particle_count(slab));
    std::set<std::int64_t> ids;
    for (const md::Particle<D>& p : whole) ids.insert(p.id);
    REQUIRE(ids.size() == whole.size());
    CHECK(*ids.begin() == 0);
    CHECK(*ids.rbegin() == static_cast<std::int64_t>(whole.size()) - 1);
    const balance::Box all = d.grid().box();
    const std::array<int, 3> piece{5, 3, 2};
    std::vector<md::Particle<D>> parts;
    for (int x = 0; x < all.upper[0]; x += piece[0])
        for (int y = 0; y < all.upper[1]; y += piece[1])
            for (int z = 0; z < all.upper[2]; z += piece[2])
                md::make_particles(d, md::Lattice(slab), 0, 9,
                                   balance::intersection(all, {{x, y, z}, {x + piece[0], y + piece[1], z + piece[2]}}),
                                   parts);
    std::uint64_t a = 0, b = 0;
    for (const md::Particle<D>& p : whole) a += md::particle_hash(p);
    for (const md::Particle<D>& p : parts) b += md::particle_hash(p);
    CHECK(a == b);
    CHECK(parts.size() == whole.size());
}

// Has every particle so many others a lattice constant away, and none nearer?
template <int D>
void check_neighbours(const md::Domain& d, const std::vector<md::Particle<D>>& p, double constant, int neighbours) {
    for (const md::Particle<D>& i : p) {
        int near = 0;
        for (const md::Particle<D>& j : p)
            if (i.id != j.id && distance2(i, j, d) < 1.2 * constant * constant) {
                ++near;
                CHECK(std::sqrt(distance2(i, j, d)) == Approx(constant).epsilon(1e-6));
            }
        CHECK(near == neighbours);
    }
}

}  // namespace

TEST_CASE("a slab has its density, its ids are 0..n-1, and pieces make the whole") {
    const md::Domain d = domain(60, 50);
    md::Body slab;
    slab.lower = {5.0, 7.0}, slab.upper = {52.0, 41.0};
    slab.density = 0.93, slab.temperature = 0.5, slab.velocity = {1, 2};
    std::vector<md::Particle<2>> whole;
    md::make_particles(d, md::Lattice(slab), 0, 9, d.grid().box(), whole);
    CHECK(static_cast<double>(whole.size()) == Approx(0.93 * 47 * 34).epsilon(0.03));
    check_ids_and_pieces(d, slab, whole);
}

TEST_CASE("a slab in space has its density, its ids are 0..n-1, and pieces make the whole") {
    using md::LatticeKind;
    const LatticeKind kind = GENERATE(LatticeKind::sc, LatticeKind::bcc, LatticeKind::fcc, LatticeKind::hcp);
    CAPTURE(static_cast<int>(kind));
    const md::Domain d = domain({30, 25, 28});
    md::Body slab;
    slab.lattice = kind;
    slab.lower = {1.3, 2.7, 4.1}, slab.upper = {27.0, 24.4, 26.5};
    slab.density = 0.93, slab.temperature = 0.5, slab.velocity = {1, 2, 3};
    std::vector<md::Particle<3>> whole;
    md::make_particles(d, md::Lattice(slab), 0, 9, d.grid().box(), whole);
    // Along each axis up to a layer too many.
    CHECK(static_cast<double>(whole.size()) == Approx(0.93 * 25.7 * 21.7 * 22.4).epsilon(0.1));
    check_ids_and_pieces(d, slab, whole);
    std::array<std::array<double, 3>, 3> correlation{};  // of velocities, which are thermal only
    for (const md::Particle<3>& p : whole)
        for (int a = 0; a < 3; ++a) {
            CHECK((p.x[a] >= std::llrint(slab.lower[a] / md::position_unit) - 1 &&
                   p.x[a] <= std::llrint(slab.upper[a] / md::position_unit)));
            for (int b = 0; b < 3; ++b)
                correlation[a][b] += static_cast<double>(p.v[a]) * md::velocity_unit * static_cast<double>(p.v[b]) *
                                     md::velocity_unit / static_cast<double>(whole.size());
        }
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) CHECK(correlation[a][b] == Approx(a == b ? 0.5 : 0.0).margin(0.03));
}

template <int D>
void check_ball(md::LatticeKind kind) {
    const md::Domain d = domain(D == 2 ? std::vector{30.0, 25.0} : std::vector{30.0, 25.0, 28.0});
    md::Body slab;
    slab.lattice = kind, slab.shape = md::BodyShape::ball, slab.density = 0.93, slab.temperature = 0.5;
    slab.lower = {1.3, 2.7, 0.4};
    const double radius = 10.65;
    for (int a = 0; a < D; ++a) slab.upper[a] = slab.lower[a] + 2 * radius;
    std::vector<md::Particle<D>> whole;
    md::make_particles(d, md::Lattice(slab), 0, 9, d.grid().box(), whole);
    const double pi = std::acos(-1.0), size = D == 2 ? pi * radius * radius : pi / 0.75 * std::pow(radius, 3);
    CHECK(static_cast<double>(whole.size()) == Approx(0.93 * size).epsilon(0.02));
    check_ids_and_pieces(d, slab, whole);

    // All of them inside, with opposite ones: exactly.
    md::Point centre{};
    for (int a = 0; a < D; ++a) {
        const std::int64_t lower = std::llrint(slab.lower[a] / md::position_unit);
        centre[a] = lower + (std::llrint(slab.upper[a] / md::position_unit) - lower) / 2;
    }
    std::set<md::Point> from_centre;
    for (const md::Particle<D>& p : whole) {
        md::Point at{};
        double square = 0;
        for (int a = 0; a < D; ++a) {
            at[a] = p.x[a] - centre[a];
            square += std::pow(static_cast<double>(at[a]) * md::position_unit, 2);
        }
        CHECK(square < radius * radius);
        from_centre.insert(at);
    }
    CHECK(from_centre.contains({0, 0, 0}));
    if (kind != md::LatticeKind::hcp)  // it has no such symmetry
        for (const md::Point& p : from_centre) CHECK(from_centre.contains({-p[0], -p[1], -p[2]}));

    // No site is missing: a box with the same sites has as many in the ball.
    md::Body around;
    around.lattice = kind, around.density = slab.density;
    around.cells = {{1, 1, 1}};
    const std::array<double, 3> side = md::fitted_box(around);
    around.cells.reset();
    md::Domain wide = domain(std::vector<double>(D, 200));
    for (int a = 0; a < D; ++a) around.lower[a] = 100 - 20 * side[a], around.upper[a] = 100 + 20 * side[a];
    std::int64_t inside = 0;
    md::Point end{};
    for (int a = 0; a < D; ++a) end[a] = wide.axis[a].fixed_length();
    md::Lattice(around).for_each_in(wide, {}, end, [&](std::int64_t, const md::Point& p) {
        double square = 0;
        for (int a = 0; a < D; ++a) square += std::pow(static_cast<double>(p[a]) * md::position_unit - 100, 2);
        inside += square < radius * radius;
    });
    CHECK(inside == md::particle_count(slab));

    for (int a = 0; a < D; ++a) slab.upper[a] = slab.lower[a] + 0.01;  // there is always one
    CHECK(md::particle_count(slab) == 1);
}

TEST_CASE("a ball has its density, is symmetric, has all sites within its radius, and pieces make the whole") {
    using md::LatticeKind;
    check_ball<2>(LatticeKind::hexagonal);
    for (const LatticeKind kind : {LatticeKind::sc, LatticeKind::bcc, LatticeKind::fcc, LatticeKind::hcp}) {
        CAPTURE(static_cast<int>(kind));
        check_ball<3>(kind);
    }
}

TEST_CASE("a lattice that fills a periodic box has no seam: every site has six equal neighbours") {
    md::Body slab;
    slab.cells = {{12, 7}};
    slab.density = 0.9;
    const double a = md::lattice_constant(slab.lattice, 0.9);
    const md::Domain d = domain(12 * a, 7 * a * std::sqrt(3.0));
    CHECK(d.axis[0].length == box_of(slab).axis[0].length);
    CHECK(d.axis[1].length == box_of(slab).axis[1].length);
    std::vector<md::Particle<2>> p;
    md::make_particles(d, md::Lattice(slab), 0, 1, d.grid().box(), p);
    REQUIRE(p.size() == 2 * 12 * 7);
    check_neighbours(d, p, a, 6);
}

TEST_CASE("a lattice in space that fills a periodic box has no seam either, and its density") {
    using md::LatticeKind;
    const auto [kind, neighbours] = GENERATE(std::pair{LatticeKind::sc, 6}, std::pair{LatticeKind::bcc, 8},
                                             std::pair{LatticeKind::fcc, 12}, std::pair{LatticeKind::hcp, 12});
    const double density = GENERATE(0.9, 0.013);
    CAPTURE(static_cast<int>(kind), density);
    md::Body slab;
    slab.lattice = kind;
    slab.cells = {{6, 4, 5}};
    slab.density = density, slab.temperature = 0.5;
    const double a = md::lattice_constant(kind, density);
    CHECK(md::lattice_density(kind, a) == Approx(density).epsilon(1e-14));
    const md::Domain d = box_of(slab);
    std::vector<md::Particle<3>> p;
    md::make_particles(d, md::Lattice(slab), 0, 9, d.grid().box(), p);
    REQUIRE(p.size() == static_cast<std::size_t>(6 * 4 * 5 * md::sites_of_cell(kind)));
    CHECK(static_cast<double>(p.size()) / d.volume() == Approx(density).epsilon(1e-6));
    check_neighbours(d, p, a, neighbours);
    check_ids_and_pieces(d, slab, p);
}

TEST_CASE("thermal velocities are normal") {
    double sum = 0, square = 0, fourth = 0;
    const int n = 200000;
    for (int i = 0; i < n; ++i)
        for (const double v : md::normal_pair(3, i)) sum += v, square += v * v, fourth += v * v * v * v;
    CHECK(sum / (2 * n) == Approx(0).margin(0.01));
    CHECK(square / (2 * n) == Approx(1).epsilon(0.01));
    CHECK(fourth / (2 * n) == Approx(3).epsilon(0.03));
    for (const double x : {1e-12, 0.001, 0.3, 0.7071, 0.99999})
        CHECK(md::portable_log(x) == Approx(std::log(x)).epsilon(1e-14));
}

TEST_CASE("the closest pair of slabs that touch is found, across the box too, as by comparing all") {
    std::mt19937 random(5);
    const auto between = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double radius = 0.8;
    int found = 0, across = 0, itself = 0;
    for (int round = 0; round < 200; ++round) {
        md::Domain d = domain(20, 15);
        for (md::Axis& axis : d.axes()) axis.periodic = random() % 2;
        const bool whole = random() % 2;  // does the pair fill the box?
        const double left = whole ? 0 : between(0, 2), right = whole ? 20 : between(17, 20), middle = between(6, 14),
                     gap = random() % 2 ? 0 : between(0, 1);
        std::vector<md::Body> slabs(2);
        slabs[0].lower = {left, 0}, slabs[0].upper = {middle, 15}, slabs[0].density = between(0.3, 1.2);
        slabs[1].lower = {middle + gap, between(0, 4)}, slabs[1].upper = {right, between(10, 15)};
        slabs[1].density = between(0.3, 1.2);
        if (random() % 2) std::swap(slabs[0], slabs[1]);
        if (random() % 2) {  // one above the other
            std::swap(d.axis[0], d.axis[1]);
            for (md::Body& slab : slabs)
                std::swap(slab.lower[0], slab.lower[1]), std::swap(slab.upper[0], slab.upper[1]);
        }
        const double expected = brute_force<2>(d, slabs);
        const auto pair = md::closest_pair(d, slabs, radius);
        CAPTURE(round, expected);
        REQUIRE(pair.has_value() == (expected < radius));
        if (!pair) continue;
        CHECK(pair->distance == Approx(expected).epsilon(1e-9));
        CHECK_FALSE(pair->in_lattice);
        ++found;
        across += pair->across_box;
        itself += pair->body[0] == pair->body[1];
        for (int k = 0; k < 2; ++k) {
            CHECK(pair->at[k] >= slabs[pair->body[0]].lower[k] - 1e-9);
            CHECK(pair->at[k] < slabs[pair->body[0]].upper[k] + 1e-9);
        }
    }
    CHECK((found > 50 && found < 190 && across > 10 && itself > 5));
}

TEST_CASE("the closest pair of slabs in space is found as by comparing all") {
    using md::LatticeKind;
    std::mt19937 random(6);
    const auto between = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double radius = 0.8;
    int found = 0, across = 0, itself = 0;
    for (int round = 0; round < 100; ++round) {
        md::Domain d = domain({11, 8, 6});
        for (md::Axis& axis : d.axes()) axis.periodic = random() % 2;
        std::vector<md::Body> slabs(2);
        for (md::Body& slab : slabs) {
            slab.lattice =
                std::array{LatticeKind::sc, LatticeKind::bcc, LatticeKind::fcc, LatticeKind::hcp}[random() % 4];
            slab.density = between(0.3, 1.2);
            slab.upper = {11, 8, 6};
        }
        const double middle = between(4, 7);
        slabs[0].lower = {between(0, 1), 0, 0}, slabs[0].upper[0] = middle;
        slabs[1].lower = {middle + (random() % 2 ? 0 : between(0, 1)), between(0, 3), between(0, 2)};
        slabs[1].upper[1] = between(5, 8);
        if (random() % 2) std::swap(slabs[0], slabs[1]);
        const int other = static_cast<int>(random() % 3);  // along which they follow each other
        std::swap(d.axis[0], d.axis[other]);
        for (md::Body& slab : slabs)
            std::swap(slab.lower[0], slab.lower[other]), std::swap(slab.upper[0], slab.upper[other]);
        const double expected = brute_force<3>(d, slabs);
        const auto pair = md::closest_pair(d, slabs, radius);
        CAPTURE(round, expected);
        REQUIRE(pair.has_value() == (expected < radius));
        if (!pair) continue;
        CHECK(pair->distance == Approx(expected).epsilon(1e-9));
        CHECK_FALSE(pair->in_lattice);
        ++found;
        across += pair->across_box;
        itself += pair->body[0] == pair->body[1];
        for (int k = 0; k < 3; ++k) {
            CHECK(pair->at[k] >= slabs[pair->body[0]].lower[k] - 1e-9);
            CHECK(pair->at[k] < slabs[pair->body[0]].upper[k] + 1e-9);
        }
    }
    CAPTURE(found, across, itself);
    CHECK((found > 20 && found < 100 && across > 5 && itself > 2));
}

// Balls and boxes at random that are next to each other, or at opposite faces of the box.
template <int D>
void check_closest_balls(int rounds) {
    std::mt19937 random(7);
    const auto between = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double radius = 1.2;
    int found = 0, across = 0, overlapping = 0, tried = 0;
    while (tried < rounds) {
        md::Domain d = domain(std::vector<double>(D, D == 2 ? 20 : 11));
        for (md::Axis& axis : d.axes()) axis.periodic = random() % 2;
        std::vector<md::Body> slabs(2);
        for (std::size_t s = 0; s < 2; ++s) {
            md::Body& slab = slabs[s];
            slab.lattice = D == 2         ? md::LatticeKind::hexagonal
                           : random() % 2 ? md::LatticeKind::fcc
                                          : md::LatticeKind::hcp;
            slab.shape = s == 0 || random() % 2 ? md::BodyShape::ball : md::BodyShape::box;
            slab.density = between(0.3, 0.6);
            const double length = d.axis[0].real_length(), side = between(0.2, 0.6) * length;
            for (int a = 0; a < D; ++a) {
                slab.lower[a] = between(0, length - side);
                slab.upper[a] = slab.lower[a] + side;
            }
        }
        const bool at_faces = random() % 16 == 0;
        if (const double side = slabs[1].upper[0] - slabs[1].lower[0]; at_faces)
            for (int a = 0; a < D; ++a) {  // opposite along x, at one height
                const double middle = (slabs[0].lower[a] + slabs[0].upper[a]) / 2;
                const double highest = d.axis[0].real_length() - side;
                slabs[1].lower[a] = a == 0 ? highest : std::clamp(middle - side / 2, 0.0, highest);
                slabs[1].upper[a] = slabs[1].lower[a] + side;
                if (a == 0) slabs[0].upper[0] -= slabs[0].lower[0], slabs[0].lower[0] = 0;
            }
        const double gap = md::distance(slabs[0], slabs[1]);
        CHECK(gap == md::distance(slabs[1], slabs[0]));
        if (gap < 0 || (gap > 0.5 && !at_faces)) continue;
        ++tried;
        const double expected = brute_force<D>(d, slabs);
        const auto pair = md::closest_pair(d, slabs, radius);
        CAPTURE(tried, expected);
        REQUIRE(pair.has_value() == (expected < radius));
        bool boxes_overlap = true;
        for (int a = 0; a < D; ++a)
            boxes_overlap =
                boxes_overlap && slabs[0].lower[a] < slabs[1].upper[a] && slabs[1].lower[a] < slabs[0].upper[a];
        overlapping += boxes_overlap;
        if (!pair) continue;
        CHECK(pair->distance == Approx(expected).epsilon(1e-9));
        CHECK((pair->across_box || pair->distance > gap - 1e-9));
        ++found;
        across += pair->across_box;
    }
    CAPTURE(found, across, overlapping);
    CHECK((found > rounds / 5 && found < rounds && across > 5 && overlapping > rounds / 10));
}

TEST_CASE("the closest pair of balls and slabs is found as by comparing all") {
    check_closest_balls<2>(200);
    check_closest_balls<3>(100);
}

TEST_CASE("the distance of balls and slabs is that of their surfaces, and below 0 where they overlap") {
    const auto slab = [](md::BodyShape shape, const std::array<double, 3>& lower, double side) {
        md::Body s;
        s.lattice = md::LatticeKind::fcc, s.shape = shape, s.lower = lower;
        for (int a = 0; a < 3; ++a) s.upper[a] = lower[a] + side;
        return s;
    };
    using enum md::BodyShape;
    CHECK(md::distance(slab(box, {0, 0, 0}, 2), slab(box, {2, 1, 1}, 2)) == 0);
    CHECK(md::distance(slab(box, {0, 0, 0}, 2), slab(box, {1.5, 1, 1}, 2)) == -0.5);
    CHECK(md::distance(slab(box, {0, 0, 0}, 2), slab(box, {5, 6, 1}, 2)) == 5);
    CHECK(md::distance(slab(ball, {0, 0, 0}, 2), slab(ball, {3, 4, 0}, 2)) == 3);
    CHECK(md::distance(slab(ball, {0, 0, 0}, 2), slab(ball, {1.5, 1, 0}, 2)) == Approx(std::sqrt(3.25) - 2));
    CHECK(md::distance(slab(ball, {0, 0, 0}, 2), slab(box, {1.7, 1.8, 0.5}, 1)) == Approx(std::sqrt(1.13) - 1));
    CHECK(md::distance(slab(ball, {0, 0, 0}, 2), slab(box, {-5, -5, 1.5}, 9)) == -0.5);
}

TEST_CASE("a lattice that is too dense is named, and one that fills its box is left alone") {
    md::Body slab;
    slab.upper = {10, 10};
    slab.density = 0.9;
    const md::Domain d = domain(60, 50);
    CHECK_FALSE(md::closest_pair(d, std::vector{slab}, 1.1));
    const auto dense = md::closest_pair(d, std::vector{slab}, 1.2);
    REQUIRE(dense);
    CHECK((dense->in_lattice && dense->distance == md::lattice_constant(slab.lattice, 0.9)));
    slab.upper = {0.5, 0.5};  // one particle
    CHECK_FALSE(md::closest_pair(d, std::vector{slab}, 1.2));
    slab.cells = {{12, 7}};
    const double a = md::lattice_constant(slab.lattice, 0.9);
    CHECK_FALSE(md::closest_pair(domain(12 * a, 7 * a * std::sqrt(3.0)), std::vector{slab}, 0.99 * a));
}

TEST_CASE("pairs below the least distance leave the exact range, others do not") {
    const md::PotentialSpec lj;
    for (const md::Precision precision : {md::Precision::mixed, md::Precision::double_}) {
        const double r = md::least_distance(lj, precision);
        CHECK(md::pair_value(lj, 0.999 * r).force > std::ldexp(1.0, 18));
        CHECK(md::pair_value(lj, 1.001 * r).force < std::ldexp(1.0, 18));
    }
    md::PotentialSpec soft;
    soft.softening = 0.75;
    CHECK(md::least_distance(soft, md::Precision::mixed) == 0);
    CHECK(md::calm_distance(lj) == Approx(1.04).margin(0.02));
    const double hot = md::distance_of_energy(lj, 100);
    CHECK((md::pair_value(lj, hot).energy > 100 && md::pair_value(lj, hot + 0.01).energy < 100));
}
