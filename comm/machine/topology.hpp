// SPDX-License-Identifier: MIT
// The processing units of this rank and of the nodes of the job.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace comm {

struct Topology {
    int cores_available = 1;  ///< Processing units in this process's affinity mask.
    /// Its share of them: the mask if ranks are bound apart, else mask / ranks on the node. At most its share of
    /// cpu_quota.
    int default_threads = 1;
    int sharing = 1;      ///< Largest number of ranks with the same mask.
    std::string binding;  ///< For the log.
    std::string units;    ///< Units of the affinity mask, as `0-3,8`; empty: unknown.
    std::string host, cpu_model;
    double cpu_quota =
        std::numeric_limits<double>::infinity();  ///< see cpu_quota(); of all ranks of this node together
};

/// Collective.
Topology detect(const Communicator& comm);

/// Memory of this node, for all its users; infinite on a simulated cluster.
double memory_bytes();

/// Resources of a node, for all its users.
struct NodeShape {
    std::int64_t sockets = 1, cores = 1;
};
/// Resources of each node of the job, in the order of their first ranks; the same on all ranks. Collective.
std::vector<NodeShape> detect_nodes(const Communicator& comm);

/// True if each thread of this job can have a processing unit of its own. No rank may have more threads than units in
/// its affinity mask, and no node more than in the masks of its ranks together. The same on all ranks. Collective.
bool unit_for_each_thread(const Topology& topology, int threads, const Communicator& comm);

}  // namespace comm
