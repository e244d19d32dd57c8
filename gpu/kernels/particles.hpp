// SPDX-License-Identifier: MIT
// Particles that come, leave, and are sorted into cells.
#pragma once
#include <cstdint>

#include "gpu/kernels/view.hpp"
#include "md/kernels/sorting_key.hpp"

namespace gpu {

/// Puts new particles behind the others.
template <int D>
struct Append {
    const md::Particle<D>* from;
    Particles<D> to;
    std::int64_t first;

    HD void operator()(std::int64_t i) const {
        to.id[first + i] = from[i].id;
        for (int a = 0; a < D; ++a) to.x[a][first + i] = from[i].x[a], to.v[a][first + i] = from[i].v[a];
    }
};

/// Ends of the block on each axis, 2^-26: [lower, upper).
template <int D>
struct Extent {
    std::int64_t lower[D], upper[D];

    HD bool holds(const Particles<D>& particles, std::int64_t i) const {
        bool all = true;
        for (int a = 0; a < D; ++a) {
            const std::int64_t x = particles.x[a][i] >> md::edge_shift;
            all = all && x >= lower[a] && x < upper[a];
        }
        return all;
    }
};

/// Lists the particles that lie outside the block.
template <int D>
struct FindOutside {
    Particles<D> particles;
    Extent<D> block;
    std::int32_t *list, *count;

    HD void operator()(std::int64_t i) const {
        if (!block.holds(particles, i)) list[atomic_next(count)] = static_cast<std::int32_t>(i);
    }
};

/// Copies the listed particles.
template <int D>
struct TakeListed {
    Particles<D> particles;
    const std::int32_t* list;
    md::Particle<D>* to;

    HD void operator()(std::int64_t k) const {
        const std::int32_t i = list[k];
        to[k].id = particles.id[i];
        for (int a = 0; a < D; ++a) to[k].x[a] = particles.x[a][i], to[k].v[a] = particles.v[a][i];
    }
};

/// The particles behind the first `kept` that stay, and the listed particles among the first, which leave holes. There
/// are as many of both.
template <int D>
struct FindMovers {
    Particles<D> particles;
    Extent<D> block;
    std::int64_t kept;
    std::int32_t *movers, *count;

    HD void operator()(std::int64_t k) const {
        const std::int64_t i = kept + k;
        if (block.holds(particles, i)) movers[atomic_next(count)] = static_cast<std::int32_t>(i);
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
template <int D>
struct FillHoles {
    Particles<D> particles;
    const std::int32_t *movers, *holes, *count;

    HD void operator()(std::int64_t k) const {
        if (k >= *count) return;
        const std::int32_t from = movers[k], to = holes[k];
        particles.id[to] = particles.id[from];
        for (int a = 0; a < D; ++a) {
            particles.x[a][to] = particles.x[a][from];
            particles.v[a][to] = particles.v[a][from];
        }
    }
};

/// The bin of each particle, and its place there. Bins are cells cut into slices, as in a tile. Particles outside the
/// block are counted in `lost`.
template <int D>
struct FindBins {
    Particles<D> particles;
    md::KeysArgs<D> args;  ///< of it only edges, cells, per_cell and slices
    Extent<D> block;
    std::int32_t *key, *place, *bins;
    std::uint32_t* lost;

    HD void operator()(std::int64_t i) const {
        const bool inside = block.holds(particles, i);
        if (!inside) atomic_max(lost, std::uint32_t{1});
        std::int64_t at[D];
        for (int a = 0; a < D; ++a) at[a] = particles.x[a][i];
        key[i] = inside ? static_cast<std::int32_t>(md::sorting_key(args, at)) : 0;
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
