// SPDX-License-Identifier: MIT
#include "app/balancing/machine.hpp"

#include <algorithm>

#include "comm/machine/topology.hpp"

namespace app {

balance::Machine machine_of(const Deck::Machine& given, const comm::Communicator& comm) {
    const std::vector<comm::NodeShape> found = comm::detect_nodes(comm);
    const auto nodes = given.nodes.value_or(static_cast<std::int64_t>(found.size()));
    balance::Machine machine;
    for (std::int64_t n = 0; n < nodes; ++n) {
        const comm::NodeShape& like = found[n % found.size()];
        balance::NodeSpec node;
        node.cpus = static_cast<int>(given.cpus_per_node.value_or(like.sockets));
        node.cores_per_cpu =
            static_cast<int>(given.cores_per_cpu.value_or(std::max<std::int64_t>(1, like.cores / node.cpus)));
        node.accelerators = static_cast<int>(Deck::Machine::at(given.accelerators_per_node, n));
        node.core_speed = Deck::Machine::at(given.core_speed, n);
        node.accelerator_speed = given.accelerator_speed;
        machine.nodes.push_back(node);
    }
    return machine;
}

}  // namespace app
