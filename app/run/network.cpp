// SPDX-License-Identifier: MIT
#include "app/run/network.hpp"

namespace app {
namespace {

// Longer messages gain nothing by being merged, though MPI might send them at once.
constexpr std::size_t most_eager_bytes = 4096;

}  // namespace

comm::Schedule schedule_of(const Deck::Comm& c, const std::function<std::size_t(std::size_t most)>& eager_limit) {
    comm::Schedule schedule;
    schedule.order = c.order;
    schedule.aggregate = c.aggregate;
    schedule.one_by_one = c.overlap == comm::Overlap::none;
    const bool automatic = c.aggregate == comm::Aggregate::automatic;
    if (!c.threshold_bytes && (automatic || c.aggregate == comm::Aggregate::node))
        schedule.threshold = eager_limit(most_eager_bytes);
    if (c.threshold_bytes) schedule.threshold = static_cast<std::size_t>(*c.threshold_bytes);
    if (automatic) schedule.piece = schedule.threshold;
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
