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
    const std::int64_t* edges[2];  ///< of the cells with the halo, 2^-26
    std::int64_t reach;            ///< 2^-26
    float radius2;                 ///< squared packed units
    const std::uint64_t* packed;
    const std::int64_t *x, *y;
    const std::int32_t *first_slot, *slot, *cell_of;

    /// Calls use(begin, end) for the runs of slots that hold all particles near own number i, itself too.
    template <class Use>
    HD void for_each_run(std::int64_t i, Use use) const {
        const std::int32_t column = cell_of[i] / cells.rows + cells.halo, row = cell_of[i] % cells.rows + cells.halo;
        std::int32_t low[2], high[2];
        cells_in_reach(edges[0], x[i] >> md::edge_shift, column, cells.columns_with_halo(), low[0], high[0]);
        cells_in_reach(edges[1], y[i] >> md::edge_shift, row, cells.rows_with_halo(), low[1], high[1]);
        for (std::int32_t c = low[0]; c < high[0]; ++c) {
            const std::int32_t* first = first_slot + c * cells.rows_with_halo();
            use(first[low[1]], first[high[1]]);
        }
    }
    HD bool near(std::uint64_t here, std::int32_t there) const {
        return md::less(md::distance2(here, packed[there]), radius2);
    }

private:
    /// Cells [low, high) that come within reach of a coordinate in `cell`.
    HD void cells_in_reach(const std::int64_t* edge, std::int64_t at, std::int32_t cell, std::int32_t count,
                           std::int32_t& low, std::int32_t& high) const {
        for (low = cell; low > 0 && edge[low] > at - reach;) --low;
        for (high = cell + 1; high < count && edge[high] <= at + reach;) ++high;
    }
};

struct CountRows {
    Search search;
    std::int32_t* length;

    HD void operator()(std::int64_t i) const {
        const std::uint64_t here = search.packed[search.slot[i]];
        std::int32_t n = -1;  // it finds itself too
        search.for_each_run(
            i, [&](std::int32_t begin, std::int32_t end) __attribute__((always_inline)) {
                for (std::int32_t j = begin; j < end; ++j) n += search.near(here, j);
            });
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
        const std::int32_t self = search.slot[i];
        const std::uint64_t here = search.packed[self];
        std::int32_t* next = rows.row(i);
        search.for_each_run(
            i, [&](std::int32_t begin, std::int32_t end) __attribute__((always_inline)) {
                for (std::int32_t j = begin; j < end; ++j) {
                    if (!search.near(here, j) || j == self) continue;
                    *next = j;
                    next += group;
                }
            });
    }
};

}  // namespace gpu
