// SPDX-License-Identifier: MIT
// The text of summary.json.
#pragma once
#include <string>
#include <vector>

#include "app/common/json.hpp"
#include "app/output/summary/summary.hpp"

namespace app {

/// The text of summary.json.
std::string to_json(const Summary& summary);

/// Adds the overall LBE of each model.
void add_overall(Json& j, const std::vector<Overall>& overall);

/// Adds what a run chose by itself; nothing if its deck leaves it no choice.
void add_choice(Json& j, const balance::Candidates& candidates, const balance::Choice& choice);

/// Adds the seconds of each contender, and least_time().
void add_costs(Json& j, const std::vector<balance::ContenderCost>& costs);

}  // namespace app
