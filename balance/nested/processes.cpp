// SPDX-License-Identifier: MIT
// The nested partition in a run. Processes are CPUs, and their threads are cores. processes_per_node consecutive
// processes form a node. A process's boxes are in the order of its threads.
#include <algorithm>
#include <stdexcept>

#include "balance/nested/levels.hpp"
#include "balance/partition/partition.hpp"

namespace balance {
namespace {

// The processes of a node, with the speeds that their targets stand for.
NodeParts parts_of(const PartitionInput& in, const PartitionOptions& options, IndexRange processes) {
    NodeParts parts;
    for (std::int64_t p = processes.begin; p < processes.end; ++p)
        parts.cpus.push_back({static_cast<double>(in.targets.of(p)), options.threads});
    return parts;
}

}  // namespace

Partition partition_nested(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    if (options.processes > in.grid.box().cells())
        throw std::invalid_argument("cannot split " + std::to_string(in.grid.box().cells()) + " cells over " +
                                    std::to_string(options.processes) + " processes");
    const std::int64_t a_node = options.processes_per_node > 0 ? options.processes_per_node : options.processes;
    const auto processes_of = [&](std::int64_t n) {
        return IndexRange{n * a_node, std::min((n + 1) * a_node, options.processes)};
    };
    std::vector<PartNeed> nodes;
    for (std::int64_t n = 0; processes_of(n).size() > 0; ++n) {
        const NodeParts parts = parts_of(in, options, processes_of(n));
        nodes.push_back({speed_of(parts), processes_of(n).size() * options.threads});
    }
    in.meter.part(RoundPart::whole, a_node, in.grid.box().cells() / std::ssize(nodes));
    const auto parts = [&](int n) { return parts_of(in, options, processes_of(n)); };
    const DividedNodes here =
        divide_nodes(in.team, in.grid, in.load, false, nodes, parts, {NestedAlgorithm::inner_outer, 0});
    std::vector<std::int64_t> of_processes;  // boxes
    for (std::size_t core = 0; core < here.counts.size(); ++core) {
        if (core % options.threads == 0) of_processes.push_back(0);
        of_processes.back() += here.counts[core];
    }
    return {all_gather<Box>(in.team, here.boxes), first_of_parts(in.team, of_processes)};
}

}  // namespace balance
