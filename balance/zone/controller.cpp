// SPDX-License-Identifier: MIT
// The table of controllers, and what all of them have in common: their memory is checked, and the times are told to the
// relative speed before the step.
#include "balance/zone/controller.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

// Name, and function make_<name>() of the file that it stands in.
// clang-format off
#define STEELYARD_CONTROLLERS(add) \
    add(cpu_load)                  \
    add(measured_speed)            \
    add(fixed)
// clang-format on

namespace balance {

#define STEELYARD_DECLARED(name) Controller make_##name();
STEELYARD_CONTROLLERS(STEELYARD_DECLARED)
#undef STEELYARD_DECLARED

Controller make_fixed() { return {}; }

namespace {

struct Entry {
    std::string_view name;
    Controller controller;
};
const std::vector<Entry>& entries() {
    static const std::vector<Entry> all{
#define STEELYARD_NAMED(name) {#name, make_##name()},
        STEELYARD_CONTROLLERS(STEELYARD_NAMED)
#undef STEELYARD_NAMED
    };
    return all;
}

constexpr std::size_t common = RelativeSpeed::numbers;

bool accepted_by(const Controller& c, std::span<const double> own) {
    return own.size() == c.memory.size() && c.accepts(own);
}

// Whether some controller can have made these numbers.
bool possible(std::span<const double> v) {
    if (v.size() < common || !std::ranges::all_of(v, [](double x) { return std::isfinite(x); })) return false;
    return RelativeSpeed::from_numbers(v.first<common>()).possible() &&
           std::ranges::any_of(entries(), [&](const Entry& e) { return accepted_by(e.controller, v.subspan(common)); });
}

}  // namespace

std::vector<std::string> controller_names() {
    std::vector<std::string> names;
    for (const Entry& e : entries()) names.emplace_back(e.name);
    return names;
}

const Controller& controller(std::string_view name) {
    for (const Entry& e : entries())
        if (e.name == name) return e.controller;
    throw std::invalid_argument("there is no controller " + std::string(name));
}

bool is_controller_memory(std::span<const double> values) { return values.empty() || possible(values); }

BorderStep next_share(const Controller& controller, const ZoneTimes& times, ControllerState& state) {
    RelativeSpeed speed;
    std::vector<double> own = controller.memory;
    if (possible(state.values)) {
        const std::span<const double> values = state.values;
        speed = RelativeSpeed::from_numbers(values.first<common>());
        if (accepted_by(controller, values.subspan(common))) own.assign(values.begin() + common, values.end());
    }
    const bool observed = speed.observe(times);
    const BorderStep step = controller.step ? controller.step(times, speed, observed, own) : kept(times);
    const std::array<double, common> numbers = speed.to_numbers();
    state.values.assign(numbers.begin(), numbers.end());
    state.values.insert(state.values.end(), own.begin(), own.end());
    return step;
}

BorderStep next_share(std::string_view name, const ZoneTimes& times, ControllerState& state) {
    return next_share(controller(name), times, state);
}

double relative_speed(const ControllerState& state) {
    if (!possible(state.values)) return 0;
    const auto speed = RelativeSpeed::from_numbers(std::span<const double>(state.values).first<common>());
    return speed.weight > 0 ? std::exp(speed.ratio) : 0;
}

bool check_due(std::int64_t steps_since_start, std::int64_t every) {
    if (steps_since_start <= 0 || every <= 0) return false;
    if (steps_since_start >= every) return steps_since_start % every == 0;
    return std::has_single_bit(static_cast<std::uint64_t>(steps_since_start));
}

}  // namespace balance
