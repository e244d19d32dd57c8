// SPDX-License-Identifier: MIT
// The deck's particles on one rank: counted, for the load field, and run for some steps, for the costs of this machine.
#pragma once
#include <memory>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/grid/grid.hpp"
#include "balance/model/least_squares.hpp"
#include "balance/model/load_model.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Counts of cells beside their particles: things take four passes over the particles, work takes one.
enum class Count {
    things,  ///< cells, particles, candidates and pairs
    work     ///< their cost by the deck's balance.work
};

/// All cells of the grid, column by column.
struct CountedField {
    std::int64_t step = 0;  ///< steps before this sample
    balance::Grid grid;
    int halo = 1, reach = 1;                 ///< of a run (Setup)
    std::vector<balance::Unknowns> counts;   ///< Count::things: 1 for the cell, particles, candidates, pairs
    std::vector<balance::CellCounts> cells;  ///< particles, in the cell and around it
    std::vector<std::int64_t> work;          ///< Count::work: ticks a step
};

/// Counts of cells during the deck's first steps.
struct SampledCourse {
    std::vector<CountedField> fields{};  ///< the first one of the state that it starts with
    double steps_per_rebuild = 0;        ///< of the neighbour lists; 0: no rebuild was due
};

/// Measured by running the deck's first steps.
struct MeasuredCosts {
    balance::Unknowns seconds{};    ///< for each thing counted, on a rank with its threads
    double step_seconds = 0;        ///< wall time of a mean step
    std::vector<double> batches{};  ///< the same, of several batches of steps
    double steps_per_rebuild = 1;
    double fitted = 0;  ///< what the fit makes of the whole field, over what was measured: 1 is best
};

/// An engine on this rank alone that does the deck's steps.
class Walk {
public:
    /// The state is that of the deck's load section. Throws as load_field().
    Walk(const Deck& deck, const Setup& setup, const balance::Decomposition& owners, const comm::Communicator& alone);
    /// Returns the wall seconds of these steps.
    double advance(std::int64_t steps);
    Engine& engine() { return *engine_; }

private:
    Timers timers_;
    std::unique_ptr<Engine> engine_;
    bool started_ = false;
};

class Sample {
public:
    /// alone: a communicator of this rank alone. The state is that of the deck's load section. Throws as load_field().
    Sample(const Deck& deck, const comm::Communicator& alone);

    CountedField count(std::int64_t step, Count what);
    /// Counts now and at the balancings of the deck's first steps (without balancing: some times), as far as
    /// most_particle_steps steps of particles reach, and at least one step far, if the deck has one.
    /// length: factor of all lengths. Particles need `length` times more steps for the way from end to end.
    SampledCourse course(double most_particle_steps, Count what, double length);
    /// Runs until the skin is tuned, a second at most. Then batches of steps are timed in two ways. Tiles of virtual
    /// processes give the cost of each feature, and the tiles of a run on one rank the sum. Holds all particles twice.
    MeasuredCosts measure();
    /// Steps from one rebuild of the neighbour lists to the next, the mean of the first two; at most 100. The same on
    /// every machine where the deck gives the skin.
    double steps_per_rebuild();

private:
    std::vector<balance::Unknowns> counts_of_processes();

    const comm::Communicator& comm_;
    Deck own_, deck_;  ///< as it is, and with what counting needs
    Setup own_setup_, setup_;
    balance::Decomposition owners_;
    Walk walk_;
};

}  // namespace app
