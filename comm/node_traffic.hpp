// SPDX-License-Identifier: MIT
// The knowledge that the ranks of a node exchange before they can plan their messages.
#pragma once
#include <span>

#include "balance/team.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "comm/message_plan.hpp"

namespace comm {

/// The small parts that come to this rank's node, and how many nodes each node exchanges such parts with. sent,
/// received: this rank's. Collective with Aggregate::node; with the others it is empty.
NodeTraffic node_traffic(std::span<const balance::Part> sent, std::span<const balance::Part> received,
                         const Communicator& comm, const Network& network);

}  // namespace comm
