// SPDX-License-Identifier: MIT
#include "tools/predict/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"

namespace app {
namespace {

using Machine = Deck::Machine;

std::int64_t cores_of(const Machine& m, std::int64_t node) {
    return Machine::at(m.cpus_per_node, node, 1) * Machine::at(m.cores_per_cpu, node, 1);
}

// In cores of core_speed 1.
double speed_of(const Machine& m, std::int64_t node) {
    const auto accelerators = static_cast<double>(Machine::at(m.accelerators_per_node, node));
    return static_cast<double>(cores_of(m, node)) * Machine::at(m.core_speed, node) +
           accelerators * Machine::at(m.accelerator_speed, node);
}

}  // namespace

void RankPlacement::slow_down(std::vector<predict::RankStep>& steps) const {
    for (std::size_t r = 0; r < steps.size(); ++r) {
        steps[r].inner_seconds /= speed[r];
        for (predict::RimTile& tile : steps[r].rim) tile.seconds /= speed[r];
    }
}

RankPlacement placement_of(const Machine& nodes, const predict::Machine& machine,
                           std::optional<std::int64_t> ranks_per_node, std::int64_t ranks) {
    const std::int64_t each = ranks_per_node.value_or(machine.ranks_per_node);
    if (each == 0 && nodes.nodes && (nodes.cpus_per_node.empty() || nodes.cores_per_cpu.empty()))
        throw UsageError(
            "--machine: it has nodes, but not how many ranks or cores are on one; give cpus_per_node and "
            "cores_per_cpu, or ranks_per_node");
    const bool one_node = each == 0 && !nodes.nodes;
    const auto ranks_on = [&](std::int64_t node) { return each > 0 ? each : one_node ? ranks : cores_of(nodes, node); };
    const double cores_each = static_cast<double>(cores_of(nodes, 0)) / static_cast<double>(ranks_on(0));
    RankPlacement placement;
    for (std::int64_t node = 0; std::ssize(placement.node) < ranks; ++node) {
        if (nodes.nodes && node == *nodes.nodes)
            throw UsageError("command line: --processes: {} for {} that hold {}; use fewer, or more nodes",
                             counted(ranks, "rank"), counted(node, "node"), placement.node.size());
        const std::int64_t here = std::min<std::int64_t>(ranks_on(node), ranks - std::ssize(placement.node));
        // Cores that are not shared out, as those of one node for all ranks, are as many as a rank needs.
        const double speed = one_node ? Machine::at(nodes.core_speed, node)
                                      : speed_of(nodes, node) / (static_cast<double>(ranks_on(node)) * cores_each);
        placement.node.insert(placement.node.end(), here, static_cast<int>(node));
        placement.speed.insert(placement.speed.end(), here, speed);
    }
    return placement;
}

std::optional<std::int64_t> most_ranks_on(const Machine& nodes, const predict::Machine& machine,
                                          std::optional<std::int64_t> ranks_per_node) {
    if (!nodes.nodes) return std::nullopt;
    const std::int64_t each = ranks_per_node.value_or(machine.ranks_per_node);
    std::int64_t most = 0;
    for (std::int64_t node = 0; node < *nodes.nodes; ++node) most += each > 0 ? each : cores_of(nodes, node);
    return most;
}

}  // namespace app
