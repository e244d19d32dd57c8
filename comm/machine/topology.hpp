// SPDX-License-Identifier: MIT
// What this rank may run on, and what the nodes of the job have.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace comm {

struct Topology {
    int cores_available = 1;  ///< processing units in this process's affinity mask
    int default_threads = 1;  ///< its share of them: the mask if ranks are bound apart, else mask / ranks on the node;
                              ///< no more than its share of cpu_quota
    int sharing = 1;          ///< most ranks that have the same mask
    std::string binding;      ///< for the log
    std::string units;        ///< of the affinity mask, as `0-3,8`; empty: unknown
    std::string host, cpu_model;
    double cpu_quota =
        std::numeric_limits<double>::infinity();  ///< see cpu_quota(); of all ranks of this node together
};

/// Collective.
Topology detect(const Communicator& comm);

/// Of this node, whoever may use it; infinite on a simulated cluster.
double memory_bytes();

/// What a node has, whoever may use it.
struct NodeShape {
    std::int64_t sockets = 1, cores = 1;
};
/// Of each node of the job, in the order of their first ranks; the same on all ranks. Collective.
std::vector<NodeShape> detect_nodes(const Communicator& comm);

/// Whether each thread of this job can have a processing unit of its own: no rank has more threads than units in its
/// affinity mask, and no node more than in the masks of its ranks together. The same on all ranks. Collective.
bool unit_for_each_thread(const Topology& topology, int threads, const Communicator& comm);

}  // namespace comm
