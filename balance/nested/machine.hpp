// SPDX-License-Identifier: MIT
// A machine as a partitioner sees it: nodes that hold CPUs, which hold cores, and accelerators; each of its own speed.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/words.hpp"

namespace balance {

/// One node. Speeds have any unit; only their ratios count.
struct NodeSpec {
    int cpus = 1;  ///< sockets, or ranks of a run
    int cores_per_cpu = 1;
    int accelerators = 0;
    double core_speed = 1;  ///< of one core
    double accelerator_speed = 12;
    std::int64_t resources() const { return std::int64_t{cpus} * cores_per_cpu + accelerators; }
    double speed() const { return cpus * cores_per_cpu * core_speed + accelerators * accelerator_speed; }
    friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

/// Nodes in the order of their distance: neighbours in the list are close to each other in the network.
struct MachineSpec {
    std::vector<NodeSpec> nodes;
    friend bool operator==(const MachineSpec&, const MachineSpec&) = default;
};

enum class ResourceKind { core, accelerator };
constexpr auto words_of(ResourceKind) {
    return std::to_array<Word<ResourceKind>>(
        {{ResourceKind::core, "core"}, {ResourceKind::accelerator, "accelerator"}});
}

/// A core or an accelerator, which computes cells.
struct Resource {
    ResourceKind kind = ResourceKind::core;
    std::int32_t node = 0;
    std::int32_t cpu = -1;  ///< within the node; -1 for an accelerator
    double speed = 1;
    friend bool operator==(const Resource&, const Resource&) = default;
};

/// Throws std::invalid_argument for a machine without nodes, a node without cores, or a speed that is not positive and
/// finite.
void check(const MachineSpec& machine);

/// The resources node by node: first the cores, CPU by CPU, then the accelerators. Throws what check() throws.
std::vector<Resource> resources_of(const MachineSpec& machine);

}  // namespace balance
