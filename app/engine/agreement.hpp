// SPDX-License-Identifier: MIT
// Agreement of all ranks after each pass on four things: the largest displacement since the neighbour lists were built,
// faults, requests to stop, and the number of particles. It takes one reduction a pass. The reduction travels during
// the next pass, as long as no particle can meanwhile leave the range of the lists.
#pragma once
#include <cstdint>
#include <optional>

#include "comm/communicator.hpp"
#include "md/tile.hpp"

namespace app {

/// Particles of a rank: that it holds, and that it was given at the start. Only the sums over all ranks are equal.
struct Holdings {
    std::int64_t held = 0, given = 0;
};

class Agreement {
public:
    /// late: results may come one pass late. Not where velocities may change at once, by thermostats or faces that
    /// move.
    Agreement(const comm::Communicator& comm, bool late) : comm_(comm), late_(late) {}

    /// The neighbour lists were built now. limit: a particle may move so far, packed units.
    void lists_built(double limit);

    /// Call it after a pass. Throws comm::Agreed<md::SimulationError> for a fault or lost particles. Throws a plain one
    /// on a rank that finds that it has waited too little (see the .cpp). Collective.
    ///
    /// mine: this rank's result of the pass.
    ///
    /// moved: the pass has moved particles. Otherwise others look at its state, so the call waits for the result.
    void add(const md::StepResult& mine, std::int64_t stop, bool moved, const Holdings& particles = {});

    const comm::Communicator& comm() const { return comm_; }

    /// Waits for what is on its way. Throws as add(). Collective.
    void finish();

    /// A particle has moved further than the limit, or no lists were ever built.
    bool displaced() const { return displaced_; }
    void set_displaced() { displaced_ = true; }
    /// Largest wish of all ranks.
    std::int64_t stop() const { return stop_; }
    /// Passes whose result was not waited for, and all that moved particles.
    std::int64_t passes_late() const { return passes_late_; }
    std::int64_t passes() const { return passes_; }

private:
    void take(int passes_ago);
    void take_displacement(float displacement2);
    void throw_fault(int passes_ago) const;
    void throw_lost(int passes_ago) const;

    const comm::Communicator& comm_;
    bool late_;
    std::optional<comm::Reduction> on_its_way_;
    md::StepResult mine_;  // of that pass
    bool moved_ = false;   // likewise
    Holdings particles_;
    bool displaced_ = true;
    double limit_ = 0, farthest_ = 0;  // packed units, since the lists were built
    double longest_step_ = 0;          // of a particle in one pass, as far as it shows, since then
    double longest_before_ = 0;        // the same, with the lists before these
    std::int64_t stop_ = 0, passes_ = 0, passes_late_ = 0;
};

}  // namespace app
