// SPDX-License-Identifier: MIT
#include "app/balancing/measure.hpp"

#include <fmt/format.h>

#include "balance/grid/field.hpp"
#include "balance/model/counted_work.hpp"

namespace app {
namespace {

// Values that the tiles give tile by tile, in the order of this rank's slab.
template <class T>
std::vector<T> in_slab(const balance::Team& team, const Engine& engine, const std::vector<T>& by_tile) {
    const balance::Decomposition& d = engine.decomposition();
    const balance::Slabs slabs{d.grid(), team.size()};
    balance::BoxList tiles{d.tiles(), {}};
    for (int r = 0; r <= d.ranks(); ++r) tiles.first.push_back(d.first_tile(r));
    std::vector<T> slab(slabs.of(team.rank()).cells());
    balance::FieldPlan(team, slabs, tiles).to_slab(std::span<const T>(by_tile), std::span(slab));
    return slab;
}

}  // namespace

MeasuredCells measure_cells(const balance::Team& team, const Engine& engine) {
    MeasuredCells cells{in_slab(team, engine, engine.tiles().cell_counts()), {}};
    cells.particles.reserve(cells.counts.size());
    for (const balance::CellCounts& c : cells.counts) cells.particles.push_back(c.n);
    return cells;
}

std::vector<std::int64_t> measure_work(const MeasuredCells& cells, const balance::WorkCosts& costs,
                                       std::array<double, 2> cell_width, const balance::Team& team, Engine& engine) {
    const std::vector<std::int64_t> neighbours = in_slab(team, engine, engine.cell_neighbours());
    const balance::Box slab = balance::Slabs{engine.decomposition().grid(), team.size()}.of(team.rank());
    const balance::CountedCells counted{slab, cell_width, cells.counts, neighbours};
    std::vector<std::int64_t> work = balance::counted_work(costs, counted);
    if (const auto excess = balance::excessive(team, costs, counted, work))
        throw md::SimulationError(
            fmt::format("the counted work of one step is {:.3g} s, more than the {:.0f} s that can be summed exactly",
                        excess->seconds, balance::to_seconds(balance::most_ticks)),
            true, fmt::format("make balance.work.{} ({}) smaller", excess->expensive.key, excess->expensive.value));
    return work;
}

}  // namespace app
