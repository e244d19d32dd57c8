// SPDX-License-Identifier: MIT
// The commands.
#pragma once
#include "app/run/options.hpp"
#include "app/run/outcome.hpp"
#include "comm/communicator.hpp"

namespace app {

/// steelyard run. Collective.
Outcome run(const Options& options, const comm::Communicator& comm);

/// steelyard info: what the checkpoint options.deck holds; verifies it.
int info(const Options& options, const comm::Communicator& comm);

/// steelyard check: validates and prints the effective deck, memory a rank, cells, processes.
int check(const Options& options, const comm::Communicator& comm);

}  // namespace app
