// SPDX-License-Identifier: MIT
// The program's commands and their options.
#pragma once
#include "app/run/run.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Carries out the command that the words of the command line give. Collective. Throws comm::Agreed<UsageError> where
/// they are wrong or not the same on all ranks, and what the command throws.
ExitStatus carry_out(int argc, char** argv, const comm::Communicator& comm);

}  // namespace app
