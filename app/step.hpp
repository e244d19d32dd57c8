// SPDX-License-Identifier: MIT
// The step loop.
#pragma once
#include <cstdint>

#include "app/tiles.hpp"

namespace app {

/// What is due at one step besides the step itself.
struct Due {
    bool sums = false;    ///< energies and momenta
    bool fields = false;  ///< cell fields
    bool state = false;   ///< all positions, velocities and forces at the same time
};

/// Where a run's results go. All calls are collective.
class Observer {
public:
    virtual ~Observer() = default;
    virtual Due due(std::int64_t step) const = 0;
    virtual void sums(std::int64_t step, const Tiles& tiles) = 0;
    virtual void fields(std::int64_t step, const Tiles& tiles) = 0;
    virtual void state(std::int64_t step, const Tiles& tiles) = 0;
};

/// Advances from step `first` to step `last`; positions and velocities are at a whole step before and after.
void run_steps(Tiles& tiles, std::int64_t first, std::int64_t last, Observer& observer);

}  // namespace app
