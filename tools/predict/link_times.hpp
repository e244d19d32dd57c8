// SPDX-License-Identifier: MIT
// What messages cost between two ranks, measured with the same exchange that carries ghosts.
#pragma once
#include <string>

#include "app/deck/machine_costs.hpp"
#include "comm/communicator.hpp"

namespace app {

struct LinkTimes {
    predict::Link link;
    double message_seconds = 0;        ///< of a core, for each message
    double copy_bytes_per_second = 0;  ///< of messages shorter than the eager limit
    double spread = 0;                 ///< relative, of repeated measurements; 1 where longer messages seemed faster
};

/// Messages between ranks a and b, in both directions at once, as halos are: one or a burst, short and long. The same
/// on all ranks. Collective.
LinkTimes measure_link(const comm::Communicator& comm, int a, int b);

/// Fills in what a machine's messages cost between the ranks here: two of one node, and two of different nodes, where
/// there are such. The machine keeps what cannot be measured. Returns what was measured, in words. Collective.
std::string measure_messages(predict::Machine& machine, const comm::Communicator& comm);

}  // namespace app
