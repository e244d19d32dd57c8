// SPDX-License-Identifier: MIT
// Content of a checkpoint besides its particles and the knowledge of the load balancer.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "md/observables.hpp"

namespace app {

// Where a state comes from. Step numbers don't tell: a run that went back to an older checkpoint with another time step
// has the same numbers and is another trajectory. So every start of the program, fresh or from a checkpoint, gets a
// number of its own, and checkpoints and output directories know all the starts that led to them.
struct Start {
    std::uint64_t id = 0;   ///< drawn at random
    std::int64_t step = 0;  ///< where it began
    friend bool operator==(const Start&, const Start&) = default;
};

/// The starts that led to a state, the fresh one first. Empty where it isn't known: checkpoints of the time
/// before run.json, as restarts/strip_t1.h5.
using Lineage = std::vector<Start>;

/// A lineage as the numbers that a file holds: id and step of each start; an odd number at the end is left out.
inline std::vector<std::int64_t> numbers_of(const Lineage& lineage) {
    std::vector<std::int64_t> numbers;
    for (const Start& s : lineage) numbers.insert(numbers.end(), {static_cast<std::int64_t>(s.id), s.step});
    return numbers;
}
inline Lineage lineage_from(const std::vector<std::int64_t>& numbers) {
    Lineage lineage;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
        lineage.push_back({static_cast<std::uint64_t>(numbers[i]), numbers[i + 1]});
    return lineage;
}

/// Whether the state of `step` with the lineage `past` is a moment of the run with the lineage `whole`: that run went
/// through all its starts, and did not leave it before that step.
inline bool is_moment_of(const Lineage& past, std::int64_t step, const Lineage& whole) {
    if (past.empty() || past.size() > whole.size() || !std::equal(past.begin(), past.end(), whole.begin()))
        return false;
    return past.size() == whole.size() || step <= whole[past.size()].step;
}

/// Where a checkpoint holds what a run chose by itself, and its candidates.
inline const std::string choice_path = "/balance/choice";

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
