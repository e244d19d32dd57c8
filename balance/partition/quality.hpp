// SPDX-License-Identifier: MIT
// What a partition is worth, and what it costs to go from one to another: ghost cells, predicted efficiency, what
// moves. Each member looks at its home (balance/grid/field.hpp).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {

/// The process that owns each cell of a member's home and of a frame of one cell around it, across periodic boundaries
/// where there are some; -1 outside the grid.
class Owners {
public:
    Owners(const Grid& grid, const Box& home, const Partition& partition);

    const Box& home() const { return home_; }
    /// The owners of a column of the home, from its first cell on; so many cells along y lie between columns.
    const std::int32_t* column(int x) const { return &process_[std::int64_t{x - home_.lower[0] + 1} * stride() + 1]; }
    std::int64_t stride() const { return home_.extent(1) + 2; }

    /// Calls visit(place, owner) for each cell of the home, in the order of its values.
    template <class Visit>
    void for_each(Visit visit) const {
        std::size_t place = 0;
        for (int x = home_.lower[0]; x < home_.upper[0]; ++x) {
            const std::int32_t* owner = column(x);
            for (int y = 0; y < home_.extent(1); ++y) visit(place++, owner[y]);
        }
    }

private:
    Box home_;
    std::vector<std::int32_t> process_;
};

/// Cells of the home that other processes see, each counted once for each process that owns one of its eight
/// neighbours.
std::int64_t ghost_cells(const Owners& owners);

/// Load balance efficiency: mean over maximum; 1 where nothing was measured. speeds: of each process, where they
/// differ: then values are loads, and the efficiency is (sum of loads / sum of speeds) / (largest load / speed), the
/// heterogeneous LBE_m of Liu, Yang & Yang 2018.
double efficiency(std::span<const double> values, std::span<const double> speeds = {});

/// Sums over the cells of each process. values: of the member's home. Collective.
std::vector<std::int64_t> sums_by_process(const Team& team, const Owners& owners, std::span<const std::int64_t> values,
                                          std::int64_t processes);

/// Efficiency of the processes' loads (LBE_m). load: of the member's home. speeds: see efficiency(). Collective.
double predicted_efficiency(const Team& team, const Owners& owners, std::span<const std::int64_t> load,
                            std::int64_t processes, std::span<const double> speeds = {});

/// What goes to another process.
struct Moved {
    std::int64_t cells = 0, particles = 0;
};
/// From one partition to another, in the member's home. particles: of each of its cells.
Moved moved_between(const Owners& before, const Owners& after, std::span<const std::int64_t> particles);

}  // namespace balance
