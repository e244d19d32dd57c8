// SPDX-License-Identifier: MIT
// The base of the errors in errors.hpp, for the engine, which builds without fmt.
#pragma once
#include <stdexcept>
#include <string>

namespace app {

/// An error that ends the run with exit code `code`. what(): `WHERE: WHAT; REMEDY`, one line.
struct RunError : std::runtime_error {
    RunError(int exit_code, const std::string& what) : std::runtime_error(what), code(exit_code) {}
    int code;
};

}  // namespace app
