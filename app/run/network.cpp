// SPDX-License-Identifier: MIT
#include "app/run/network.hpp"

namespace app {
namespace {

// The time of a longer message is mostly that of its bytes (docs/messages.md): to merge more would gain little, even
// where MPI sends longer ones at once.
constexpr std::size_t most_eager_bytes = 16384;

}  // namespace

comm::Schedule schedule_of(const Deck::Comm& c, const std::function<std::size_t(std::size_t most)>& eager_limit) {
    comm::Schedule schedule;
    schedule.order = c.order;
    schedule.aggregate = c.aggregate;
    schedule.one_by_one = c.overlap == comm::Overlap::none;
    const bool merges = c.aggregate == comm::Aggregate::automatic || c.aggregate == comm::Aggregate::node;
    if (!c.threshold_bytes && merges) schedule.threshold = eager_limit(most_eager_bytes);
    if (c.threshold_bytes) schedule.threshold = static_cast<std::size_t>(*c.threshold_bytes);
    // A longer message waits until its receiver calls MPI, which a receiver that computes does not do.
    if (c.aggregate == comm::Aggregate::automatic && c.overlap == comm::Overlap::full)
        schedule.piece = schedule.threshold;
    if (c.piece_bytes) schedule.piece = static_cast<std::size_t>(*c.piece_bytes);
    return schedule;
}

comm::Network network_of(const Deck::Comm& c, const comm::Communicator& comm) {
    const comm::Schedule schedule =
        schedule_of(c, [&](std::size_t most) { return comm::measure_eager_limit(comm, most); });
    return comm::make_network(schedule, comm, static_cast<int>(c.ranks_per_node.value_or(0)),
                              static_cast<int>(c.nodes_per_switch.value_or(0)));
}

}  // namespace app
