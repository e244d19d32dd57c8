// SPDX-License-Identifier: MIT
// The engine itself counts and runs, so the measurements are those of a run. Its processes are virtual ones of one
// rank. Their times tell cells of different contents apart.
#include "tools/predict/sample.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/balancing/measure.hpp"
#include "app/deck/setup.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/model/median.hpp"
#include "comm/clock.hpp"
#include "tools/partition/load_field.hpp"

namespace app {
namespace {

constexpr std::int64_t virtual_processes = 24;
constexpr double unit_seconds = 0x1p-20;  // of a thing counted: a whole number of ticks
constexpr int batches = 9, batch_steps = 20, few_steps = 10;
constexpr std::int64_t most_tuning_steps = 200;
constexpr double tuning_seconds = 1;
constexpr std::int64_t most_waiting_steps = 100;

// The deck, with what counting and timing need.
Deck to_be_sampled(Deck deck) {
    deck.balance.every = 1;  // counts look two cells far
    deck.balance.clock = balance::BalanceClock::wall;
    return deck;
}

Setup setup_of(const Deck& deck, const comm::Communicator& alone) {
    Setup setup = make_setup(deck, "");
    setup.network = network_of(deck.comm, alone);
    return setup;
}

balance::Decomposition owners_of(const Deck& deck, const Setup& setup, std::int64_t processes) {
    const balance::Grid grid = setup.domain.grid();
    processes = std::min(processes, grid.box().cells());
    return {grid,
            balance::one_box_each(balance::even_partition(grid, processes)),
            {processes, 1},
            tile_shape(deck, setup.domain, omp_get_max_threads())};
}

}  // namespace

Walk::Walk(const Deck& deck, const Setup& setup, const balance::Decomposition& owners, const comm::Communicator& alone)
    : engine_(make_engine(setup, owners, alone, timers_)) {
    fill_from(deck, *engine_, owners, alone);
}

double Walk::advance(std::int64_t steps) {
    const double start = comm::now();
    for (std::int64_t i = 0; i < steps; ++i) {
        if (engine_->displaced()) {
            engine_->rebin();
            engine_->build_neighbour_lists();
        }
        engine_->force_pass({std::exchange(started_, true) ? md::Kick::middle : md::Kick::first});
    }
    const double seconds = comm::now() - start;
    engine_->finish_agreement();
    return seconds;
}

Sample::Sample(const Deck& deck, const comm::Communicator& alone)
    : comm_(alone),
      own_(deck),
      deck_(to_be_sampled(deck)),
      own_setup_(setup_of(own_, alone)),
      setup_(setup_of(deck_, alone)),
      owners_(owners_of(deck_, setup_, virtual_processes)),
      walk_(deck_, setup_, owners_, alone) {}

CountedField Sample::count(std::int64_t step, Count what) {
    const comm::Ranks team(comm_);
    Engine& engine = walk_.engine();
    engine.rebin();
    engine.build_neighbour_lists();
    balance::Counting counting{balance::costs_at(deck_.balance.work, step), setup_.domain.cell_widths()};
    CountedField field{step, owners_.grid(), own_setup_.halo, own_setup_.reach, {}, {}, {}};
    if (what == Count::work) {
        balance::HomeCells cells = count_cells(team, engine, owners_, counting);
        field.cells = std::move(cells.counts), field.work = std::move(cells.work);
        return field;
    }
    field.counts.resize(owners_.grid().box().cells());
    for (int k = 0; k < balance::unknowns; ++k) {
        balance::WorkCosts unit{.cell = 0, .particle = 0, .candidate = 0, .pair = 0};
        (k == 0 ? unit.cell : k == 1 ? unit.particle : k == 2 ? unit.candidate : unit.pair) = unit_seconds;
        counting.work = unit;
        balance::HomeCells cells = count_cells(team, engine, owners_, counting);
        for (std::size_t c = 0; c < cells.work.size(); ++c)
            field.counts[c][k] = balance::to_seconds(cells.work[c]) / unit_seconds;
        field.cells = std::move(cells.counts);
    }
    return field;
}

SampledCourse Sample::course(double most_particle_steps, Count what, double length) {
    constexpr std::int64_t most_times = 40, times_without_balancing = 4;
    const auto particles = static_cast<double>(std::max<std::int64_t>(1, walk_.engine().particles()));
    const std::int64_t last = std::min(
        own_.run.steps, std::max<std::int64_t>(1, static_cast<std::int64_t>(most_particle_steps / particles * length)));
    const std::int64_t wanted = own_.balance.every > 0 ? own_.balance.every : last / times_without_balancing;
    const std::int64_t spacing = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, last));
    SampledCourse course;
    course.fields.push_back(count(0, what));
    std::int64_t step = 0, due = 0, steps_to_due = 0;
    const auto steps_here = [&](std::int64_t k) { return std::llround(static_cast<double>(k * spacing) / length); };
    for (std::int64_t k = 1; k <= std::min(most_times, last / spacing); ++k) {
        std::int64_t since = 0;  // the last rebuild: to count is one
        for (const std::int64_t end = steps_here(k); step < end; ++step, ++since) {
            const std::int64_t before = walk_.engine().rebuilds();
            walk_.advance(1);
            if (walk_.engine().rebuilds() == before) continue;
            ++due;
            steps_to_due += std::exchange(since, 0);
        }
        course.fields.push_back(count(k * spacing, what));
    }
    if (due > 0) course.steps_per_rebuild = static_cast<double>(steps_to_due) / static_cast<double>(due);
    return course;
}

