// SPDX-License-Identifier: MIT
// Times of messages between two ranks, measured with the same exchange that carries ghosts.
#pragma once
#include <string>

#include "app/deck/machine_file.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Fills in what a machine's messages cost between the ranks here: two of one node, and two of different nodes, where
/// there are such. The machine keeps what cannot be measured. Returns what was measured, in words. Collective.
std::string measure_messages(predict::Machine& machine, const comm::Communicator& comm);

}  // namespace app
