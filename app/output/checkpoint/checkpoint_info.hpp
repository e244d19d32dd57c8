// SPDX-License-Identifier: MIT
// Content of a checkpoint besides its particles and the knowledge of the load balancer.
#pragma once
#include <cstdint>
#include <string>

#include "app/deck/deck.hpp"
#include "app/output/checkpoint/lineage.hpp"
#include "md/observables.hpp"

namespace app {

/// Name of a checkpoint, without its directory.
inline std::string checkpoint_name(std::int64_t step) { return "checkpoint_" + std::to_string(step) + ".h5"; }

/// Physical time of each step, also after dt was changed at a restart.
struct Clock {
    std::int64_t step = 0;    ///< where the present dt came into force
    double time = 0, dt = 0;  ///< time of that step
    double at(std::int64_t s) const { return time + static_cast<double>(s - step) * dt; }
};

/// A checkpoint: its state without the particles, and its run.
struct CheckpointInfo {
    std::string path;
    std::int64_t step = 0, particles = 0;
    std::uint64_t state_hash = 0;
    double energy_first = 0, largest_kinetic = 0;  ///< for energy_drift
    Clock clock;                                   ///< time of each step
    md::Given given;                               ///< so far by thermostat and moving faces
    Lineage lineage;                               ///< of the run that wrote it
    Deck deck;                                     ///< of the run that wrote it
};

/// True if a thermostat or moving faces give energy to the system. A checkpoint then holds the sum of it.
inline bool gives(const md::System& system) {
    return system.thermostat.kind != md::ThermostatKind::none || md::has_motion(system);
}

}  // namespace app
