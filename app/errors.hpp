// SPDX-License-Identifier: MIT
// What can go wrong outside the deck and the physics; main turns each into its exit code. Thrown on all ranks alike.
#pragma once
#include <stdexcept>

namespace app {

/// A checkpoint or another input file cannot be used (exit code 3).
struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The output directory or a file in it cannot be written (exit code 5).
struct OutputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace app
