// SPDX-License-Identifier: MIT
// Particle counts in the cells around each cell. Homes are compact, so only a frame around each comes from others.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/model/load_model.hpp"
#include "balance/team.hpp"

namespace balance {

/// Particles in and around each cell of `part`, in the order of its cells.
///
/// frame: a box that reaches two cells beyond `part` on each side. In two dimensions both are one cell deep.
///
/// particles: in each cell of the frame.
std::vector<CellCounts> counts_in(const Box& part, int dimensions, const Box& frame,
                                  std::span<const std::int32_t> particles);

/// Sums over cells: of the cells, of their particles, and of each particle's neighbours in 3 and 5 cells along each
/// axis.
struct CountSums {
    std::int64_t cells = 0, n = 0, n_n3 = 0, n_n5 = 0;

    CountSums& operator+=(const CountSums& other) {
        cells += other.cells, n += other.n, n_n3 += other.n_n3, n_n5 += other.n_n5;
        return *this;
    }
    friend bool operator==(const CountSums&, const CountSums&) = default;
};
inline CountSums sums_of(const CellCounts& c) {
    const std::int64_t n = c.n;
    return {1, n, n * c.n3, n * c.n5};
}

/// The sums of each slab of `part`, one cell thick, across an axis. The other arguments are those of counts_in().
std::vector<CountSums> slab_counts(const Box& part, int dimensions, const Box& frame,
                                   std::span<const std::int32_t> particles, int axis);

/// Particles in and around each cell of a member's home, across periodic boundaries as well. particles: in those cells.
/// Collective.
std::vector<CellCounts> counts_around(const Team& team, const Grid& grid, std::span<const std::int32_t> particles);

}  // namespace balance
