// SPDX-License-Identifier: MIT
#include "balance/nested/levels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "balance/grid/for_each.hpp"
#include "balance/nested/nested.hpp"

namespace balance {
namespace {

// Loads of a region whose values lie box after box.
LoadsByCell loads_of(const Region& region, std::span<const std::int64_t> values) {
    const Box bounds = bounds_of(region);
    if (region.size() == 1) return {bounds, values};
    std::vector<std::int64_t> field(bounds.cells(), 0);
    auto next = values.begin();
    for (const Box& b : region)
        for_each_cell(b, [&](int x, int y, int z) { field[place_in(bounds, x, y, z)] = *next++; });
    return {bounds, field};
}

// Brings the loads of the nodes that are dealt to this member, and calls visit(node, its loads) for each. Collective.
template <class Visit>
void for_each_node_here(const Team& team, const Grid& grid, std::span<const std::int64_t> load, bool uniform,
                        std::span<const Region> regions, Visit visit) {
    const auto nodes = std::ssize(regions);
    const IndexRange here = block(nodes, team.rank(), team.size());
    if (uniform) {
        for (std::int64_t n = here.begin; n < here.end; ++n) visit(static_cast<int>(n), UniformLoads{});
        return;
    }
    std::vector<Box> boxes;
    for (std::int64_t n = here.begin; n < here.end; ++n)
        boxes.insert(boxes.end(), regions[n].begin(), regions[n].end());
    const FieldPlan plan(team, Homes{grid, team.size()}, boxes);
    const std::vector<std::int64_t> values = plan.to_boxes(load);
    std::size_t at = 0;
    for (std::int64_t n = here.begin; n < here.end; ++n) {
        const std::size_t cells = static_cast<std::size_t>(cells_in(regions[n]));
        visit(static_cast<int>(n), loads_of(regions[n], std::span(values).subspan(at, cells)));
        at += cells;
    }
}

NodeParts parts_of(const NodeSpec& node) {
    return {std::vector<PartNeed>(node.cpus, {node.cores_per_cpu * node.core_speed, node.cores_per_cpu}),
            std::vector<double>(node.accelerators, node.accelerator_speed)};
}

}  // namespace

bool is_uniform(const Team& team, std::span<const std::int64_t> load) { return team.max_of(!load.empty()) == 0; }

std::vector<Region> node_regions(const Team& team, const Grid& grid, std::span<const std::int64_t> load, bool uniform,
                                 std::span<const PartNeed> nodes) {
    constexpr std::int64_t blocks = std::int64_t{1} << 20, blocks_a_node = 16;
    const int side = BlockLoads::side_for(grid, std::max(blocks, blocks_a_node * std::ssize(nodes)));
    std::vector<SplitPart> parts;
    if (uniform) parts = split_region({grid.box()}, UniformLoads{}, nodes, cut_tolerance);
    else parts = split_region({grid.box()}, BlockLoads(team, grid, load, side), nodes, cut_tolerance);
    std::vector<Region> regions;
    regions.reserve(parts.size());
    for (SplitPart& p : parts) regions.push_back(std::move(p.region));
    return regions;
}

NodeResult divide_node(const NodeProblem& node, NestedAlgorithm algorithm) {
    NodeSplit split = algorithm == NestedAlgorithm::greedy ? split_greedily(node) : split_inner_outer(node);
    NodeResult result;
    for (std::size_t c = 0; c < split.cpus.size(); ++c) {
        const std::vector<PartNeed> cores(node.parts.cpus[c].cells);
        std::vector<Region> regions = split_exactly(split.cpus[c], node.loads, cores, cut_tolerance);
        result.regions.insert(result.regions.end(), regions.begin(), regions.end());
    }
    result.shortfall.assign(result.regions.size(), 0.0);
    const std::vector<double> shortfall = shortfall_of(node, split);
    result.shortfall.insert(result.shortfall.end(), shortfall.begin(), shortfall.end());
    result.regions.insert(result.regions.end(), split.accelerators.begin(), split.accelerators.end());
    return result;
}

DividedNodes divide_nodes(const Team& team, const Grid& grid, std::span<const std::int64_t> load, bool uniform,
                          std::span<const PartNeed> needs, const std::function<NodeParts(int)>& parts_of,
                          const NestedOptions& options) {
    const std::vector<Region> regions = node_regions(team, grid, load, uniform, needs);
    DividedNodes here;
    for_each_node_here(team, grid, load, uniform, regions, [&](int n, const Loads& loads) {
        const NodeParts parts = parts_of(n);
        const NodeResult result = divide_node({grid, regions[n], loads, parts, options.ghost_width}, options.algorithm);
        for (const Region& r : result.regions) {
            here.counts.push_back(std::ssize(r));
            here.boxes.insert(here.boxes.end(), r.begin(), r.end());
        }
        here.shortfall.insert(here.shortfall.end(), result.shortfall.begin(), result.shortfall.end());
    });
    return here;
}

std::vector<std::int64_t> first_of_parts(const Team& team, std::span<const std::int64_t> counts) {
    std::vector<std::int64_t> first{0};
    for (const std::int64_t n : all_gather<std::int64_t>(team, counts)) first.push_back(first.back() + n);
    return first;
}

NestedPartition nested_partition(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                                 const MachineSpec& machine, const NestedOptions& options) {
    check(machine);
    const auto nodes = std::ssize(machine.nodes);
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
