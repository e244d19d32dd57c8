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

/// Measurements of one rank since the last check.
struct ZoneTimes {
    double share = 0;                ///< Part of the rank's load in the accelerator's zone.
    double least = 0, most = 1;      ///< Bounds of the share; `most` is the share of the inner block.
    double grain = 0;                ///< Load of a strip relative to the rank's. A smaller change moves nothing.
    double cpu_seconds = 0;          ///< Elapsed seconds a step of the CPU's threads in their zone.
    double accelerator_seconds = 0;  ///< Seconds a step of the accelerator in its zone.
    double cpu_load = 1;             ///< Process CPU time / threads / elapsed time, 0..1.
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
    /// times: the measurements.
    ///
    /// speed: the estimate that all controllers share, with these times already in it.
    ///
    /// observed: true if the times changed that estimate.
    ///
    /// memory: numbers of its own, to read and to change.
    using Step = BorderStep (*)(const ZoneTimes& times, RelativeSpeed& speed, bool observed, std::span<double> memory);
    Step step = nullptr;              ///< None: the border never moves, and a restart takes the deck's share.
    std::vector<double> memory = {};  ///< Its own numbers before the first check.
    /// True if it can have made these numbers, which are finite and as many as `memory`. Damaged checkpoints are
    /// refused so.
    bool (*accepts)(std::span<const double> memory) = [](std::span<const double>) { return true; };
};

/// The names of all controllers, as decks have them.
std::vector<std::string> controller_names();
/// The controller of that name. Throws std::invalid_argument when there is none.
const Controller& controller(std::string_view name);

/// Memory of a controller, as checkpoints hold it: the shared estimate of the speeds, then its own numbers. The
/// estimate also serves after a change of the controller. A list that no controller can have made counts as empty, as
/// at the start.
struct ControllerState {
    std::vector<double> values;
    friend bool operator==(const ControllerState&, const ControllerState&) = default;
};

/// Whether a controller can have remembered these numbers; none at all are the start.
bool is_controller_memory(std::span<const double> values);

/// The next share. Times of empty zones and impossible values (zero or negative seconds, not finite) do not count. If
/// nothing is known, the border is kept. The rules and their reasons: docs/zones.md.
BorderStep next_share(const Controller& controller, const ZoneTimes& times, ControllerState& state);
BorderStep next_share(std::string_view controller, const ZoneTimes& times, ControllerState& state);

/// Speed of the accelerator relative to the CPU that the controller has found, in the same load a second; 0: not yet.
double relative_speed(const ControllerState& state);

/// True if a check of the border is due so many steps after the start (or the restart of the schedule). Checks come
/// after 1, 2, 4, ... steps up to `every`, then every `every` steps. every <= 0: never.
bool check_due(std::int64_t steps_since_start, std::int64_t every);

}  // namespace balance
