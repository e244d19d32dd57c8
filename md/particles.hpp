// SPDX-License-Identifier: MIT
// Particles in exact integers: one by one, as they migrate, and as the arrays that the kernels go through.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "md/buffers.hpp"

namespace md {

/// One particle in exact integers: what migrates, and what a state is made of.
template <int D>
struct Particle {
    std::int64_t id;
    std::int64_t x[D];  ///< 2^-40 lengths; in [0, box) but between rebuilds
    std::int64_t v[D];  ///< 2^-40 lengths per time
};

/// The particles of a tile. The arrays are readable up to `padding` elements beyond the last particle.
template <int D>
struct ParticleArrays {
    std::int64_t size = 0;
    std::vector<std::int64_t> id, x[D], v[D];  ///< as in Particle

    Particle<D> get(std::int64_t i) const {
        Particle<D> p{id[i], {}, {}};
        for (int a = 0; a < D; ++a) p.x[a] = x[a][i], p.v[a] = v[a][i];
        return p;
    }
    void set(std::int64_t i, const Particle<D>& p) {
        id[i] = p.id;
        for (int a = 0; a < D; ++a) x[a][i] = p.x[a], v[a][i] = p.v[a];
    }
    void move(std::int64_t from, std::int64_t to) {
        if (from == to) return;
        id[to] = id[from];
        for (int a = 0; a < D; ++a) x[a][to] = x[a][from], v[a][to] = v[a][from];
    }
    void resize(std::int64_t n) {
        size = n;
        for (auto* array : arrays()) fit(*array, n + padding);
    }
    std::array<std::vector<std::int64_t>*, 2 * D + 1> arrays() {
        std::array<std::vector<std::int64_t>*, 2 * D + 1> all{&id};
        for (int a = 0; a < D; ++a) all[1 + a] = &x[a], all[1 + D + a] = &v[a];
        return all;
    }
    std::int64_t bytes() const { return (2 * D + 1) * bytes_of(id); }
};

}  // namespace md
