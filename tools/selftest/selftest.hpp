// SPDX-License-Identifier: MIT
// steelyard selftest: runs with known results, to accept a machine or an installation.
#pragma once
#include "app/run/options.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Runs two decks for a few steps with each set of kernels in both precisions, and once over a restart. Compares the
/// state hashes with expected.csv in the directory of the decks, and prints a line for each run. Returns the exit code.
/// Collective. Throws comm::Agreed<InputError>, and comm::Agreed<RunError> with exit code 4 if a hash differs.
int selftest(const Options& options, const comm::Communicator& comm);

}  // namespace app
