// SPDX-License-Identifier: MIT
#include "tools/partition/partition.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/balancing/machine.hpp"
#include "app/common/words.hpp"
#include "app/output/results.hpp"
#include "balance/model/speeds.hpp"
#include "balance/nested/nested.hpp"
#include "balance/partition/partition.hpp"
#include "comm/machine/topology.hpp"
#include "comm/team.hpp"
#include "tools/partition/load_field.hpp"
#include "tools/partition/partition_report.hpp"

namespace app {
namespace {

// The partition that a run would get by options.kind with a process for each resource, which knows nothing of nodes:
// targets in proportion to the speeds.
balance::NestedPartition flat_partition(const comm::Communicator& comm, const LoadField& field,
                                        const std::vector<balance::Resource>& resources,
                                        balance::PartitionOptions options) {
    const comm::Ranks team(comm);
    options.processes = std::ssize(resources);
    options.max_size = 0;  // of particles, which not all loads are of
    const balance::PartitionKind& kind = balance::kind_of(options);
    comm::require(comm, kind.built && field.grid.box().cells() <= kind.most_cells, [&] {
        return DeckError(fmt::format("--kind {}: {}; use another kind", options.kind,
                                     kind.built ? fmt::format("there are more cells than {}", kind.most_cells)
                                                : "this program was built without its library"));
    });
    const std::int64_t most = balance::capacity(field.grid.box(), options.min_width);
    comm::require(comm, options.processes <= most, [&] {
        return DeckError(
            fmt::format("machine: {}, but {} cells hold at most {} by balance.partition.min_width; use "
                        "fewer, more cells or narrower parts",
                        counted(options.processes, "resource"), along_axes(field.grid.cells, field.grid.dimensions),
                        counted(most, "part")));
    });
    balance::Speeds speeds(options.processes);
    std::vector<double> given;
    for (const balance::Resource& r : resources) given.push_back(r.speed);
    speeds.set(given);
    std::vector<std::int64_t> load = field.load;
    const balance::Box home = balance::Homes{field.grid, comm.size()}.of(comm.rank());
    if (load.empty()) load.assign(home.cells(), 1);
    balance::Scattered<balance::Split> memory;
    const balance::Hosts hosts(options.processes, team.size());
    balance::Partition made = balance::whole(
        team, balance::make_partition({team, field.grid, hosts, load, {}, speeds.targets()}, options, memory));
    return {std::move(made.boxes), std::move(made.first), {}};
}

// The rest of each resource's target that the partition did not give it.
std::vector<double> shortfalls(const std::vector<balance::Resource>& resources, const std::vector<std::int64_t>& load) {
    double all = 0, speed = 0;
    for (std::size_t r = 0; r < load.size(); ++r) all += static_cast<double>(load[r]), speed += resources[r].speed;
    std::vector<double> lacking;
    for (std::size_t r = 0; r < load.size(); ++r)
        lacking.push_back(std::max(0.0, 1 - static_cast<double>(load[r]) * speed / (all * resources[r].speed)));
    return lacking;
}

}  // namespace

int partition(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(comm::detect(comm).default_threads);
    RunDirectory directory(output_path(options, deck, comm), result_kinds(), comm);
    const balance::MachineSpec machine = machine_of(deck.machine, comm);
    const LoadField field = load_field(deck, comm);
    const auto nodes = static_cast<std::int64_t>(machine.nodes.size());
    comm::require(comm, nodes <= field.grid.box().cells(), [&] {
        return DeckError(fmt::format("machine.nodes: {} for {}; use fewer nodes or more cells", counted(nodes, "node"),
                                     counted(field.grid.box().cells(), "cell")));
    });
    directory.require_room(old_results(options), options.deck);
    const comm::Ranks team(comm);
    const balance::NestedOptions& nested = deck.balance.nested;
    const bool is_nested = options.kind == "nested";
    PartitionReport report{.deck = deck.name,
                           .grid = field.grid,
                           .machine = machine,
                           .algorithm = std::string(is_nested ? balance::word_of(nested.algorithm) : options.kind),
                           .ghost_width = nested.ghost_width};
    balance::PartitionOptions flat = deck.balance.partition;
    flat.kind = options.kind;
    report.partition = is_nested ? balance::nested_partition(team, field.grid, field.load, machine, nested)
                                 : flat_partition(comm, field, report.resources, flat);
    report.quality = balance::quality_of(team, field.grid, field.load, machine, report.partition, nested.ghost_width);
    if (!is_nested) report.partition.shortfall = shortfalls(report.resources, report.quality.load);
    report.bound_of_cells =
        balance::lbe_bound(team, field.grid, field.load, machine, {balance::NestedAlgorithm::greedy});
    report.bound =
        is_nested ? balance::lbe_bound(team, field.grid, field.load, machine, nested) : report.bound_of_cells;
    report.traffic = balance::traffic_of(team, field.grid, field.items, machine, report.partition, nested.ghost_width);
    report.item_bytes = field.item_bytes;
    report.unit = field.unit;
    report.unit_name = field.what;

    // From here on files are written; whatever can be refused has been looked at.
    directory.prepare(std::nullopt, old_results(options), deck, options.deck);
    on_rank_0(comm, [&] {
        directory.write("deck.yaml", to_yaml(deck));
        directory.write("partition.json", to_json(report));
    });
    FieldFiles(directory).write(cell_fields(report, field.load, field.box, comm));
    if (comm.rank() == 0 && !options.quiet) say_partition(report, directory.path());
    return 0;
}

}  // namespace app
