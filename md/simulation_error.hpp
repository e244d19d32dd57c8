// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace md {

/// The simulation cannot go on (lost or too fast particle, force out of range, too dense). what() names the particle.
struct SimulationError : std::runtime_error {
    explicit SimulationError(const std::string& what, std::string what_helps = "use a smaller dt or a softer start")
        : std::runtime_error(what), remedy(std::move(what_helps)) {}
    int passes_ago = 0;  ///< passes between the error and its discovery
    std::string remedy;  ///< what the user can do about it
};

}  // namespace md