// Adds up what each process holds. Particles move on meanwhile, so before and after a measurement.
std::vector<balance::Unknowns> Sample::counts_of_processes() {
    const CountedField field = count(0, Count::things);
    std::vector<balance::Unknowns> counts(owners_.processes());
    for (std::size_t t = 0; t < walk_.engine().tiles().size(); ++t) {
        const balance::Box& box = walk_.engine().tiles().box(t);
        balance::Unknowns& of_process = counts[walk_.engine().tiles().process_of(t)];
        balance::for_each_cell(box, [&](int x, int y, int z) {
            for (int k = 0; k < balance::unknowns; ++k)
                of_process[k] += field.counts[balance::place_in(field.grid.box(), x, y, z)][k];
        });
    }
    return counts;
}

MeasuredCosts Sample::measure() {
    Walk own(own_, own_setup_, owners_of(own_, own_setup_, 1), comm_);
    const auto advance_both = [&](std::int64_t steps) { return walk_.advance(steps) + own.advance(steps); };
    double spent = advance_both(few_steps);
    for (std::int64_t steps = few_steps; steps < most_tuning_steps && spent < tuning_seconds; steps += few_steps)
        spent += advance_both(few_steps);  // the skin is being tuned
    std::vector<balance::Unknowns> counts = counts_of_processes();
    advance_both(few_steps);
    walk_.engine().take_tile_seconds();
    MeasuredCosts costs;
    const std::int64_t rebuilds = own.engine().rebuilds();
    double mean = 0;
    for (int b = 0; b < batches; ++b) {
        mean += walk_.advance(batch_steps) / (batches * batch_steps);
        costs.batches.push_back(own.advance(batch_steps) / batch_steps);
    }
    costs.steps_per_rebuild = double{batches * batch_steps} /
                              static_cast<double>(std::max<std::int64_t>(1, own.engine().rebuilds() - rebuilds));
    const std::vector<double> tile_seconds = walk_.engine().take_tile_seconds();
    const std::vector<balance::Unknowns> later = counts_of_processes();
    std::vector<double> seconds(owners_.processes(), 0.0);
    for (std::size_t t = 0; t < tile_seconds.size(); ++t)
        seconds[walk_.engine().tiles().process_of(t)] +=
            tile_seconds[t] / (batches * batch_steps) / omp_get_max_threads();
    balance::Unknowns all{};
    for (std::size_t p = 0; p < counts.size(); ++p)
        for (int k = 0; k < balance::unknowns; ++k)
            counts[p][k] = (counts[p][k] + later[p][k]) / 2, all[k] += counts[p][k];

    costs.seconds = balance::least_squares(counts, seconds);
    const double tiles = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    costs.fitted = std::inner_product(all.begin(), all.end(), costs.seconds.begin(), 0.0) / tiles;
    // Costs beside the tiles, such as sorting and migrating particles, count for the particles. Then all costs are
    // scaled to a run of one process on the rank. The median of the batches counts, because others may disturb some.
    for (double& s : costs.seconds) s *= std::min(tiles, mean) / (costs.fitted * tiles);
    costs.seconds[1] += std::max(0.0, mean - tiles) / all[1];
    costs.step_seconds = balance::median(costs.batches);
    for (double& s : costs.seconds) s *= costs.step_seconds / mean;
    return costs;
}

double Sample::steps_per_rebuild() {
    const auto to_next = [&] {  // rebuild; a deck whose particles hardly move is not waited for
        std::int64_t steps = 0;
        const std::int64_t rebuilds = walk_.engine().rebuilds();
        for (; walk_.engine().rebuilds() == rebuilds && steps < most_waiting_steps; ++steps) walk_.advance(1);
        return steps;
    };
    walk_.advance(1);
    to_next();
    return static_cast<double>(to_next() + to_next()) / 2;
}

}  // namespace app
