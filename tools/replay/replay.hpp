// SPDX-License-Identifier: MIT
// steelyard replay: balances a load series again, without particles.
#pragma once
#include "app/run/options.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Writes balance.csv, resources.csv and summary.json. Returns the exit code. Collective.
int replay(const Options& options, const comm::Communicator& comm);

}  // namespace app
