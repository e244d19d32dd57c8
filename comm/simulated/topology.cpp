// SPDX-License-Identifier: MIT
// The nodes of a simulated cluster: each rank has a core of its own.
#include "comm/machine/topology.hpp"

#include <limits>

#include "comm/mpi/mpi_check.hpp"
#include "comm/team.hpp"

namespace comm {

Topology detect(const Communicator&) {
    Topology t;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    mpi_check(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
    t.host = std::string(host, length);
    t.cpu_model = "simulated";
    t.binding = "one core of a simulated cluster for each rank";
    return t;
}

// Nothing is known of a node of the cluster.
double memory_bytes() { return std::numeric_limits<double>::infinity(); }

std::vector<NodeShape> detect_nodes(const Communicator& comm) {
    std::vector<NodeShape> mine;
    if (comm.node_rank() == 0) mine.push_back({1, comm.node_size()});
    return balance::all_gather(Ranks(comm), std::span<const NodeShape>(mine));
}

bool unit_for_each_thread(const Topology&, int, const Communicator&) { return true; }

}  // namespace comm
