// SPDX-License-Identifier: MIT
// Slots: where they begin, and what is in those of own particles, ghosts and images.
#pragma once
#include <cstdint>

#include "gpu/kernels/view.hpp"

namespace gpu {

/// Particles in the blocks' cells, among the counts of the cells with the halos. `bins` are scanned.
template <int D>
struct CountCells {
    Blocks<D> blocks;
    const std::int32_t* bins;
    std::int32_t slices;
    std::int32_t* counts;

    HD void operator()(std::int64_t cell) const {
        counts[blocks.of_cell(cell).with_halo(cell)] = bins[(cell + 1) * slices] - bins[cell * slices];
    }
};

/// to[k] = from[list[k]].
struct Gather {
    const std::int32_t *from, *list;
    std::int32_t* to;

    HD void operator()(std::int64_t k) const { to[k] = from[list[k]]; }
};
/// to[list[k]] = from[k].
struct Scatter {
    const std::int32_t *from, *list;
    std::int32_t* to;

    HD void operator()(std::int64_t k) const { to[list[k]] = from[k]; }
};

/// Slots of own particles, and the cell of each.
template <int D>
struct LayOwn {
    Blocks<D> blocks;
    const std::int32_t* bins;  ///< scanned
    std::int32_t slices;
    const std::int32_t* first_slot;  ///< of the cells with the halo
    std::int32_t *slot, *cell_of;

    HD void operator()(std::int64_t cell) const {
        const std::int32_t begin = bins[cell * slices], end = bins[(cell + 1) * slices];
        const std::int32_t first = first_slot[blocks.of_cell(cell).with_halo(cell)];
        for (std::int32_t i = begin; i < end; ++i) {
            slot[i] = first + i - begin;
            cell_of[i] = static_cast<std::int32_t>(cell);
        }
    }
};

/// Packed positions of own particles.
template <int D>
struct PackOwn {
    Particles<D> particles;
    const std::int32_t* slot;
    std::int32_t shift;
    md::Packed<D>*packed, *reference;

    HD void operator()(std::int64_t i) const {
        std::int64_t at[D];
        for (int a = 0; a < D; ++a) at[a] = particles.x[a][i];
        packed[slot[i]] = reference[i] = md::pack(at, shift);
    }
};

/// The slots of the particles in listed cells, one after the other.
struct ListSlots {
    const std::int32_t* cells;  ///< among those with the halo
    const std::int32_t* first;  ///< of each: where its particles stand in `slots`
    const std::int32_t* first_slot;
    std::int32_t* slots;

    HD void operator()(std::int64_t k) const {
        const std::int32_t begin = first_slot[cells[k]], size = first_slot[cells[k] + 1] - begin;
        for (std::int32_t i = 0; i < size; ++i) slots[first[k] + i] = begin + i;
    }
};
/// The shift of the positions of the particles in listed cells.
template <int D>
struct ListShifts {
    const std::int32_t *cells, *first, *first_slot;
    const md::Packed<D>* of_cell;
    md::Packed<D>* shifts;

    HD void operator()(std::int64_t k) const {
        const std::int32_t size = first_slot[cells[k] + 1] - first_slot[cells[k]];
        for (std::int32_t i = 0; i < size; ++i) shifts[first[k] + i] = of_cell[k];
    }
};

/// Positions of particles that others see.
template <int D>
struct TakeOutgoing {
    const md::Packed<D>* packed;
    const std::int32_t* slots;
    md::Packed<D>* to;

    HD void operator()(std::int64_t k) const { to[k] = packed[slots[k]]; }
};

/// Positions of the others' particles, which have come.
template <int D>
struct PutIncoming {
    const md::Packed<D>*from, *shifts;
    const std::int32_t* slots;
    md::Packed<D>* packed;

    HD void operator()(std::int64_t k) const { packed[slots[k]] = md::shifted(from[k], shifts[k]); }
};

/// Positions of images of own particles.
template <int D>
struct PutImages {
    const std::int32_t *sources, *slots;
    const md::Packed<D>* shifts;
    md::Packed<D>* packed;

    HD void operator()(std::int64_t k) const { packed[slots[k]] = md::shifted(packed[sources[k]], shifts[k]); }
};

}  // namespace gpu
