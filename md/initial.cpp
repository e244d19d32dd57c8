// SPDX-License-Identifier: MIT
// Each particle follows from its number alone, so that every rank makes those of its own cells, whatever the partition.
#include "md/initial.hpp"

#include <xxhash.h>

#include <cmath>

#include "md/random.hpp"

namespace md {

std::int64_t particle_count(const Slab& slab) { return Lattice(slab).sites(); }

std::int64_t particle_count(const System& system) {
    std::int64_t n = system.from.particles;
    for (const Slab& slab : system.slabs) n += particle_count(slab);
    return n;
}

template <int D>
void make_particles(const Domain& domain, const Lattice& lattice, std::int64_t first_id, std::uint64_t seed,
                    const balance::Box& cells, std::vector<Particle<D>>& out) {
    const double thermal = std::sqrt(lattice.slab().temperature) / velocity_unit;
    const auto edges = [&](const auto& corner) {
        Point at{};
        for (int a = 0; a < D; ++a) at[a] = domain.axis[a].edge(corner[a]) << edge_shift;
        return at;
    };
    const auto add = [&](std::int64_t site, const Point& at) {
        Particle<D> p{first_id + site, {}, {}};
        const std::array<double, 2> in_plane = normal_pair(seed, p.id);
        for (int a = 0; a < D; ++a) {
            p.x[a] = at[a];
            p.v[a] = std::llrint(thermal * (a < 2 ? in_plane[a] : normal_pair(mix(seed), p.id)[0]));
        }
        out.push_back(p);
    };
    lattice.for_each_in(domain, edges(cells.lower), edges(cells.upper), add);
}
template void make_particles(const Domain&, const Lattice&, std::int64_t, std::uint64_t, const balance::Box&,
                             std::vector<Particle<2>>&);
template void make_particles(const Domain&, const Lattice&, std::int64_t, std::uint64_t, const balance::Box&,
                             std::vector<Particle<3>>&);

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
