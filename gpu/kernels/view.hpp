// SPDX-License-Identifier: MIT
// Views of a zone for kernels. As in a tile, columns of cells run along the last axis, one after the other. Slots count
// the particles of the first block with its halo in that order, then those of the next block. Own numbers count those
// of the blocks alone.
#pragma once
#include <cstdint>

#include "gpu/atomics.hpp"
#include "md/kernels/integration.hpp"
#include "md/kernels/kernels.hpp"
#include "md/tile.hpp"

namespace gpu {

inline constexpr int group = 32;  ///< particles whose rows lie side by side: a warp

/// Particles by own number.
template <int D>
struct Particles {
    std::int64_t *id, *x[D], *v[D];
};

/// The cells of one block, by number: column by column; the same with its halo.
template <int D>
struct Cells {
    std::int32_t along[D], halo;  ///< own cells along each axis; width of the halo around them

    HD std::int64_t count() const {
        std::int64_t n = 1;
        for (const std::int32_t k : along) n *= k;
        return n;
    }
    HD std::int32_t with_halo_along(int axis) const { return along[axis] + 2 * halo; }
    HD std::int64_t count_with_halo() const {
        std::int64_t n = 1;
        for (int a = 0; a < D; ++a) n *= with_halo_along(a);
        return n;
    }
    /// Place of own cell `cell` on an axis, counted from the halo's first one.
    HD void places(std::int64_t cell, std::int32_t (&place)[D]) const {
        for (int a = D - 1; a >= 0; --a) {
            place[a] = static_cast<std::int32_t>(cell % along[a]) + halo;
            cell /= along[a];
        }
    }
    /// Number among the cells of the block with its halo of the cell at these places.
    HD std::int32_t number(const std::int32_t (&place)[D]) const {
        std::int32_t n = 0;
        for (int a = 0; a < D; ++a) n = n * with_halo_along(a) + place[a];
        return n;
    }
    /// The same of the block's cell `cell`.
    HD std::int32_t with_halo(std::int64_t cell) const {
        std::int32_t place[D];
        places(cell, place);
        return number(place);
    }
};

/// A block of the zone. Cells of all blocks have numbers, block by block; cells with the halos have others.
template <int D>
struct Block {
    Cells<D> cells;
    std::int32_t first, first_with_halo;  ///< numbers of its first cells
    std::int64_t lower[D], upper[D];      ///< its ends on each axis, 2^-26: [lower, upper)
    const std::int64_t* edges[D];         ///< edges of the cells, with the halo's, along each axis, 2^-26

    HD bool holds(const Particles<D>& particles, std::int64_t i) const {
        bool all = true;
        for (int a = 0; a < D; ++a) {
            const std::int64_t x = particles.x[a][i] >> md::edge_shift;
            all = all && x >= lower[a] && x < upper[a];
        }
        return all;
    }
    /// Number, among the cells with the halos, of the cell with this number among those without.
    HD std::int32_t with_halo(std::int64_t cell) const { return first_with_halo + cells.with_halo(cell - first); }
};

/// The blocks of a zone.
template <int D>
struct Blocks {
    const Block<D>* all;
    std::int32_t count;

    /// The block that holds a particle; null: none.
    HD const Block<D>* holder_of(const Particles<D>& particles, std::int64_t i) const {
        for (std::int32_t b = 0; b < count; ++b)
            if (all[b].holds(particles, i)) return all + b;
        return nullptr;
    }
    /// The block with this cell.
    HD const Block<D>& of_cell(std::int64_t cell) const {
        std::int32_t low = 0;
        for (std::int32_t high = count; high - low > 1;) {
            const std::int32_t middle = (low + high) / 2;
            (all[middle].first <= cell ? low : high) = middle;
        }
        return all[low];
    }
};

/// Four neighbours of a particle, which a thread of a device reads and writes at once.
struct alignas(16) Four {
    static constexpr std::int32_t size = 4;
    std::int32_t slots[size];
};

/// Neighbours of each particle: four by four, row(i)[0], row(i)[group], ... of own number i. The last four are filled
/// up with the particle itself.
struct Rows {
    const std::int64_t* base;    ///< of each group: its first four
    const std::int32_t* length;  ///< by own number
    Four* fours;

    HD Four* row(std::int64_t i) const { return fours + base[i / group] + i % group; }
    /// Number of fours in a row of `length` neighbours.
    HD static std::int32_t fours_of(std::int32_t length) { return (length + Four::size - 1) / Four::size; }
};

/// Sums of a pass, all zero before it. A 128-bit sum is kept as sums of its terms' halves, modulo 2^64.
struct Totals {
    struct Sum {
        std::uint64_t high, low;
        HD void add(std::int64_t term) {
            atomic_add(&high, static_cast<std::uint64_t>(term >> 32));
            atomic_add(&low, static_cast<std::uint64_t>(term) & 0xffffffff);
        }
        md::Int128 value() const { return (md::Int128{static_cast<std::int64_t>(high)} << 32) + low; }
    };
    Sum momentum[3], kinetic, heat, work, external, energy, virial;
    std::uint64_t pairs;
    std::uint64_t fault;          ///< of the smallest id: larger than all others
    std::uint32_t displacement2;  ///< the bits of a float that is not negative are in the order of its values

    HD static std::uint64_t fault_of(md::FaultKind kind, std::int64_t id) {
        return ~(static_cast<std::uint64_t>(id) << 2 | static_cast<std::uint64_t>(kind));
    }
    md::Fault first_fault() const {
        if (fault == 0) return {};
        return {static_cast<md::FaultKind>(~fault & 3), static_cast<std::int64_t>(~fault >> 2)};
    }
};

}  // namespace gpu
