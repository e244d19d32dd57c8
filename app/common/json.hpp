// SPDX-License-Identifier: MIT
// Parts that several JSON files have in common. For sources only, because the library takes seconds to compile.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace app {

using Json = nlohmann::ordered_json;

/// Names of files need not be UTF-8; other bytes are replaced.
inline std::string text_of(const Json& j, int indent) {
    return j.dump(indent, ' ', false, Json::error_handler_t::replace);
}

inline Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
inline Json json_of(const comm::Spread& s) { return {{"min", s.min}, {"mean", s.mean}, {"max", s.max}}; }

/// The library would convert any number, also one that no integer can hold. Throws Json::exception.
inline std::int64_t whole(const Json& number) { return number.get_ref<const Json::number_integer_t&>(); }

/// Adds the program, its build, the command line, the date, and a simulated platform.
void add_program(Json& j, const std::vector<std::string>& command_line);

}  // namespace app
