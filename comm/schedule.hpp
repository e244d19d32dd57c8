// SPDX-License-Identifier: MIT
// The messages of a plan's parts, and the order in which a rank issues them. These are pure functions of the parts and
// of the ranks' nodes. comm/exchange.hpp carries them out.
//
// Source: Peng et al., message reordering and aggregation by topology. The paper's text and its printed comparison
// function differ in the order of messages. Both orders are options (docs/messages.md).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "balance/team.hpp"
#include "balance/words.hpp"

namespace comm {

// The orders in which a rank issues its messages. An order is a line here and a function turn_NAME (docs/extend.md).
//   plain       by the number of the rank that they go to
//   near_first  to the nearest node first; to one node the largest first; messages inside the own node last
//   far_first   the same with far nodes first
// clang-format off
#define STEELYARD_ORDERS(add) \
    add(plain)                \
    add(near_first)           \
    add(far_first)
// clang-format on

/// Which messages a rank issues first.
enum class MessageOrder {
#define STEELYARD_ORDER(name) name,
    STEELYARD_ORDERS(STEELYARD_ORDER)
#undef STEELYARD_ORDER
};
constexpr auto words_of(MessageOrder) {
#define STEELYARD_ORDER(name) balance::Word<MessageOrder>{MessageOrder::name, #name},
    return std::array{STEELYARD_ORDERS(STEELYARD_ORDER)};
#undef STEELYARD_ORDER
}

/// How parts are merged into messages.
enum class Aggregate {
    none,     ///< Each part is a message.
    process,  ///< All parts for a rank are one message.
    node,     ///< All small parts for a node go to one of its ranks, the aggregator, which forwards them.
    /// Parts for a rank are cut and merged into messages of `threshold` bytes, unless that makes more messages than
    /// parts. If `piece` limits the message length, parts are always cut.
    automatic
};
constexpr auto words_of(Aggregate) {
    return std::to_array<balance::Word<Aggregate>>({{Aggregate::none, "none"},
                                                    {Aggregate::process, "process"},
                                                    {Aggregate::node, "node"},
                                                    {Aggregate::automatic, "auto"}});
}

/// The work of a rank while ghosts are on their way.
enum class Overlap {
    none,   ///< Sends one message after the other, and computes when all ghosts are there.
    links,  ///< Sends all messages at once, and computes when all ghosts are there.
    full    ///< Computes tiles that need no ghosts meanwhile, and the others as their ghosts come.
};
constexpr auto words_of(Overlap) {
    return std::to_array<balance::Word<Overlap>>(
        {{Overlap::none, "none"}, {Overlap::links, "links"}, {Overlap::full, "full"}});
}

struct Schedule {
    MessageOrder order = MessageOrder::plain;
    Aggregate aggregate = Aggregate::process;
    bool one_by_one = false;  ///< Each message starts when the one before it has been received.
    /// With `automatic`, the bytes of a message. With `node`, the size from which parts are not forwarded, in bytes.
    std::size_t threshold = std::size_t{1} << 12;
    /// Largest length of a message in bytes; below 2^31, because MPI counts with 31 bits.
    std::size_t piece = std::size_t{1} << 30;
};

/// Where ranks live.
class NodeMap {
public:
    /// All on one node.
    explicit NodeMap(int ranks = 1) : node_(ranks, 0) {}
    /// node: of each rank, numbered from 0. nodes_per_switch: consecutive nodes that hang on one switch of a fat tree;
    /// 0: nodes lie in a row.
    explicit NodeMap(std::vector<int> node, int nodes_per_switch = 0)
        : node_(std::move(node)), nodes_per_switch_(nodes_per_switch) {}

    int ranks() const { return static_cast<int>(node_.size()); }
    int of(int rank) const { return node_[rank]; }
    int nodes() const;
    /// Distance of two nodes, 0 for one and the same. In a row it is the difference of their numbers. In a fat tree it
    /// is the number of links of a message: 2 through a common switch, else 4.
    int distance(int a, int b) const {
        if (a == b) return 0;
        if (nodes_per_switch_ == 0) return std::abs(a - b);
        return a / nodes_per_switch_ == b / nodes_per_switch_ ? 2 : 4;
    }

private:
    std::vector<int> node_;
    int nodes_per_switch_ = 0;
};

/// Divides the parts for one rank into messages. The parts lie one after the other. Returns the place at which each
/// message ends, in bytes from the first part on, ascending. The last place is the sum of the sizes.
/// Aggregate::automatic never makes more messages than parts, unless schedule.piece cuts them (docs/messages.md).
/// sizes: bytes of each part, > 0.
std::vector<std::size_t> message_ends(std::span<const std::size_t> sizes, const Schedule& schedule);

/// The same for the parts that go to all ranks of a node through its aggregator (Aggregate::node). The first message
/// holds one part. From message to message, the number of parts grows by the factor `growth`, rounded up. So a rank
/// merges the parts of a message while it sends the one before. No part is cut. A message longer than `piece` has one
/// part.
std::vector<std::size_t> aggregated_message_ends(std::span<const std::size_t> sizes, double growth, std::size_t piece);

/// Growth of these messages: 1.5 + log2 n. n is the larger of two numbers: the nodes that the source's node sends to,
/// and the nodes that the target's node receives from.
double aggregation_growth(int targets_of_source, int sources_of_target);

/// Does this part go to the aggregator of its target's node, which forwards it?
inline bool is_forwarded(std::size_t bytes, int source, int target, const NodeMap& nodes, const Schedule& schedule) {
    return schedule.aggregate == Aggregate::node && bytes < schedule.threshold && bytes <= schedule.piece &&
           nodes.of(source) != nodes.of(target);
}

/// The aggregator of a node: the rank that is the target of most bytes, the first of several. It receives the parts for
/// all ranks of the node. parts: all parts for the node, at least one.
int aggregator_of(std::span<const balance::Part> parts);

/// All that a rank sends over one route.
struct Outgoing {
    int to;
    std::size_t bytes;
};
/// The order in which a rank issues its messages, as indices into `outgoing`. The order depends on the arguments alone.
std::vector<std::size_t> issue_order(int source, std::span<const Outgoing> outgoing, const NodeMap& nodes,
                                     MessageOrder order);

/// Sort key of an order. The message with the least key is issued first; of equal keys, the one to the lower rank.
using Turn = std::array<std::int64_t, 3>;
// Keys of the messages of rank `source`: Turn turn_plain(...), and so on.
#define STEELYARD_ORDER(name) Turn turn_##name(int source, const Outgoing& outgoing, const NodeMap& nodes);
STEELYARD_ORDERS(STEELYARD_ORDER)
#undef STEELYARD_ORDER

}  // namespace comm
