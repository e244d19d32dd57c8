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

/// Lists the particles that lie outside the blocks.
template <int D>
struct FindOutside {
    Particles<D> particles;
    Blocks<D> blocks;
    std::int32_t *list, *count;

    HD void operator()(std::int64_t i) const {
        if (!blocks.holder_of(particles, i)) list[atomic_next(count)] = static_cast<std::int32_t>(i);
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
    Blocks<D> blocks;
    std::int64_t kept;
    std::int32_t *movers, *count;

    HD void operator()(std::int64_t k) const {
        const std::int64_t i = kept + k;
        if (blocks.holder_of(particles, i)) movers[atomic_next(count)] = static_cast<std::int32_t>(i);
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
/// blocks are counted in `lost`.
template <int D>
struct FindBins {
    Particles<D> particles;
    Blocks<D> blocks;
    double per_cell[D];  ///< as in KeysArgs
    std::int32_t slices;
    std::int32_t *key, *place, *bins;
    std::uint32_t* lost;

    HD void operator()(std::int64_t i) const {
        const Block<D>* block = blocks.holder_of(particles, i);
        if (block) {
            key[i] = key_in(*block, i);
        } else {
            atomic_max(lost, std::uint32_t{1});
            key[i] = 0;
        }
        place[i] = atomic_next(bins + key[i]);
    }

private:
    HD std::int32_t key_in(const Block<D>& block, std::int64_t i) const {
        md::KeysArgs<D> args{};
        args.slices = slices;
        std::int64_t at[D];
        for (int a = 0; a < D; ++a) {
            args.edges[a] = block.edges[a] + block.cells.halo;
            args.cells[a] = block.cells.along[a];
            args.per_cell[a] = per_cell[a];
            at[a] = particles.x[a][i];
        }
        return block.first * slices + static_cast<std::int32_t>(md::sorting_key(args, at));
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
