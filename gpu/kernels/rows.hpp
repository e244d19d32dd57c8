// SPDX-License-Identifier: MIT
// Kernels that build neighbour lists. Each thread has one particle and searches the cells around it twice: first it
// counts the neighbours, then it writes them into a row. All rows of a group are as long as the longest one, rounded up
// to a multiple of four.
#pragma once
#include <cstdint>

#include "gpu/kernels/view.hpp"

namespace gpu {

/// The data of a neighbour search: cells, positions and radius.
template <int D>
struct NeighbourSearch {
    Blocks<D> blocks;
    std::int64_t reach;  ///< radius of the search, 2^-26 lengths
    float radius2;       ///< square of the radius, packed units
    const md::Packed<D>* packed;
    const std::int64_t* x[D];
    const std::int32_t *first_slot, *slot, *cell_of;

    /// Calls use(begin, end) for each run of consecutive slots in the cells around the particle with own number i. The
    /// runs hold all of its neighbours, and the particle itself.
    template <class Use>
    HD void for_each_run(std::int64_t i, Use use) const {
        std::int32_t place[D], low[D], high[D];
        const Block<D>& block = blocks.of_cell(cell_of[i]);
        const Cells<D>& cells = block.cells;
        const std::int32_t* first_of_block = first_slot + block.first_with_halo;
        cells.places(cell_of[i] - block.first, place);
        for (int a = 0; a < D; ++a)
            cells_in_reach(block.edges[a], x[a][i] >> md::edge_shift, place[a], cells.with_halo_along(a), low[a],
                           high[a]);
        const std::int32_t height = high[D - 1] - low[D - 1];
        for (std::int32_t c = low[0]; c < high[0]; ++c) {
            place[0] = c;
            place[D - 1] = low[D - 1];
            if constexpr (D == 2) {
                const std::int32_t* first = first_of_block + cells.number(place);
                use(first[0], first[height]);
            } else {
                for (place[1] = low[1]; place[1] < high[1]; ++place[1]) {
                    const std::int32_t* first = first_of_block + cells.number(place);
                    use(first[0], first[height]);
                }
            }
        }
    }
    HD bool near(const md::Packed<D>& here, std::int32_t there) const {
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

template <int D>
struct CountRows {
    NeighbourSearch<D> search;
    std::int32_t* length;

    HD void operator()(std::int64_t i) const {
        const md::Packed<D> here = search.packed[search.slot[i]];
        std::int32_t n = -1;  // it finds itself too
        search.for_each_run(
            i, [&](std::int32_t begin, std::int32_t end) __attribute__((always_inline)) {
                for (std::int32_t j = begin; j < end; ++j) n += search.near(here, j);
            });
        length[i] = n;
    }
};

/// How many fours the rows of a group take.
struct MeasureGroups {
    const std::int32_t* length;
    std::int64_t particles;
    std::int64_t* fours;

    HD void operator()(std::int64_t g) const {
        std::int32_t longest = 0;
        for (std::int64_t i = g * group; i < (g + 1) * group && i < particles; ++i)
            longest = length[i] > longest ? length[i] : longest;
        fours[g] = std::int64_t{Rows::fours_of(longest)} * group;
    }
};

template <int D>
struct FillRows {
    NeighbourSearch<D> search;
    Rows rows;

    HD void operator()(std::int64_t i) const {
        const std::int32_t self = search.slot[i];
        const md::Packed<D> here = search.packed[self];
        Four* next = rows.row(i);
        Four latest{};
        std::int32_t n = 0;
        const auto append = [&](std::int32_t slot) __attribute__((always_inline)) {
            latest = {{latest.slots[1], latest.slots[2], latest.slots[3], slot}};
            if (++n % Four::size != 0) return;
            *next = latest;
            next += group;
        };
        search.for_each_run(
            i, [&](std::int32_t begin, std::int32_t end) __attribute__((always_inline)) {
                for (std::int32_t j = begin; j < end; ++j)
                    if (search.near(here, j) && j != self) append(j);
            });
        while (n % Four::size != 0) append(self);
    }
};

}  // namespace gpu
