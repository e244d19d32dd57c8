// SPDX-License-Identifier: MIT
// Neighbour lists: each thread looks at the particles of the cells around its own, twice, first to count those that are
// near. The rows of a group are as long as its longest.
#pragma once
#include <cstdint>

#include "gpu/kernels/view.hpp"

namespace gpu {

/// Where and how far a particle looks.
struct Search {
    Cells cells;
    std::int32_t reach[2];  ///< cells to look at on each side
    float radius2;          ///< squared packed units
    const std::uint64_t* packed;
    const std::int32_t *first_slot, *slot, *cell_of;

    /// Calls use(slot) for all slots near own number i but its own.
    template <class Use>
    HD void for_each_near(std::int64_t i, Use use) const {
        const std::int32_t self = slot[i], column = cell_of[i] / cells.rows, row = cell_of[i] % cells.rows;
        const std::uint64_t here = packed[self];
        const std::int32_t side = cells.halo < reach[0] ? cells.halo : reach[0];
        const std::int32_t up = cells.halo < reach[1] ? cells.halo : reach[1];
        for (std::int32_t c = column - side; c <= column + side; ++c) {
            const std::int32_t cell = (c + cells.halo) * cells.rows_with_halo() + row + cells.halo;
            const std::int32_t end = first_slot[cell + up + 1];
            for (std::int32_t j = first_slot[cell - up]; j < end; ++j)
                if (j != self && md::less(md::distance2(here, packed[j]), radius2)) use(j);
        }
    }
};

struct CountRows {
    Search search;
    std::int32_t* length;

    HD void operator()(std::int64_t i) const {
        std::int32_t n = 0;
        search.for_each_near(i, [&](std::int32_t) { ++n; });
        length[i] = n;
    }
};

/// Elements of a group's rows.
struct MeasureGroups {
    const std::int32_t* length;
    std::int64_t particles;
    std::int64_t* elements;

    HD void operator()(std::int64_t g) const {
        std::int32_t longest = 0;
        for (std::int64_t i = g * group; i < (g + 1) * group && i < particles; ++i)
            longest = length[i] > longest ? length[i] : longest;
        elements[g] = std::int64_t{longest} * group;
    }
};

struct FillRows {
    Search search;
    Rows rows;

    HD void operator()(std::int64_t i) const {
        std::int32_t* next = rows.row(i);
        search.for_each_near(i, [&](std::int32_t j) {
            *next = j;
            next += group;
        });
    }
};

}  // namespace gpu
