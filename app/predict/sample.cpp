// SPDX-License-Identifier: MIT
// The engine itself counts and runs, so that what is measured is what a run does. Its processes are virtual ones of one
// rank: their times tell cells of different contents apart.
#include "app/predict/sample.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/balancing/measure.hpp"
#include "app/run/load_field.hpp"
#include "app/run/network.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

constexpr std::int64_t virtual_processes = 24;
constexpr double unit_seconds = 0x1p-20;  // of a thing counted: a whole number of ticks
constexpr int batches = 7;

// The deck, with what counting and timing need.
Deck to_be_sampled(Deck deck) {
    deck.balance.every = 1;  // counts look two cells far
    deck.balance.clock = balance::Clock::wall;
    return deck;
}

Setup setup_of(const Deck& deck, const comm::Communicator& alone) {
    Setup setup = make_setup(deck, "");
    setup.network = network_of(deck.comm, alone);
    return setup;
}

balance::Decomposition owners_of(const Setup& setup) {
    const balance::Grid grid = setup.domain.grid();
    const std::int64_t processes = std::min(virtual_processes, grid.box().cells());
    return {grid, balance::one_box_each(balance::even_partition(grid, processes)), {processes, 1},
            balance::choose_tile(grid, setup.domain.axis[1].cell_width(), omp_get_max_threads())};
}

}  // namespace

Sample::Sample(const Deck& deck, const comm::Communicator& alone)
    : comm_(alone),
      deck_(to_be_sampled(deck)),
      halo_(make_setup(deck, "").halo),
      setup_(setup_of(deck_, alone)),
      owners_(owners_of(setup_)),
      engine_(std::make_unique<Engine>(setup_, owners_, comm_, timers_)) {
    fill_from(deck_, *engine_, owners_, comm_);
}

CountedField Sample::count() {
    const comm::Ranks team(comm_);
    engine_->rebin();
    engine_->build_neighbour_lists();
    const MeasuredCells cells = measure_cells(team, *engine_, owners_);
    const std::array<double, 2> width{setup_.domain.axis[0].cell_width(), setup_.domain.axis[1].cell_width()};
    CountedField field{owners_.grid(), halo_, std::vector<predict::FitRow>(cells.counts.size()), cells.particles, {}};
    field.work = measure_work(cells, deck_.balance.work, width, team, *engine_, owners_);
    for (int k = 0; k < predict::fit_unknowns; ++k) {
        balance::WorkCosts unit{.cell = 0, .particle = 0, .candidate = 0, .pair = 0};
        (k == 0 ? unit.cell : k == 1 ? unit.particle : k == 2 ? unit.candidate : unit.pair) = unit_seconds;
        const std::vector<std::int64_t> ticks = measure_work(cells, unit, width, team, *engine_, owners_);
        for (std::size_t c = 0; c < ticks.size(); ++c)
            field.counts[c][k] = balance::to_seconds(ticks[c]) / unit_seconds;
    }
    return field;
}

// Returns the wall seconds of these steps.
double Sample::advance(std::int64_t steps) {
    const double start = comm::now();
    for (std::int64_t i = 0; i < steps; ++i) {
        if (engine_->displaced()) {
            engine_->rebin();
            engine_->build_neighbour_lists();
        }
        engine_->force_pass({std::exchange(started_, true) ? md::Kick::middle : md::Kick::first});
    }
    return comm::now() - start;
}

MeasuredCosts Sample::measure(double budget) {
    constexpr std::int64_t few = 10;
    for (double spent = advance(few); spent < budget;) spent += advance(few);  // the skin is being tuned
    const CountedField field = count();
    const double step = advance(few) / few;
    const auto each = std::max<std::int64_t>(few, static_cast<std::int64_t>(budget / batches / step));
    engine_->take_tile_seconds();
    MeasuredCosts costs;
    const std::int64_t rebuilds = engine_->rebuilds();
    for (int b = 0; b < batches; ++b) costs.batches.push_back(advance(each) / static_cast<double>(each));
    const auto steps = static_cast<double>(each * batches);
    costs.steps_per_rebuild = steps / static_cast<double>(std::max<std::int64_t>(1, engine_->rebuilds() - rebuilds));
    std::vector<double> sorted = costs.batches;
    std::sort(sorted.begin(), sorted.end());
    costs.step_seconds = sorted[sorted.size() / 2];

    const std::vector<double> tile_seconds = engine_->take_tile_seconds();
    std::vector<double> seconds(owners_.processes(), 0.0);
    std::vector<predict::FitRow> counts(owners_.processes());
    predict::FitRow all{};
    for (std::size_t t = 0; t < tile_seconds.size(); ++t) {
        const std::int64_t p = engine_->tiles().process_of(t);
        seconds[p] += tile_seconds[t] / steps / omp_get_max_threads();
        const balance::Box& box = engine_->tiles()[t].box();
        for (int x = box.lower[0]; x < box.upper[0]; ++x)
            for (int y = box.lower[1]; y < box.upper[1]; ++y)
                for (int k = 0; k < predict::fit_unknowns; ++k) {
                    const double n = field.counts[balance::place_in(field.grid.box(), x, y)][k];
                    counts[p][k] += n, all[k] += n;
                }
    }
    costs.seconds = predict::fit_nonnegative(counts, seconds);
    const double tiles = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    costs.fitted = std::inner_product(all.begin(), all.end(), costs.seconds.begin(), 0.0) / tiles;
    // What tiles do not show, as sorting and the particles that cross their borders, goes with the particles. Batches
    // that others have disturbed do not count: the median stands for all.
    const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / batches;
    costs.seconds[1] += std::max(0.0, mean - tiles) / all[1];
    for (double& s : costs.seconds) s *= costs.step_seconds / mean;
    return costs;
}

double Sample::steps_per_rebuild(double budget) {
    std::int64_t steps = 0;
    advance(1);
    const std::int64_t rebuilds = engine_->rebuilds();
    for (double spent = 0; spent < budget || engine_->rebuilds() == rebuilds; ++steps) spent += advance(1);
    return static_cast<double>(steps) / static_cast<double>(engine_->rebuilds() - rebuilds);
}

}  // namespace app
