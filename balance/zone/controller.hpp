// SPDX-License-Identifier: MIT
// Who moves the border between the zones of a CPU and its accelerators, by how far: pure functions of what was measured
// since the last check.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace balance {

enum class ControllerKind { cpu_load, measured_speed, fixed };

/// What one rank measured since the last check.
struct ZoneTimes {
    double share = 0;                ///< part of the rank's load in the accelerator's zone
    double least = 0, most = 1;      ///< shares that the border can have: most is the inner block's
    double grain = 0;                ///< load of a strip of cells relative to the rank's: a smaller change moves nothing
    double cpu_seconds = 0;          ///< elapsed seconds that the CPU's threads computed their zone, a step
    double accelerator_seconds = 0;  ///< that the accelerator computed its own, a step
    double cpu_load = 1;             ///< process CPU time / threads / elapsed time, 0..1
};

enum class BorderDecision { kept, towards_cpu, towards_accelerator };
struct BorderStep {
    double share = 0;  ///< wanted from now on, within [least, most]
    BorderDecision decision = BorderDecision::kept;
};

/// What a controller remembers; saved in checkpoints as it is.
struct ControllerState {
    std::vector<double> values;
    friend bool operator==(const ControllerState&, const ControllerState&) = default;
};

/// The next share. See docs/zones.md for both rules and why.
BorderStep next_share(ControllerKind kind, const ZoneTimes& times, ControllerState& state);

/// Speed of the accelerator relative to the CPU that the controller has found, in the same load a second; 0: not yet.
double relative_speed(const ControllerState& state);

/// Checks of the border come after 1, 2, 4, ... steps up to `every`: true where `step` steps after the start (or the
/// restart of the schedule) one is due.
bool check_due(std::int64_t steps_since_start, std::int64_t every);

}  // namespace balance
