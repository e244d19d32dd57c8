// SPDX-License-Identifier: MIT
// Each particle follows from its number alone, so that every rank makes those of its own cells, whatever the partition.
#include "md/initial.hpp"

#include <xxhash.h>

#include <cmath>

#include "md/lattice.hpp"
#include "md/random.hpp"

namespace md {

std::int64_t particle_count(const Slab& slab) { return Lattice(slab).sites(); }

std::int64_t particle_count(const System& system) {
    std::int64_t n = 0;
    for (const Slab& slab : system.slabs) n += particle_count(slab);
    return n;
}

void make_particles(const Domain& domain, const Slab& slab, std::int64_t first_id, std::uint64_t seed,
                    const balance::Box& cells, std::vector<Particle>& out) {
    const double thermal = std::sqrt(slab.temperature) / velocity_unit;
    const auto edges = [&](const auto& corner) {
        std::array<std::int64_t, 2> at{};
        for (int a = 0; a < 2; ++a) at[a] = domain.axis[a].edge(corner[a]) << edge_shift;
        return at;
    };
    const auto add = [&](std::int64_t site, std::int64_t x, std::int64_t y) {
        const std::int64_t id = first_id + site;
        const std::array<double, 2> v = normal_pair(seed, id);
        out.push_back({id, x, y, std::llrint(thermal * v[0]), std::llrint(thermal * v[1])});
    };
    Lattice(slab).for_each_in(domain, edges(cells.lower), edges(cells.upper), add);
}

std::uint64_t particle_hash(const Particle& p) { return XXH64(&p, sizeof p, 0); }

std::int64_t wrapped(std::int64_t position, const Axis& axis) {
    if (!axis.periodic) return position;
    const std::int64_t length = axis.fixed_length(), r = position % length;
    return r < 0 ? r + length : r;
}

}  // namespace md
