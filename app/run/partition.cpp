// SPDX-License-Identifier: MIT
#include "app/run/partition.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <utility>

#include "app/balancing/machine.hpp"
#include "app/common/words.hpp"
#include "app/output/json_text.hpp"
#include "app/output/partition_report.hpp"
#include "app/run/load_field.hpp"
#include "balance/nested/lbe_bound.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/machine/topology.hpp"
#include "comm/team.hpp"

namespace app {

int partition(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(comm::detect(comm).default_threads);
    RunDirectory directory(output_path(options, deck, comm), comm);
    const balance::Machine machine = machine_of(deck.machine, comm);
    const LoadField field = load_field(deck, comm);
    const auto nodes = static_cast<std::int64_t>(machine.nodes.size());
    comm::require(comm, nodes <= field.grid.box().cells(), [&] {
        return DeckError(fmt::format("machine.nodes: {} for {}; use fewer nodes or more cells", counted(nodes, "node"),
                                     counted(field.grid.box().cells(), "cell")));
    });
    directory.require_room(old_results(options), options.deck);
    const comm::Ranks team(comm);
    const balance::NestedOptions& nested = deck.balance.nested;
    PartitionReport report{.deck = deck.name, .grid = field.grid, .machine = machine, .options = nested};
    report.partition = balance::nested_partition(team, field.grid, field.load, machine, nested);
    report.quality = balance::quality_of(team, field.grid, field.load, machine, report.partition, nested.ghost_width);
    report.bound = balance::lbe_bound(team, field.grid, field.load, machine, nested);
    report.bound_of_cells =
        balance::lbe_bound(team, field.grid, field.load, machine, {balance::NestedAlgorithm::greedy});
    report.traffic = balance::traffic_of(team, field.grid, field.items, machine, report.partition, nested.ghost_width);
    report.item_bytes = field.item_bytes;
    report.unit = field.unit;
    report.unit_name = field.what;

    // From here on files are written; whatever can be refused has been looked at.
    directory.prepare(std::nullopt, old_results(options), deck, options.deck);
    const std::string& path = directory.path();
    const bool good = comm.rank() != 0 || (comm::replace_file(path + "/deck.yaml", to_yaml(deck)) &&
                                           comm::replace_file(path + "/partition.json", to_json(report)));
    comm::require(comm, good, [&] {
        return OutputError(
            fmt::format("{}: cannot write partition.json; check that the directory is writable and not full, or choose "
                        "another with "
                        "--out",
                        path));
    });
    FieldFiles(directory).write(cell_fields(report, field.load, field.box, comm));
    if (comm.rank() == 0 && !options.quiet) say_partition(report, path);
    return 0;
}

}  // namespace app
