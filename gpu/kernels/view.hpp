// SPDX-License-Identifier: MIT
// What the kernels see of a zone. As in a tile, columns of cells run along y, one after the other; slots count the
// particles of the block with its halo in that order, own numbers those of the block alone.
#pragma once
#include <cstdint>

#include "gpu/atomics.hpp"
#include "md/kernels/integration.hpp"
#include "md/kernels/kernels.hpp"
#include "md/kernels/pair.hpp"
#include "md/tile.hpp"

namespace gpu {

inline constexpr int group = 32;  ///< particles whose rows lie side by side: a warp

/// Particles by own number.
struct Particles {
    std::int64_t *id, *x, *y, *vx, *vy;
};

/// The cells of a block, by number: column by column; the same with its halo.
struct Cells {
    std::int32_t columns, rows, halo;

    HD std::int64_t count() const { return std::int64_t{columns} * rows; }
    HD std::int32_t rows_with_halo() const { return rows + 2 * halo; }
    HD std::int32_t columns_with_halo() const { return columns + 2 * halo; }
    /// Number among the cells of the block with its halo of the block's cell `cell`.
    HD std::int32_t with_halo(std::int64_t cell) const {
        const auto column = static_cast<std::int32_t>(cell / rows), row = static_cast<std::int32_t>(cell % rows);
        return (column + halo) * rows_with_halo() + row + halo;
    }
};

/// Neighbours of each particle: the k-th of own number i is the slot element(i, k).
struct Rows {
    const std::int64_t* base;    ///< of each group: its first element
    const std::int32_t* length;  ///< by own number
    std::int32_t* slots;

    HD std::int32_t* row(std::int64_t i) const { return slots + base[i / group] + i % group; }
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
    Sum momentum[2], kinetic, energy, virial;
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
