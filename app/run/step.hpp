// SPDX-License-Identifier: MIT
// The step loop.
#pragma once
#include <cstdint>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"

namespace app {

/// What is due at one step besides the step itself.
struct Due {
    bool sums = false;    ///< energies and momenta
    bool fields = false;  ///< cell fields
    bool state = false;   ///< a trajectory frame: positions and velocities at the same time
    bool forces = false;  ///< and the forces of that time
    bool checkpoint = false;
};

/// Where a run's results go. All calls are collective.
class Observer {
public:
    virtual ~Observer() = default;
    virtual Due due(std::int64_t step) const = 0;
    virtual void sums(std::int64_t step, const Engine& engine) = 0;
    virtual void fields(std::int64_t step, const Engine& engine) = 0;
    virtual void state(std::int64_t step, const Engine& engine) = 0;
    virtual void checkpoint(std::int64_t step, const Engine& engine) = 0;
    virtual void balanced(const std::vector<BalanceRow>& rows) = 0;
    /// Non-zero when this rank wants the run to stop; asked once a step, the largest answer of all ranks counts.
    virtual std::int64_t stop_wanted() const = 0;
};

/// Advances from step `first` to step `last`, or to the step after somebody wanted to stop, which then ends with a checkpoint;
/// positions and velocities are at a whole step before and after. Returns the step reached. Throws, on all ranks alike,
/// md::SimulationError naming the step, and DeckError when no partition keeps the deck's limit of particles any more:
/// after a checkpoint of that step, unless it is the first.
std::int64_t run_steps(Engine& engine, LoadBalancer& balancer, std::int64_t first, std::int64_t last, Observer& observer);

}  // namespace app
