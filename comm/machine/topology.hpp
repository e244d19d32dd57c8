// SPDX-License-Identifier: MIT
// What this rank may run on.
#pragma once
#include <string>

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

}  // namespace comm
