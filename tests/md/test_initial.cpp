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

md::Domain domain(double x, double y) {
    md::Domain d;
    d.axis[0] = {md::to_edge_units(x), static_cast<int>(x / 2.5), true};
    d.axis[1] = {md::to_edge_units(y), static_cast<int>(y / 2.5), true};
    return d;
}

double distance2(const md::Particle& a, const md::Particle& b, const md::Domain& d) {
    double s = 0;
    for (int k = 0; k < 2; ++k) {
        const double length = d.axis[k].real_length();
        double x = static_cast<double>(k ? a.y - b.y : a.x - b.x) * md::position_unit;
        x -= length * std::round(x / length);
        s += x * x;
    }
    return s;
}

// The closest two of all particles, images included.
double brute_force(const md::Domain& d, const std::vector<md::Slab>& slabs) {
    std::vector<md::Particle> p;
    for (const md::Slab& slab : slabs) md::make_particles(d, slab, 0, 1, d.grid().box(), p);
    double least = 1e300;
    for (std::size_t i = 0; i < p.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            double s = 0;
            for (int k = 0; k < 2; ++k) {
                const double length = d.axis[k].real_length();
                double x = static_cast<double>(k ? p[i].y - p[j].y : p[i].x - p[j].x) * md::position_unit;
                if (d.axis[k].periodic) x -= length * std::round(x / length);
                s += x * x;
            }
            least = std::min(least, s);
        }
    return std::sqrt(least);
}

}  // namespace

TEST_CASE("a slab has its density, its ids are 0..n-1, and pieces make the whole") {
    const md::Domain d = domain(60, 50);
    const md::Slab slab{{5.0, 7.0}, {52.0, 41.0}, {}, 0.93, 0.5, {1, 2}};
    std::vector<md::Particle> whole, parts;
    md::make_particles(d, slab, 0, 9, d.grid().box(), whole);
    CHECK(static_cast<std::int64_t>(whole.size()) == md::particle_count(slab));
    CHECK(static_cast<double>(whole.size()) == Approx(0.93 * 47 * 34).epsilon(0.03));
    std::set<std::int64_t> ids;
    for (const md::Particle& p : whole) ids.insert(p.id);
    CHECK(ids.size() == whole.size());
    CHECK(*ids.begin() == 0);
    CHECK(*ids.rbegin() == static_cast<std::int64_t>(whole.size()) - 1);
    for (int x = 0; x < d.axis[0].cells; x += 5)
        for (int y = 0; y < d.axis[1].cells; y += 3)
            md::make_particles(d, slab, 0, 9,
                               {{x, y, 0}, {std::min(x + 5, d.axis[0].cells), std::min(y + 3, d.axis[1].cells), 1}},
                               parts);
    std::uint64_t a = 0, b = 0;
    for (const md::Particle& p : whole) a += md::particle_hash(p);
    for (const md::Particle& p : parts) b += md::particle_hash(p);
    CHECK(a == b);
    CHECK(parts.size() == whole.size());
}

TEST_CASE("a lattice that fills a periodic box has no seam: every site has six equal neighbours") {
    md::Slab slab;
    slab.cells = {{12, 7}};
    slab.density = 0.9;
    const double a = md::lattice_constant(0.9);
    const md::Domain d = domain(12 * a, 7 * a * std::sqrt(3.0));
    std::vector<md::Particle> p;
    md::make_particles(d, slab, 0, 1, d.grid().box(), p);
    REQUIRE(p.size() == 2 * 12 * 7);
    for (const md::Particle& i : p) {
        int near = 0;
        for (const md::Particle& j : p)
            if (i.id != j.id && distance2(i, j, d) < 1.2 * a * a) {
                ++near;
                CHECK(std::sqrt(distance2(i, j, d)) == Approx(a).epsilon(1e-6));
            }
        CHECK(near == 6);
    }
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
        for (md::Axis& axis : d.axis) axis.periodic = random() % 2;
        const bool whole = random() % 2;  // does the pair fill the box?
        const double left = whole ? 0 : between(0, 2), right = whole ? 20 : between(17, 20), middle = between(6, 14),
                     gap = random() % 2 ? 0 : between(0, 1);
        std::vector<md::Slab> slabs(2);
        slabs[0].lower = {left, 0}, slabs[0].upper = {middle, 15}, slabs[0].density = between(0.3, 1.2);
        slabs[1].lower = {middle + gap, between(0, 4)}, slabs[1].upper = {right, between(10, 15)};
        slabs[1].density = between(0.3, 1.2);
        if (random() % 2) std::swap(slabs[0], slabs[1]);
        if (random() % 2) {  // one above the other
            std::swap(d.axis[0], d.axis[1]);
            for (md::Slab& slab : slabs)
                std::swap(slab.lower[0], slab.lower[1]), std::swap(slab.upper[0], slab.upper[1]);
        }
        const double expected = brute_force(d, slabs);
        const auto pair = md::closest_pair(d, slabs, radius);
        CAPTURE(round, expected);
        REQUIRE(pair.has_value() == (expected < radius));
        if (!pair) continue;
        CHECK(pair->distance == Approx(expected).epsilon(1e-9));
        CHECK_FALSE(pair->in_lattice);
        ++found;
        across += pair->across_box;
        itself += pair->slab[0] == pair->slab[1];
        for (int k = 0; k < 2; ++k) {
            CHECK(pair->at[k] >= slabs[pair->slab[0]].lower[k] - 1e-9);
            CHECK(pair->at[k] < slabs[pair->slab[0]].upper[k] + 1e-9);
        }
    }
    CHECK((found > 50 && found < 190 && across > 10 && itself > 5));
}

TEST_CASE("a lattice that is too dense is named, and one that fills its box is left alone") {
    md::Slab slab{{0, 0}, {10, 10}, {}, 0.9, 0, {0, 0}};
    const md::Domain d = domain(60, 50);
    CHECK_FALSE(md::closest_pair(d, std::vector{slab}, 1.1));
    const auto dense = md::closest_pair(d, std::vector{slab}, 1.2);
    REQUIRE(dense);
    CHECK((dense->in_lattice && dense->distance == md::lattice_constant(0.9)));
    slab.upper = {0.5, 0.5};  // one particle
    CHECK_FALSE(md::closest_pair(d, std::vector{slab}, 1.2));
    slab.cells = {{12, 7}};
    const double a = md::lattice_constant(0.9);
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
