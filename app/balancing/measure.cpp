// SPDX-License-Identifier: MIT
#include "app/balancing/measure.hpp"

#include <fmt/format.h>

#include "app/balancing/simulated_cost.hpp"
#include "balance/grid/field.hpp"
#include "balance/model/counted_work.hpp"

namespace app {
namespace {

// Values that the tiles give tile by tile, in the order of this rank's home.
template <class T>
std::vector<T> at_home(const balance::Team& team, const balance::Decomposition& owners, const std::vector<T>& by_tile) {
    const balance::Homes homes{owners.grid(), team.size()};
    const balance::Box home = homes.of(team.rank());
    std::vector<T> values(home.cells());
    charge(cost::fields, owners.processes(), 0);
    const auto tiles_of = [&](int rank) { return owners.tiles_of_rank(rank); };
    balance::FieldPlan(team, homes, owners.ranks_around(home), tiles_of)
        .to_home(std::span<const T>(by_tile), std::span(values));
    return values;
}

}  // namespace

MeasuredCells measure_cells(const balance::Team& team, const Engine& engine, const balance::Decomposition& owners) {
    MeasuredCells cells{at_home(team, owners, engine.tiles().cell_counts()), {}};
    cells.particles.reserve(cells.counts.size());
    for (const balance::CellCounts& c : cells.counts) cells.particles.push_back(c.n);
    return cells;
}

std::vector<std::int64_t> measure_work(const MeasuredCells& cells, const balance::WorkCosts& costs,
                                       std::array<double, 2> cell_width, const balance::Team& team, Engine& engine,
                                       const balance::Decomposition& owners) {
    const std::vector<std::int64_t> neighbours = at_home(team, owners, engine.cell_neighbours());
    const balance::Box home = balance::Homes{owners.grid(), team.size()}.of(team.rank());
    const balance::CountedCells counted{home, cell_width, cells.counts, neighbours};
    std::vector<std::int64_t> work = balance::counted_work(costs, counted);
    charge(cost::counted, 0, home.cells());
    if (const auto excess = balance::excessive(team, costs, counted, work))
        throw md::SimulationError(
            fmt::format("the counted work of one step is {:.3g} s, more than the {:.0f} s that can be summed exactly",
                        excess->seconds, balance::to_seconds(balance::most_ticks)),
            true, fmt::format("make balance.work.{} ({}) smaller", excess->expensive.key, excess->expensive.value));
    return work;
}

}  // namespace app
