// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <set>

#include "md/initial.hpp"
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
