// SPDX-License-Identifier: MIT
#include "balance/nested/nested.hpp"

#include <stdexcept>
#include <string>

#include "balance/nested/levels.hpp"

namespace balance {
namespace {

NodeParts parts_of(const NodeSpec& node) {
    return {std::vector<PartNeed>(node.cpus, {node.cores_per_cpu * node.core_speed, node.cores_per_cpu}),
            std::vector<double>(node.accelerators, node.accelerator_speed)};
}

}  // namespace

NestedPartition nested_partition(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                                 const Machine& machine, const NestedOptions& options) {
    check(machine);
    const auto nodes = static_cast<std::int64_t>(machine.nodes.size());
    if (nodes > grid.box().cells())
        throw std::invalid_argument("a grid of " + std::to_string(grid.box().cells()) + " cells is too small for " +
                                    std::to_string(nodes) + " nodes");
    std::vector<PartNeed> needs;
    for (const NodeSpec& n : machine.nodes) needs.push_back({n.speed(), n.resources()});
    const bool uniform = is_uniform(team, load);
    const DividedNodes here = divide_nodes(
        team, grid, load, uniform, needs, [&](int n) { return parts_of(machine.nodes[n]); }, options);
    return {all_gather<Box>(team, here.boxes), first_of_parts(team, here.counts),
            all_gather<double>(team, here.shortfall)};
}

}  // namespace balance
