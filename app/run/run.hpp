// SPDX-License-Identifier: MIT
// The commands.
#pragma once
#include "app/run/options.hpp"
#include "comm/communicator.hpp"

namespace app {

/// How a command ended; the same on all ranks.
struct ExitStatus {
    int code = 0;            ///< exit code
    bool by_signal = false;  ///< some rank was sent one
};

/// steelyard run. Collective.
ExitStatus run(const Options& options, const comm::Communicator& comm);

/// steelyard info: what the checkpoint options.deck holds; verifies it.
int info(const Options& options, const comm::Communicator& comm);

/// steelyard check: validates and prints the effective deck, memory a rank, cells, processes.
int check(const Options& options, const comm::Communicator& comm);

}  // namespace app
