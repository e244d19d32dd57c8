// SPDX-License-Identifier: MIT
// Particles that come, leave, and are sorted into cells.
#pragma once
#include <cstdint>

#include "gpu/kernels/view.hpp"
#include "md/kernels/sorting_key.hpp"

namespace gpu {

/// Puts new particles behind the others.
struct Append {
    const md::Particle* from;
    Particles to;
    std::int64_t first;

    HD void operator()(std::int64_t i) const {
        const md::Particle& p = from[i];
        to.id[first + i] = p.id;
        to.x[first + i] = p.x;
        to.y[first + i] = p.y;
        to.vx[first + i] = p.vx;
        to.vy[first + i] = p.vy;
    }
};

/// Ends of the block on each axis, 2^-26: [lower, upper).
struct Extent {
    std::int64_t lower[2], upper[2];

    HD bool holds(std::int64_t x, std::int64_t y) const {
        const std::int64_t cx = x >> md::edge_shift, cy = y >> md::edge_shift;
        return cx >= lower[0] && cx < upper[0] && cy >= lower[1] && cy < upper[1];
    }
};

/// Lists the particles that lie outside the block.
struct FindOutside {
    Particles particles;
    Extent block;
    std::int32_t *list, *count;

    HD void operator()(std::int64_t i) const {
        if (!block.holds(particles.x[i], particles.y[i])) list[atomic_next(count)] = static_cast<std::int32_t>(i);
    }
};

/// Copies the listed particles.
struct TakeListed {
    Particles particles;
    const std::int32_t* list;
    md::Particle* to;

    HD void operator()(std::int64_t k) const {
        const std::int32_t i = list[k];
        to[k] = {particles.id[i], particles.x[i], particles.y[i], particles.vx[i], particles.vy[i]};
    }
};

/// Of the particles behind the first `kept`, those that stay; and of the listed ones, the holes among the first. There
/// are as many of both.
struct FindMovers {
    Particles particles;
    Extent block;
    std::int64_t kept;
    std::int32_t *movers, *count;

    HD void operator()(std::int64_t k) const {
        const std::int64_t i = kept + k;
        if (block.holds(particles.x[i], particles.y[i])) movers[atomic_next(count)] = static_cast<std::int32_t>(i);
    }
};
struct FindHoles {
    const std::int32_t* list;
    std::int64_t kept;
    std::int32_t *holes, *count;

    HD void operator()(std::int64_t k) const {
        if (list[k] < kept) holes[atomic_next(count)] = list[k];
    }
};
struct FillHoles {
    Particles particles;
    const std::int32_t *movers, *holes, *count;

    HD void operator()(std::int64_t k) const {
        if (k >= *count) return;
        const std::int32_t from = movers[k], to = holes[k];
        particles.id[to] = particles.id[from];
        particles.x[to] = particles.x[from];
        particles.y[to] = particles.y[from];
        particles.vx[to] = particles.vx[from];
        particles.vy[to] = particles.vy[from];
    }
};

/// The bin of each particle, and its place there: bins are cells cut into slices, as in a tile. What does not lie in
/// the block is counted in `lost`.
struct FindBins {
    md::KeysArgs args;  ///< of it only x, y, edges, cells, per_cell and slices
    Extent block;
    std::int32_t *key, *place, *bins;
    std::uint32_t* lost;

    HD void operator()(std::int64_t i) const {
        const bool inside = block.holds(args.x[i], args.y[i]);
        if (!inside) atomic_max(lost, std::uint32_t{1});
        key[i] = inside ? static_cast<std::int32_t>(md::sorting_key(args, args.x[i], args.y[i])) : 0;
        place[i] = atomic_next(bins + key[i]);
    }
};

/// The order in which bins follow each other; `bins` are scanned.
struct FindOrder {
    const std::int32_t *key, *place, *bins;
    std::int32_t* order;

    HD void operator()(std::int64_t i) const { order[bins[key[i]] + place[i]] = static_cast<std::int32_t>(i); }
};

struct Reorder {
    const std::int64_t* from;
    const std::int32_t* order;
    std::int64_t* to;

    HD void operator()(std::int64_t i) const { to[i] = from[order[i]]; }
};

}  // namespace gpu
