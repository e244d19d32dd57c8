// SPDX-License-Identifier: MIT
// Which thermostat a system has, and when it acts.
#pragma once
#include <cstdint>
#include <optional>

#include "balance/words.hpp"

namespace md {

enum class ThermostatKind { none, langevin, rescale };
constexpr auto words_of(ThermostatKind) {
    return std::to_array<balance::Word<ThermostatKind>>(
        {{ThermostatKind::none, "none"}, {ThermostatKind::langevin, "langevin"}, {ThermostatKind::rescale, "rescale"}});
}

struct Thermostat {
    ThermostatKind kind = ThermostatKind::none;
    double temperature = 1;
    double friction = 1;                  ///< langevin: 1 / time
    std::int64_t every = 10;              ///< steps between its actions
    std::int64_t from = 0;                ///< the first step at which it acts
    std::optional<std::int64_t> to = {};  ///< and the first at which it no longer does

    bool acts(std::int64_t step) const {
        return kind != ThermostatKind::none && step >= from && (!to || step < *to) && (step - from) % every == 0;
    }
    /// Half of what friction takes of a velocity between two actions, to first order; langevin needs less than 1.
    double half_loss(double dt) const { return friction * static_cast<double>(every) * dt / 2; }
};

}  // namespace md
