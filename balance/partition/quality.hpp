// SPDX-License-Identifier: MIT
// Quality of a partition, and cost of a change of partition: ghost cells, efficiency of loads, moved cells and
// particles. Each member looks at its home (balance/grid/field.hpp).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/process_boxes.hpp"

namespace balance {

/// The process that owns each cell of a member's home and of a frame of one cell around it. Periodic boundaries count.
/// -1 outside the grid.
class Owners {
public:
    /// known: at least all processes that own cells there.
    Owners(const Grid& grid, const Box& home, const ProcessBoxes& known);

    const Box& home() const { return home_; }
    /// The home with its frame, in whose order of cells the owners lie.
    const Box& framed() const { return framed_; }
    /// The owner of a cell of the frame. The owners of neighbouring cells lie around it in memory.
    const std::int32_t& at(int x, int y, int z) const { return process_[place_in(framed_, x, y, z)]; }

    /// Calls visit(place, framed, cells) for each line of cells of the home that lie side by side in both orders.
    /// place: of its first cell among the home's values. framed: place of that cell for from().
    template <class Visit>
    void for_each_line(Visit visit) const {
        const bool flat = framed_.extent(2) == 1;  // then each column is a line
        const int cells = home_.extent(flat ? 1 : 2), end_y = flat ? home_.lower[1] + 1 : home_.upper[1];
        std::size_t place = 0;
        for (int x = home_.lower[0]; x < home_.upper[0]; ++x)
            for (int y = home_.lower[1]; y < end_y; ++y, place += cells)
                visit(place, place_in(framed_, x, y, home_.lower[2]), cells);
    }
    /// The owner of a cell of the frame by its place there.
    const std::int32_t* from(std::int64_t framed) const { return process_.data() + framed; }

    /// Calls visit(place, owner) for each cell of the home, in the order of its values; owner: as of at().
    template <class Visit>
    void for_each(Visit visit) const {
        for_each_line([&](std::size_t place, std::int64_t framed, int cells) {
            for (int i = 0; i < cells; ++i) visit(place + i, from(framed)[i]);
        });
    }

private:
    Box home_, framed_;
    std::vector<std::int32_t> process_;
};

/// Cells of the home that other processes see, each counted once for each process that owns one of its neighbours: 8,
/// or 26 in three dimensions.
std::int64_t ghost_cells(const Owners& owners);
/// How often each cell of the home is counted there: by how many other processes it is seen.
std::vector<std::uint8_t> processes_that_see(const Owners& owners);

/// Load balance efficiency: mean over maximum; 1 if nothing was measured. speeds: of each process; empty if all are
/// equal. With speeds, values are loads, and the result is the heterogeneous LBE_m of Liu, Yang & Yang 2018: (sum of
/// loads / sum of speeds) / (largest load / speed).
double efficiency(std::span<const double> values, std::span<const double> speeds = {});
double efficiency(std::span<const std::int64_t> loads, std::span<const double> speeds = {});
/// The efficiency from sums. sum: of all values. capacity: sum of all speeds. largest: the largest value / speed.
double efficiency(double sum, double capacity, double largest);

/// Sums over the cells of each process, on all members. values: of the member's home. Collective.
std::vector<std::int64_t> sums_by_process(const Team& team, const Owners& owners, std::span<const std::int64_t> values,
                                          std::int64_t processes);

/// Cells and particles that go to another process.
struct Moved {
    std::int64_t cells = 0, particles = 0;
};
/// From one partition to another, in the member's home. particles: of each of its cells.
Moved moved_between(const Owners& before, const Owners& after, std::span<const std::int64_t> particles);

}  // namespace balance
