// SPDX-License-Identifier: MIT
// Computation and messages of each rank of a decomposition, from the load field and the plans that a run follows.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/schedule.hpp"
#include "tools/predict/timeline.hpp"

namespace predict {

/// Growth of an area or volume when all lengths grow by the factor `length`.
constexpr double grown(double length, int dimensions) {
    double factor = 1;
    for (int a = 0; a < dimensions; ++a) factor *= length;
    return factor;
}

/// A grid with each cell cut into `parts` parts along each axis.
inline balance::Grid cut_cells(balance::Grid grid, int parts) {
    for (int a = 0; a < grid.dimensions; ++a) grid.cells[a] *= parts;
    return grid;
}
/// A value of each cell of a grid, given to each part of the cell.
template <class T>
std::vector<T> cut_cells(const std::vector<T>& values, const balance::Grid& grid, int parts) {
    const balance::Box fine = cut_cells(grid, parts).box();
    const int deep = grid.dimensions == 3 ? parts : 1;
    std::vector<T> result;
    result.reserve(fine.cells());
    for (int x = 0; x < fine.upper[0]; ++x)
        for (int y = 0; y < fine.upper[1]; ++y)
            for (int z = 0; z < fine.upper[2]; ++z)
                result.push_back(values[balance::place_in(grid.box(), x / parts, y / parts, z / deep)]);
    return result;
}
/// Number of parts into which forecasts cut a cell along each axis. length: factor of all lengths of the problem. The
/// number is the smallest that gives each rank enough cells. Cut cells are no smaller than the problem's cells, and all
/// of them fit in memory.
int parts_of_cells(const balance::Grid& grid, double length, std::int64_t ranks, int min_width);
/// A load for each cell of a grid, column by column, and what cells send where they are ghosts.
struct CellField {
    balance::Grid grid;
    std::vector<std::int64_t> load;   ///< Ticks a step (balance/model/work.hpp).
    std::vector<std::int64_t> items;  ///< Particles.
    int halo = 1;                     ///< Width of the halo in which particles are counted.
    int reach = 1;                    ///< Width of the part of the halo with ghosts.
    double item_bytes = 8;            ///< Bytes of a packed position.
    double length = 1;                ///< Factor of all lengths of the problem; tiles keep their size.

    double content() const { return grown(length, grid.dimensions); }     ///< growth of the content of a region
    double border() const { return grown(length, grid.dimensions - 1); }  ///< growth of what lies at its border
};

/// The same problem on a grid with each cell cut into `parts` parts along each axis. Throws app::UsageError if the sum
/// of its loads is too large.
CellField cut_cells(const CellField& field, int parts);

/// Work and messages of the ranks in a step, and at a rebuild of the neighbour lists.
struct RankSteps {
    std::vector<RankStep> steps;            ///< ghosts' positions
    std::vector<RankStep> counts, records;  ///< at a rebuild: particles a halo cell; one message to each neighbour
    double messages = 0, bytes = 0;         ///< that a mean rank sends in a step
};

/// One process on each rank. nodes, schedule: as for a run. A tile is at the rim if it has ghosts from other ranks;
/// those without particles count too.
RankSteps rank_steps(const CellField& field, const balance::Decomposition& owners, const comm::NodeMap& nodes,
                     const comm::Schedule& schedule);

/// The exchange by which a field of `bytes` a cell goes from its homes (balance/grid/field.hpp) to the owners of the
/// cells: one message between two ranks.
std::vector<RankStep> field_exchange(const balance::Grid& grid, const balance::Partition& partition, double bytes);

/// The exchange by which particles of `bytes` each, items of them in a cell, go from their owners by one partition to
/// those by another. A process a rank.
std::vector<RankStep> migration_exchange(const CellField& field, const balance::Partition& from,
                                         const balance::Partition& to, double bytes);

}  // namespace predict
