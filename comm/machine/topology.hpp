// SPDX-License-Identifier: MIT
// What this rank may run on, and what the nodes of the job have.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace comm {

struct Topology {
    int cores_available = 1;  ///< processing units in this process's affinity mask
    int default_threads = 1;  ///< its share of them: the mask if ranks are bound apart, else mask / ranks on the node
    std::string binding;      ///< for the log
    std::string host, cpu_model;
};

/// Collective.
Topology detect(const Communicator& comm);

/// What a node has, whoever may use it.
struct NodeShape {
    std::int64_t sockets = 1, cores = 1;
};
/// Of each node of the job, in the order of their first ranks; the same on all ranks. Collective.
std::vector<NodeShape> detect_nodes(const Communicator& comm);

}  // namespace comm
