// SPDX-License-Identifier: MIT
// The deck's particles on one rank: counted, for the load field, and run for some steps, for the costs of this machine.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/grid/grid.hpp"
#include "comm/communicator.hpp"
#include "comm/team.hpp"
#include "predict/fit.hpp"

namespace app {

/// What the cells hold that costs time: 1 for the cell, particles, candidates, pairs (balance::WorkCosts). All cells of
/// the grid, column by column.
struct CountedField {
    balance::Grid grid;
    int halo = 1;  ///< width of a run's ghosts, cells
    std::vector<predict::FitRow> counts;
    std::vector<std::int64_t> particles, work;  ///< work: ticks a step by the deck's balance.work
};

/// Measured by running the deck's first steps.
struct MeasuredCosts {
    predict::FitRow seconds{};      ///< for each thing counted, on a rank with its threads
    double step_seconds = 0;        ///< wall time of a mean step
    std::vector<double> batches{};  ///< the same, of several batches of steps
    double steps_per_rebuild = 1;
    double fitted = 0;  ///< what the fit makes of the whole field, over what was measured: 1 is best
};

class Sample {
public:
    /// alone: a communicator of this rank alone. The state is that of the deck's load section. Throws as load_field().
    Sample(const Deck& deck, const comm::Communicator& alone);

    CountedField count();
    /// Runs until the skin is tuned, a second at most, and then some batches of steps, which are timed.
    MeasuredCosts measure();
    /// Steps from one rebuild of the neighbour lists to the next, the mean of the first two; at most 100. The same on
    /// every machine where the deck gives the skin.
    double steps_per_rebuild();

private:
    double advance(std::int64_t steps);
    std::vector<predict::FitRow> counts_of_processes();

    const comm::Communicator& comm_;
    Deck deck_;
    int halo_;
    Setup setup_;
    balance::Decomposition owners_;
    Timers timers_;
    std::unique_ptr<Engine> engine_;
    bool started_ = false;
};

}  // namespace app
