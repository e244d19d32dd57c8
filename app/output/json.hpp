// SPDX-License-Identifier: MIT
// Parts that several JSON files have in common. For sources only, because the library takes seconds to compile.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "comm/communicator.hpp"

namespace app {

using Json = nlohmann::ordered_json;

/// Names of files need not be UTF-8; other bytes are replaced.
std::string text_of(const Json& j, int indent);

inline Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
inline Json json_of(const comm::Spread& s) { return {{"min", s.min}, {"mean", s.mean}, {"max", s.max}}; }

/// Adds the program, its build, the command line, the date, and a simulated platform.
void add_program(Json& j, const std::vector<std::string>& command_line);

/// Adds the overall LBE of each model.
void add_overall(Json& j, const std::vector<Overall>& overall);

}  // namespace app
