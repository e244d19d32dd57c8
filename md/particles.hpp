// SPDX-License-Identifier: MIT
// Particles in exact integers: one by one, as they migrate, and as the arrays that the kernels go through.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "md/buffers.hpp"

namespace md {

/// One particle in exact integers: what migrates, and what a state is made of.
struct Particle {
    std::int64_t id;
    std::int64_t x, y;    ///< 2^-40 lengths; in [0, box) but between rebuilds
    std::int64_t vx, vy;  ///< 2^-40 lengths per time
};

/// The particles of a tile. The arrays are readable up to `padding` elements beyond the last particle.
struct ParticleArrays {
    std::int64_t size = 0;
    std::vector<std::int64_t> id, x, y, vx, vy;  ///< as in Particle

    Particle get(std::int64_t i) const { return {id[i], x[i], y[i], vx[i], vy[i]}; }
    void set(std::int64_t i, const Particle& p) {
        id[i] = p.id;
        x[i] = p.x;
        y[i] = p.y;
        vx[i] = p.vx;
        vy[i] = p.vy;
    }
    void move(std::int64_t from, std::int64_t to) {
        if (from == to) return;
        id[to] = id[from];
        x[to] = x[from];
        y[to] = y[from];
        vx[to] = vx[from];
        vy[to] = vy[from];
    }
    void resize(std::int64_t n) {
        size = n;
        for (auto* v : arrays()) fit(*v, n + padding);
    }
    std::array<std::vector<std::int64_t>*, 5> arrays() { return {&id, &x, &y, &vx, &vy}; }
    std::int64_t bytes() const { return 5 * bytes_of(id); }
};

}  // namespace md
