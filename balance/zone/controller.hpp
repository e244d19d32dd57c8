// SPDX-License-Identifier: MIT
// Controllers of the border between the zones of a CPU and its accelerators. A controller is a pure function. From the
// measurements since the last check and its memory it computes the next share. Each controller has a source file, and
// an entry in the table of controller.cpp.
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
    double cpu_seconds = 0;          ///< Wall time of the CPU's zone, seconds a step.
    double accelerator_seconds = 0;  ///< Time of the accelerator's zone, seconds a step.
    double cpu_load = 1;             ///< Process CPU time / threads / elapsed time, 0..1.
};

/// Direction in which the border moves: the zone on that side shrinks.
enum class BorderDecision { kept, grow_accelerator, grow_cpu };
/// As zones.csv spells them.
constexpr auto words_of(BorderDecision) {
    return std::to_array<Word<BorderDecision>>({{BorderDecision::kept, "kept"},
                                                {BorderDecision::grow_accelerator, "accelerator grows"},
                                                {BorderDecision::grow_cpu, "cpu grows"}});
}
struct BorderStep {
    double share = 0;  ///< the next share, within [least, most]; the present share if the border is kept
    BorderDecision decision = BorderDecision::kept;
};

/// The border is kept where it is.
inline BorderStep kept(const ZoneTimes& t) { return {t.share, BorderDecision::kept}; }
/// The border is moved to another share.
inline BorderStep moved_to(double share, const ZoneTimes& t) {
    return {share, share > t.share ? BorderDecision::grow_accelerator : BorderDecision::grow_cpu};
}

/// A rule by which the border moves.
struct Controller {
    /// times: the measurements.
    /// speed: the estimate that all controllers share, with these times already in it.
    /// observed: true if the times changed that estimate.
    /// memory: numbers of its own, to read and to change.
    using Step = BorderStep (*)(const ZoneTimes& times, RelativeSpeed& speed, bool observed, std::span<double> memory);
    Step step = nullptr;              ///< nullptr: the border never moves, and a restart uses the deck's share.
    std::vector<double> memory = {};  ///< The controller's own numbers before the first check.
    /// Returns false for numbers that the controller cannot have made, so that damaged checkpoints are refused. Called
    /// with the length of `memory` and finite numbers.
    bool (*accepts)(std::span<const double> memory) = [](std::span<const double>) { return true; };
};

/// The names of all controllers, as decks have them.
std::vector<std::string> controller_names();
/// The controller of that name. Throws std::invalid_argument when there is none.
const Controller& controller(std::string_view name);

/// Memory of a controller in checkpoints: the estimate of the relative speed, then the controller's own numbers. All
/// controllers make the same estimate, so another controller can go on with it. Numbers that no controller can have
/// made count as an empty list, which is the memory at the start.
struct ControllerState {
    std::vector<double> values;
    friend bool operator==(const ControllerState&, const ControllerState&) = default;
};

/// Whether a controller can have made these numbers. True for an empty list, the memory at the start.
bool is_controller_memory(std::span<const double> values);

/// The next share. Times of an empty zone are ignored, and so are times that are not positive and finite. Without any
/// measurement the border is kept. Rules and reasons: docs/zones.md.
BorderStep next_share(const Controller& controller, const ZoneTimes& times, ControllerState& state);
BorderStep next_share(std::string_view controller, const ZoneTimes& times, ControllerState& state);

/// The controller's estimate of the accelerator's speed over the CPU's. Speeds are load per second. 0: no estimate yet.
double relative_speed(const ControllerState& state);

/// True if a check of the border is due `steps_since_start` steps after the start (or the restart of the schedule).
/// Checks come after 1, 2, 4, ... steps up to `every`, then every `every` steps. every <= 0: never.
bool check_due(std::int64_t steps_since_start, std::int64_t every);

}  // namespace balance
