// SPDX-License-Identifier: MIT
// A machine as a YAML file, for predictions: written after a calibration, edited by hand for a machine that is not
// here.
#pragma once
#include <string>

#include "comm/communicator.hpp"
#include "predict/machine.hpp"

namespace app {

/// Collective. Throws InputError naming file, line, key and remedy.
predict::Machine read_machine(const std::string& path, const comm::Communicator& comm);

/// Every key with its meaning; read_machine() reads it back to the same bits.
std::string to_yaml(const predict::Machine& machine);

}  // namespace app
