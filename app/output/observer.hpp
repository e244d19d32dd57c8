// SPDX-License-Identifier: MIT
// The interface between the step loop and the writers of results.
#pragma once
#include <cstdint>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"

namespace app {

/// Outputs that are due at one step.
struct Due {
    bool sums = false;    ///< energies and momenta
    bool cells = false;   ///< series() with particles just sorted into their cells, and positions and velocities of the
                          ///< same time
    bool series = false;  ///< series() with positions and velocities of the same time
    bool forces = false;  ///< and the forces of that time
    bool checkpoint = false;
};

/// A stage between two steps in which the neighbour lists were rebuilt, or a balancing was due.
struct Stage {
    std::int64_t step = 0;
    bool rebuilt = false;    ///< the lists are new
    bool due = false;        ///< and would be without a balancing, too
    bool balancing = false;  ///< a balancing was due
    double seconds = 0;
};

/// Where a run's results go: whoever wants some overrides what tells of them. All calls are collective.
class Observer {
public:
    virtual ~Observer() = default;
    virtual Due due(std::int64_t /*step*/) const { return {}; }
    /// New plans of messages follow: particles change their tiles, ghosts are exchanged anew.
    virtual void rebuilding(std::int64_t /*step*/) {}
    /// After Engine::build_neighbour_lists(), where they are new.
    virtual void rebuilt(const Stage&, const Engine&) {}
    virtual void sums(std::int64_t /*step*/, const Engine&) {}
    /// Whatever is written at intervals of its own.
    virtual void series(std::int64_t /*step*/, Engine&) {}
    virtual void checkpoint(std::int64_t /*step*/, const Engine&) {}
    /// resources: of the processes that this rank hosts.
    virtual void balanced(const std::vector<BalanceRow>& /*rows*/, const std::vector<ResourceRow>& /*resources*/) {}
    /// Who had which cells up to a balancing.
    virtual void balanced_cells(const BalancedCells&) {}
    /// rows: on rank 0, of all ranks.
    virtual void border(const std::vector<ZoneRow>& /*rows*/) {}
    /// Non-zero when this rank wants the run to stop; asked once a step, the largest answer of all ranks counts.
    virtual std::int64_t stop_wanted() const { return 0; }
};

}  // namespace app
