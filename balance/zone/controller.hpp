// SPDX-License-Identifier: MIT
// Who moves the border between the zones of a CPU and its accelerators, by how far: pure functions of what was measured
// since the last check.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/words.hpp"

namespace balance {

enum class ControllerKind {
    cpu_load,        ///< by the load of the CPU, as Andrianov et al. (2020)
    measured_speed,  ///< to where both zones take the same time, by the speeds that their times show
    fixed            ///< never
};
constexpr auto words_of(ControllerKind) {
    return std::to_array<Word<ControllerKind>>({{ControllerKind::cpu_load, "cpu_load"},
                                                {ControllerKind::measured_speed, "measured_speed"},
                                                {ControllerKind::fixed, "fixed"}});
}

/// What one rank measured since the last check.
struct ZoneTimes {
    double share = 0;            ///< part of the rank's load in the accelerator's zone
    double least = 0, most = 1;  ///< shares that the border can have: most is the inner block's
    double grain = 0;            ///< load of a strip of cells relative to the rank's: a smaller change moves nothing
    double cpu_seconds = 0;      ///< elapsed seconds that the CPU's threads computed their zone, a step
    double accelerator_seconds = 0;  ///< that the accelerator computed its own, a step
    double cpu_load = 1;             ///< process CPU time / threads / elapsed time, 0..1
};

/// Whose zone shrinks where the border moves.
enum class BorderDecision { kept, towards_cpu, towards_accelerator };
/// As zones.csv spells them.
constexpr auto words_of(BorderDecision) {
    return std::to_array<Word<BorderDecision>>({{BorderDecision::kept, "kept"},
                                                {BorderDecision::towards_cpu, "accelerator grows"},
                                                {BorderDecision::towards_accelerator, "cpu grows"}});
}
struct BorderStep {
    double share = 0;  ///< wanted from now on, within [least, most]; the present one where the border is kept
    BorderDecision decision = BorderDecision::kept;
};

/// What a controller remembers; saved in checkpoints as it is. Every kind understands what another one remembers. A
/// list that no controller can have made counts as an empty one, which is the start.
struct ControllerState {
    std::vector<double> values;
    friend bool operator==(const ControllerState&, const ControllerState&) = default;
};

/// The next share. Times of zones that are empty, and values that can't be (zero or negative seconds, not finite), tell
/// nothing; where nothing is known the border is kept. The rules and why: docs/zones.md.
BorderStep next_share(ControllerKind kind, const ZoneTimes& times, ControllerState& state);

/// Speed of the accelerator relative to the CPU that the controller has found, in the same load a second; 0: not yet.
double relative_speed(const ControllerState& state);

/// Checks of the border come after 1, 2, 4, ... steps up to `every`, then after each `every` steps: whether one is due
/// so many steps after the start (or the restart of the schedule). every <= 0: never.
bool check_due(std::int64_t steps_since_start, std::int64_t every);

}  // namespace balance
