// SPDX-License-Identifier: MIT
// The commands.
#pragma once
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace app {

struct Options {
    std::string deck;
    std::string out;  ///< empty: out/<deck name>
    std::string restart;  ///< a checkpoint's path, `auto`, or empty
    std::vector<std::string> settings;
    bool quiet = false;
};

/// steelyard run. Collective. Returns the exit code.
int run(const Options& options, const comm::Communicator& comm);

/// steelyard info: what the checkpoint options.deck holds; verifies it.
int info(const Options& options, const comm::Communicator& comm);

/// steelyard check: validates and prints the effective deck, memory a rank, cells, patches.
int check(const Options& options, const comm::Communicator& comm);

}  // namespace app
