// SPDX-License-Identifier: MIT
// A particle depends on its number alone. So each rank can make the particles of its own cells, for any partition.
#include "md/initial.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "md/random.hpp"

namespace md {

std::int64_t particle_count(const Body& body) {
    if (body.fill == Fill::random) return body.particles.value_or(std::llround(body.density * volume(body)));
    if (body.fill == Fill::file) return body.from.particles;
    return Lattice(body).sites();
}

std::vector<Body> all_bodies(const System& system) {
    std::vector<Body> all = system.slabs;
    all.insert(all.end(), system.bodies.begin(), system.bodies.end());
    return all;
}

std::string body_name(const System& system, std::size_t i) {
    const std::size_t slabs = system.slabs.size();
    return i < slabs ? "slab " + std::to_string(i) : "body " + std::to_string(i - slabs);
}

std::string body_path(const System& system, std::size_t i) {
    const std::size_t slabs = system.slabs.size();
    return i < slabs ? "system.slabs." + std::to_string(i) : "system.bodies." + std::to_string(i - slabs);
}

std::int64_t particle_count(const System& system) {
    std::int64_t n = system.from.particles;
    for (const Body& body : all_bodies(system)) n += particle_count(body);
    return n;
}

template <int D>
Particle<D> make_particle(const Body& body, std::uint64_t seed, std::int64_t id, const Point& at) {
    const double thermal = std::sqrt(body.temperature) / velocity_unit;
    const std::array<double, 2> in_plane = normal_pair(seed, id);
    const Point centre = Region(body).centre;
    const std::array<double, 3>& spin = body.spin;
    const auto from_centre = [&](int a) { return static_cast<double>(at[a] - centre[a]); };
    Particle<D> p{id, {}, {}};
    for (int a = 0; a < D; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        p.x[a] = at[a];
        // No overflow: decks limit the thermal velocity to 2^10 times a random number, and the velocity by spin to
        // 2^21, in units of 2^-40.
        p.v[a] = std::llrint(thermal * (a < 2 ? in_plane[a] : normal_pair(mix(seed), id)[0])) +
                 std::llrint(spin[b] * from_centre(c) - spin[c] * from_centre(b));
    }
    return p;
}
template Particle<2> make_particle(const Body&, std::uint64_t, std::int64_t, const Point&);
template Particle<3> make_particle(const Body&, std::uint64_t, std::int64_t, const Point&);

template <int D>
void make_particles(const Domain& domain, const Lattice& lattice, std::int64_t first_id, std::uint64_t seed,
                    const balance::Box& cells, std::vector<Particle<D>>& out) {
    const auto edges = [&](const auto& corner) {
        Point at{};
        for (int a = 0; a < D; ++a) at[a] = domain.axis[a].edge(corner[a]) << edge_shift;
        return at;
    };
    const auto add = [&](std::int64_t site, const Point& at) {
        out.push_back(make_particle<D>(lattice.body(), seed, first_id + site, at));
    };
    lattice.for_each_in(domain, edges(cells.lower), edges(cells.upper), add);
}
template void make_particles(const Domain&, const Lattice&, std::int64_t, std::uint64_t, const balance::Box&,
                             std::vector<Particle<2>>&);
template void make_particles(const Domain&, const Lattice&, std::int64_t, std::uint64_t, const balance::Box&,
                             std::vector<Particle<3>>&);

template <int D>
std::array<Int128, D> velocity_sum(std::span<const Particle<D>> particles) {
    std::array<Int128, D> sum{};
    for (const Particle<D>& p : particles)
        for (int a = 0; a < D; ++a) sum[a] += p.v[a];
    return sum;
}
template std::array<Int128, 2> velocity_sum<2>(std::span<const Particle<2>>);
template std::array<Int128, 3> velocity_sum<3>(std::span<const Particle<3>>);

template <int D>
std::array<std::int64_t, D> to_drift(const Body& body, std::span<const Int128, D> sum, std::int64_t n) {
    std::array<std::int64_t, D> change{};
    for (int a = 0; a < D; ++a)
        change[a] = std::llrint(body.velocity[a] / velocity_unit) -
                    static_cast<std::int64_t>(sum[a] / std::max<std::int64_t>(1, n));
    return change;
}
template std::array<std::int64_t, 2> to_drift<2>(const Body&, std::span<const Int128, 2>, std::int64_t);
template std::array<std::int64_t, 3> to_drift<3>(const Body&, std::span<const Int128, 3>, std::int64_t);

template <int D>
std::uint64_t particle_hash(const Particle<D>& p) {
    return XXH64(&p, sizeof p, 0);
}
template std::uint64_t particle_hash(const Particle<2>&);
template std::uint64_t particle_hash(const Particle<3>&);

std::int64_t wrapped(std::int64_t position, const Axis& axis) {
    if (!axis.periodic) return position;
    const std::int64_t length = axis.fixed_length(), r = position % length;
    return r < 0 ? r + length : r;
}

}  // namespace md
