// SPDX-License-Identifier: MIT
#include "balance/partition/nested.hpp"

#include <stdexcept>
#include <string>

#include "balance/partition/levels.hpp"

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
    const std::vector<Region> regions = node_regions(team, grid, load, uniform, needs);

    std::vector<Box> boxes;
    std::vector<std::int64_t> counts;  // boxes of each resource
    std::vector<double> shortfall;
    for_each_node_here(team, grid, load, uniform, regions, [&](int n, const Loads& loads) {
        const NodeParts parts = parts_of(machine.nodes[n]);
        const NodeResult result = divide_node({grid, regions[n], loads, parts, options.ghost_width}, options.algorithm);
        for (const Region& r : result.regions) {
            counts.push_back(static_cast<std::int64_t>(r.size()));
            boxes.insert(boxes.end(), r.begin(), r.end());
        }
        shortfall.insert(shortfall.end(), result.shortfall.begin(), result.shortfall.end());
    });
    NestedPartition partition{all_gather<Box>(team, boxes), {0}, all_gather<double>(team, shortfall)};
    for (const std::int64_t n : all_gather<std::int64_t>(team, counts))
        partition.first.push_back(partition.first.back() + n);
    return partition;
}

}  // namespace balance
