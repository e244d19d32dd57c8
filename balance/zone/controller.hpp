// SPDX-License-Identifier: MIT
// Who moves the border between the zones of a CPU and its accelerators, by how far: pure functions of what was measured
// since the last check. A controller is a file with its step and an entry of the table in controller.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balance/words.hpp"
#include "balance/zone/relative_speed.hpp"

namespace balance {

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

/// The border is kept where it is.
inline BorderStep kept(const ZoneTimes& t) { return {t.share, BorderDecision::kept}; }
/// The border is moved to another share.
inline BorderStep moved_to(double share, const ZoneTimes& t) {
    return {share, share > t.share ? BorderDecision::towards_cpu : BorderDecision::towards_accelerator};
}

/// A rule by which the border moves.
struct Controller {
    /// times: what was measured. speed: what all controllers learn, with these times already in it; observed: they told
    /// something. memory: numbers of its own, to read and to change.
    using Step = BorderStep (*)(const ZoneTimes& times, RelativeSpeed& speed, bool observed, std::span<double> memory);
    Step step = nullptr;              ///< none: the border never moves, and a restart takes the deck's share
    std::vector<double> memory = {};  ///< its own numbers before the first check
    /// Whether it can have made such numbers, as many as `memory` and finite: damaged checkpoints are refused.
    bool (*accepts)(std::span<const double> memory) = [](std::span<const double>) { return true; };
};

/// The names of all controllers, as decks have them.
std::vector<std::string> controller_names();
/// The controller of that name. Throws std::invalid_argument when there is none.
const Controller& controller(std::string_view name);

/// What a controller remembers; saved in checkpoints as it is: what all learn, then its own numbers. What another one
/// has learnt of the speeds serves too. A list that no controller can have made counts as an empty one, which is the
/// start.
struct ControllerState {
    std::vector<double> values;
    friend bool operator==(const ControllerState&, const ControllerState&) = default;
};

/// Whether a controller can have remembered these numbers; none at all are the start.
bool is_controller_memory(std::span<const double> values);

/// The next share. Times of zones that are empty, and values that can't be (zero or negative seconds, not finite), tell
/// nothing; where nothing is known the border is kept. The rules and why: docs/zones.md.
BorderStep next_share(const Controller& controller, const ZoneTimes& times, ControllerState& state);
BorderStep next_share(std::string_view controller, const ZoneTimes& times, ControllerState& state);

/// Speed of the accelerator relative to the CPU that the controller has found, in the same load a second; 0: not yet.
double relative_speed(const ControllerState& state);

/// Checks of the border come after 1, 2, 4, ... steps up to `every`, then after each `every` steps: whether one is due
/// so many steps after the start (or the restart of the schedule). every <= 0: never.
bool check_due(std::int64_t steps_since_start, std::int64_t every);

}  // namespace balance
