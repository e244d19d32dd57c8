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

std::vector<std::int64_t> evenly_owned(const Tiles& tiles, std::span<const double> times, const balance::Grid& grid,
                                       std::span<const double> costs) {
    constexpr double nothing = 1e-300;  // where nothing costs anything, tiles and cells count alike
    std::vector<std::int64_t> sums(times.size(), 0);
    if (tiles.size() == 0) return sums;
    balance::Box mine = tiles[0].box();
    std::vector<double> lists(tiles.size()), of_process(times.size(), 0.0);
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        mine = around(mine, tiles[t].box());
        lists[t] = nothing + static_cast<double>(tiles[t].list_length());
        of_process[tiles.process_of(t)] += lists[t];
    }
    std::vector<std::pair<std::int64_t, balance::Box>> near;  // no other process owns a cell here
    const std::vector<balance::Box> even = balance::even_partition(grid, static_cast<std::int64_t>(times.size()));
    for (std::size_t p = 0; p < even.size(); ++p)
        if (!even[p].empty() && meet(even[p], mine)) near.emplace_back(p, even[p]);
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const balance::Box& tile = tiles[t].box();
        const double time = times[tiles.process_of(t)] * lists[t] / of_process[tiles.process_of(t)];
        std::vector<double> loads;  // of its cells
        double all = 0;
        for (const auto& [process, box] : near) {
            const balance::Box shared = intersection(tile, box);
            if (shared.empty()) continue;
            if (shared == tile) {
                sums[process] += std::llround(time);
                break;
            }
            if (loads.empty())
                tiles[t].for_each_cell_count([&](auto n, auto n3, auto n5) {
                    loads.push_back(nothing + costs[0] + n * (costs[1] + costs[2] * n3 + costs[3] * n5));
                    all += loads.back();
                });
            double part = 0;
            for (int x = shared.lower[0]; x < shared.upper[0]; ++x)
                for (int y = shared.lower[1]; y < shared.upper[1]; ++y)
                    part += loads[static_cast<std::size_t>(x - tile.lower[0]) * tile.extent(1) + y - tile.lower[1]];
            sums[process] += std::llround(time * part / all);
        }
    }
    return sums;
}

}  // namespace app
