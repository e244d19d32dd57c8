// SPDX-License-Identifier: MIT
// A single tile that covers a walled box: the kernels without ranks, plans or threads.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "md/external.hpp"
#include "md/initial.hpp"
#include "md/potential.hpp"
#include "md/random.hpp"
#include "md/tile.hpp"

namespace test {

inline md::Domain walled_box(double side, double cell, int dimensions = 2) {
    md::Domain d;
    d.dimensions = dimensions;
    for (md::Axis& a : d.axes()) a = {md::to_edge_units(side), static_cast<int>(side / cell), false};
    return d;
}

/// `n` particles a side near a square or cubic lattice of the given spacing, displaced at random by up to `jitter`,
/// thermal velocities.
template <int D = 2>
std::vector<md::Particle<D>> jittered(int n, double spacing, double jitter, double origin, double speed) {
    std::vector<md::Particle<D>> out;
    const int all = D == 2 ? n * n : n * n * n;
    for (int id = 0; id < all; ++id) {
        const auto u = [&](std::uint64_t k) {
            return 2 * static_cast<double>(md::mix(1000 * id + k) >> 11) / (std::int64_t{1} << 53) - 1;
        };
        md::Particle<D> p{id, {}, {}};
        for (int a = 0, site = id; a < D; ++a) {
            const int place = D - 1 - a;  // the last axis changes first
            p.x[place] = std::llrint((origin + site % n * spacing + jitter * u(1 + place)) / md::position_unit);
            p.v[place] = std::llrint(speed * u(1 + D + place) / md::velocity_unit);
            site /= n;
        }
        out.push_back(p);
    }
    return out;
}

/// The packed positions that a deck of this precision gets.
inline md::Domain packed_for(md::Domain d, md::Precision p) {
    d.packed_bits = p == md::Precision::mixed ? md::edge_bits : md::finest_packed_bits;
    return d;
}

inline const md::External only_pairs;

/// What a pass gets that covers the whole domain. external must stay.
inline md::StepArgs step_arguments(const md::Domain& domain, const md::PotentialSpec& potential,
                                   const md::ForceLimits& limits, md::Kick kick, double dt, bool sums = true,
                                   const md::External& external = only_pairs, std::int64_t step = 0) {
    md::StepArgs a{};
    a.potential = &potential;
    a.narrow_g2 = limits.narrow_g2.data();
    a.safe_r2 = limits.safe_r2;
    a.dt = dt;
    a.kick = kick;
    a.sum_kinetic = sums;
    for (int k = 0; k < domain.dimensions; ++k) a.cell[k] = domain.axis[k].cell_width();
    external.tell(a, domain, domain.grid().box(), 1, step);
    return a;
}

template <int D>
struct OneTile {
    md::Domain domain;
    md::PotentialSpec potential;
    md::Precision precision;
    double skin = 0.3;
    md::External external;
    const md::Kernels& kernels;
    md::ForceLimits limits;
    md::Tile<D> tile;
    md::TileScratch scratch;
    std::vector<std::int64_t> f[D];

    OneTile(md::Domain d, md::PotentialSpec p, md::Precision precision_, const md::Kernels& k,
            const std::vector<md::Particle<D>>& particles)
        : domain(packed_for(d, precision_)),
          potential(p),
          precision(precision_),
          kernels(k),
          limits(md::force_limits(p)),
          tile(domain, d.grid().box(), 2, 2) {
        tile.insert(particles);
        rebuild();
    }
    void rebuild() {
        tile.sort(kernels, scratch);
        tile.lay_slots();
        tile.build_neighbour_lists(kernels, potential.cutoff + skin, scratch);
    }
    md::StepResult pass(md::Kick kick, double dt, bool sums = true) {
        md::StepArgs a = step_arguments(domain, potential, limits, kick, dt, sums, external);
        for (int k = 0; k < D; ++k) {
            f[k].resize(tile.size());
            a.force[k] = f[k].data();
        }
        md::StepResult r;
        md::kernels_of<D>(kernels).step_for(potential, precision)(tile.view(), a, r);
        if (kick == md::Kick::first || kick == md::Kick::middle) {
            tile.flip();
            const double limit = skin / 2 / domain.packed_unit();
            if (r.fault.kind == md::FaultKind::none && r.displacement2 > limit * limit) rebuild();
        }
        return r;
    }
    md::PairSums pairs() {
        md::PairSums s;
        md::kernels_of<D>(kernels).pair_sums[md::potential_index(potential.kind)](tile.lists(), potential, s);
        return s;
    }
    /// Force on own particle i, in energy per length.
    std::array<double, D> force(std::int64_t i) const {
        const double q = std::ldexp(1.0, -md::force_bits(precision));
        std::array<double, D> all{};
        for (int k = 0; k < D; ++k) all[k] = static_cast<double>(f[k][i]) * q;
        return all;
    }
    std::uint64_t hash() const {
        std::uint64_t h = 0;
        for (std::int64_t i = 0; i < tile.size(); ++i) h += md::particle_hash(tile.particle(i));
        return h;
    }
};

/// Potential energy of one particle by a loop over plain doubles, with it moved by so much.
template <int D>
double brute_energy(const std::vector<md::Particle<D>>& p, const md::PotentialSpec& spec, std::size_t moved,
                    const std::array<double, D>& by) {
    double e = 0;
    for (std::size_t j = 0; j < p.size(); ++j)
        if (j != moved) {
            double r2 = 0;
            for (int a = 0; a < D; ++a) {
                const double x = static_cast<double>(p[moved].x[a] - p[j].x[a]) * md::position_unit + by[a];
                r2 += x * x;
            }
            e += md::pair_value(spec, std::sqrt(r2)).energy;
        }
    return e;
}

}  // namespace test
