// SPDX-License-Identifier: MIT
// The messages of one rank: the places of the parts, the order of sends and receives, and the forwarding to other ranks
// of the node. A pure function. The plans of the ranks fit together because all of them follow from the parts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/team.hpp"
#include "comm/schedule.hpp"

namespace comm {

/// A small part that comes to a rank of this node from another node, through the node's aggregator for its source
/// (Aggregate::node).
struct ForwardedPart {
    int source, target;
    std::size_t bytes;
};

/// The small parts of a node, known to all its ranks. Empty but with Aggregate::node.
struct NodeTraffic {
    std::vector<ForwardedPart> parts;  ///< by source, by target, then as the target receives them
    std::vector<std::int64_t> targets,
        sources;  ///< of each node: nodes that it sends small parts to, and gets them from
};

struct MessagePlan {
    struct Send {
        int to, tag;
        std::size_t at, bytes;  ///< among all that this rank sends
    };
    /// Bytes of an aggregated message that go to another rank of the node, or stay on this one.
    struct Forward {
        int to, tag;
        std::size_t at, bytes;           ///< In the forwarding buffer.
        std::size_t place = 0;           ///< If they stay: place in the receive buffer of this rank.
        std::vector<std::size_t> parts;  ///< If they stay: the parts of this rank in them.
    };
    struct Receive {
        int from, tag;
        std::size_t at, bytes;  ///< among all that this rank receives; with `forwards` in the forwarding buffer
        std::vector<std::size_t> parts;  ///< that lie in it, wholly or partly
        std::vector<Forward> forwards;   ///< not empty for an aggregated message
    };
    balance::Channel::Places places;
    std::vector<Send> sends;  ///< in the order of issue
    std::vector<Receive> receives;
    std::vector<int> messages;  ///< in which each part is received
    std::size_t forwarding_bytes = 0;
};

/// sent, received: of rank `rank`, each > 0 bytes; the parts from one rank to another in the same order on both sides.
/// No message is longer than schedule.piece.
MessagePlan plan_messages(int rank, std::span<const balance::Part> sent, std::span<const balance::Part> received,
                          const NodeMap& nodes, const Schedule& schedule, const NodeTraffic& traffic);

}  // namespace comm
