// SPDX-License-Identifier: MIT
#include "app/balancing/measure.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>

#include "app/balancing/simulated_cost.hpp"
#include "balance/grid/for_each.hpp"
#include "comm/agreed.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

// A measured time is believed from this number of clock steps on.
constexpr double least_clock_steps = 1000;

}  // namespace

balance::TileCells read_tiles(Engine& engine, bool pairs) {
    return {engine.tiles().cell_particles(), pairs ? engine.cell_neighbours() : std::vector<std::int64_t>{}};
}

balance::HomeCells count_cells(const comm::Ranks& team, Engine& engine, const balance::Decomposition& owners,
                               const balance::Counting& counting) {
    try {
        return balance::collect_at_homes(team, owners, read_tiles(engine, true), &counting, RoundMeter{});
    } catch (const balance::TooMuchWork& e) {
        throw_too_much_work(e, team.comm());
    }
}

void throw_too_much_work(const balance::TooMuchWork& error, const comm::Communicator& comm) {
    const balance::ExcessiveWork& excess = error.excess;
    const std::string what =
        fmt::format("the counted work of one step is {:.3g} s, more than the {:.0f} s that can be summed exactly",
                    excess.seconds, balance::to_seconds(balance::most_ticks));
    comm::throw_together(comm, md::SimulationError(what, fmt::format("make balance.work.{} ({}) smaller",
                                                                     excess.expensive.key, excess.expensive.value)));
}

WallClock::WallClock(const comm::Communicator& comm)
    : mean_threads_(static_cast<double>(comm.sum_of(omp_get_max_threads())) / comm.size()),
      of_thread_(mean_threads_ / omp_get_max_threads()) {
    // All must come to the same decision.
    resolution_ = static_cast<double>(comm.max_of(std::llround(comm::thread_clock_resolution() * 1e9))) * 1e-9;
}

bool WallClock::trusts(double seconds) const { return seconds >= least_clock_steps * resolution_; }

ProcessNanoseconds take_nanoseconds(Engine& engine, const WallClock& clock, const balance::Hosts& hosts, int rank,
                                    const balance::Speeds& speeds, std::span<const double> costs) {
    const balance::IndexRange hosted = hosts.processes_of(rank);
    const std::vector<double> tile_seconds = engine.take_tile_seconds();
    ProcessNanoseconds taken;
    taken.measured.assign(hosted.size(), 0);
    for (std::size_t t = 0; t < tile_seconds.size(); ++t)
        taken.measured[engine.tiles().process_of(t) - hosted.begin] +=
            std::llround(tile_seconds[t] * clock.of_thread() * 1e9);
    const std::vector<double> times(taken.measured.begin(), taken.measured.end());
    taken.even = evenly_owned(engine.tiles(), hosted, speeds.at_mean_speed(times, hosted.begin),
                              engine.setup().domain.grid(), hosts.processes(), costs);
    return taken;
}

std::vector<NanosecondsOf> evenly_owned(const TileSet& tiles, const balance::IndexRange& hosted,
                                        std::span<const double> times, const balance::Grid& grid,
                                        std::int64_t processes, std::span<const double> costs) {
    constexpr double nothing = 1e-300;  // where nothing costs anything, tiles and cells count alike
    std::vector<NanosecondsOf> parts;
    if (tiles.size() == 0) return parts;
    balance::Box mine = tiles.box(0);
    std::vector<double> lists(tiles.size()), of_process(times.size(), 0.0);
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        mine = around(mine, tiles.box(t));
        lists[t] = nothing + static_cast<double>(tiles.list_length(t));
        of_process[tiles.process_of(t) - hosted.begin] += lists[t];
    }
    std::vector<std::pair<std::int64_t, balance::Box>> near;  // no other process owns a cell here
    balance::for_each_even_part_in(mine, grid.box(), processes, [&](std::int64_t p) {
        near.emplace_back(p, balance::even_part(grid.box(), processes, p));
    });
    for (const auto& [process, box] : near) parts.push_back({process, 0});
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const balance::Box& tile = tiles.box(t);
        const std::int64_t owner = tiles.process_of(t) - hosted.begin;
        const double time = times[owner] * lists[t] / of_process[owner];
        std::vector<double> loads;  // of its cells
        double all = 0;
        for (std::size_t i = 0; i < near.size(); ++i) {
            const balance::Box shared = intersection(tile, near[i].second);
            if (shared.empty()) continue;
            if (shared == tile) {
                parts[i].nanoseconds += std::llround(time);
                break;
            }
            if (loads.empty())
                for (const balance::CellCounts& n : tiles.cell_counts_of(t)) {
                    loads.push_back(nothing + costs[0] + n.n * (costs[1] + costs[2] * n.n3 + costs[3] * n.n5));
                    all += loads.back();
                }
            double part = 0;
            balance::for_each_cell(shared,
                                   [&](int x, int y, int z) { part += loads[balance::place_in(tile, x, y, z)]; });
            parts[i].nanoseconds += std::llround(time * part / all);
        }
    }
    return parts;
}

}  // namespace app
