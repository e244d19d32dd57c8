// SPDX-License-Identifier: MIT
// A single tile that covers a walled box: the kernels without ranks, plans or threads.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "md/initial.hpp"
#include "md/potential.hpp"
#include "md/random.hpp"
#include "md/tile.hpp"

namespace test {

inline md::Domain walled_box(double side, double cell) {
    md::Domain d;
    for (md::Axis& a : d.axis) a = {md::to_edge_units(side), static_cast<int>(side / cell), false};
    return d;
}

/// `n` x `n` particles near a square lattice of the given spacing, displaced at random by up to `jitter`, thermal
/// velocities.
inline std::vector<md::Particle> jittered(int n, double spacing, double jitter, double origin, double speed) {
    std::vector<md::Particle> out;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const std::int64_t id = i * n + j;
            const auto u = [&](std::uint64_t k) {
                return 2 * static_cast<double>(md::mix(1000 * id + k) >> 11) / (std::int64_t{1} << 53) - 1;
            };
            out.push_back({id, std::llrint((origin + i * spacing + jitter * u(1)) / md::position_unit),
                           std::llrint((origin + j * spacing + jitter * u(2)) / md::position_unit),
                           std::llrint(speed * u(3) / md::velocity_unit),
                           std::llrint(speed * u(4) / md::velocity_unit)});
        }
    return out;
}

/// The packed positions that a deck of this precision gets.
inline md::Domain packed_for(md::Domain d, md::Precision p) {
    d.packed_bits = p == md::Precision::mixed ? md::edge_bits : md::finest_packed_bits;
    return d;
}

/// What a pass gets that covers the whole domain.
inline md::StepArgs step_arguments(const md::Domain& domain, const md::PotentialSpec& potential,
                                   const md::ForceLimits& limits, md::Kick kick, double dt, bool sums = true) {
    md::StepArgs a{};
    a.potential = &potential;
    a.narrow_g2 = limits.narrow_g2.data();
    a.safe_r2 = limits.safe_r2;
    a.dt = dt;
    a.kick = kick;
    a.sum_kinetic = sums;
    for (int k = 0; k < 2; ++k) {
        a.cell[k] = domain.axis[k].cell_width();
        a.length[k] = domain.axis[k].fixed_length();
        a.wall[k][0] = a.wall[k][1] = !domain.axis[k].periodic;
    }
    return a;
}

struct OneTile {
    md::Domain domain;
    md::PotentialSpec potential;
    md::Precision precision;
    double skin = 0.3;
    const md::Kernels& kernels;
    md::ForceLimits limits;
    md::Tile tile;
    md::TileScratch scratch;
    std::vector<std::int64_t> fx, fy;

    OneTile(md::Domain d, md::PotentialSpec p, md::Precision precision_, const md::Kernels& k,
            const std::vector<md::Particle>& particles)
        : domain(packed_for(d, precision_)),
          potential(p),
          precision(precision_),
          kernels(k),
          limits(md::force_limits(p)),
          tile(domain, d.grid().box(), 2) {
        tile.insert(particles);
        rebuild();
    }
    void rebuild() {
        tile.sort(kernels, scratch);
        tile.lay_slots();
        tile.build_neighbour_lists(kernels, potential.cutoff + skin, scratch);
    }
    md::StepResult pass(md::Kick kick, double dt, bool sums = true) {
        md::StepArgs a = step_arguments(domain, potential, limits, kick, dt, sums);
        fx.resize(tile.size());
        fy.resize(tile.size());
        a.force_x = fx.data();
        a.force_y = fy.data();
        md::StepResult r;
        kernels.step_for(potential, precision)(tile.view(), a, r);
        if (kick == md::Kick::first || kick == md::Kick::middle) {
            tile.flip();
            const double limit = skin / 2 / domain.packed_unit();
            if (r.fault.kind == md::FaultKind::none && r.displacement2 > limit * limit) rebuild();
        }
        return r;
    }
    md::PairSums pairs() {
        md::PairSums s;
        kernels.pair_sums[md::potential_index(potential.kind)](tile.lists(), potential, s);
        return s;
    }
    /// Force on own particle i, in energy per length.
    std::array<double, 2> force(std::int64_t i) const {
        const double q = std::ldexp(1.0, -md::force_bits(precision));
        return {static_cast<double>(fx[i]) * q, static_cast<double>(fy[i]) * q};
    }
    std::uint64_t hash() const {
        std::uint64_t h = 0;
        for (std::int64_t i = 0; i < tile.size(); ++i) h += md::particle_hash(tile.particle(i));
        return h;
    }
};

/// Potential energy by a double loop over plain doubles, one particle moved by (dx, dy).
inline double brute_energy(const std::vector<md::Particle>& p, const md::PotentialSpec& spec, std::size_t moved,
                           double dx, double dy) {
    double e = 0;
    for (std::size_t j = 0; j < p.size(); ++j)
        if (j != moved) {
            const double x = static_cast<double>(p[moved].x - p[j].x) * md::position_unit + dx,
                         y = static_cast<double>(p[moved].y - p[j].y) * md::position_unit + dy;
            e += md::pair_value(spec, std::hypot(x, y)).energy;
        }
    return e;
}

}  // namespace test
