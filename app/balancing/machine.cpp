// SPDX-License-Identifier: MIT
#include "app/balancing/machine.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "app/common/words.hpp"
#include "comm/machine/topology.hpp"

namespace app {
balance::MachineSpec machine_of(const Deck::Machine& given, const comm::Communicator& comm) {
    const std::vector<comm::NodeShape> found = comm::detect_nodes(comm);
    const auto nodes = given.nodes.value_or(static_cast<std::int64_t>(found.size()));
    balance::MachineSpec machine;
    for (std::int64_t n = 0; n < nodes; ++n) {
        const comm::NodeShape& like = found[n % found.size()];
        balance::NodeSpec node;
        node.cpus = static_cast<int>(Deck::Machine::at(given.cpus_per_node, n, like.sockets));
        node.cores_per_cpu = static_cast<int>(
            Deck::Machine::at(given.cores_per_cpu, n, std::max<std::int64_t>(1, like.cores / node.cpus)));
        node.accelerators = static_cast<int>(Deck::Machine::at(given.accelerators_per_node, n));
        node.core_speed = Deck::Machine::at(given.core_speed, n);
        node.accelerator_speed = Deck::Machine::at(given.accelerator_speed, n);
        machine.nodes.push_back(node);
    }
    return machine;
}

double mean_threads(const comm::Communicator& comm) {
    return static_cast<double>(comm.sum_of(omp_get_max_threads())) / comm.size();
}

std::vector<double> given_speeds(const Deck::Machine& machine, const balance::PartitionOptions& options) {
    const std::int64_t each = options.processes_per_node > 0 ? options.processes_per_node : options.processes;
    const std::int64_t nodes = (options.processes + each - 1) / each;
    const auto given = static_cast<std::int64_t>(machine.core_speed.size());
    if (given > 1 && given != nodes)
        throw DeckError(fmt::format(
            "machine.core_speed: {} values, but {} with {} a node make {}; give one of each node, or say by "
            "balance.partition.processes_per_node how many processes a node has",
            given, counted(options.processes, "process"), each, counted(nodes, "node")));
    std::vector<double> speeds;
    for (std::int64_t p = 0; p < options.processes; ++p)
        speeds.push_back(Deck::Machine::at(machine.core_speed, p / each));
    return speeds;
}

}  // namespace app
