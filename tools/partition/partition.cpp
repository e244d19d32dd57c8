// SPDX-License-Identifier: MIT
#include "balance/partition/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>

#include "app/common/json.hpp"
#include "app/common/threads.hpp"
#include "app/common/words.hpp"
#include "app/output/results.hpp"
#include "app/output/series/cell_fields.hpp"
#include "balance/grid/field.hpp"
#include "balance/model/speeds.hpp"
#include "balance/nested/nested.hpp"
#include "comm/machine/topology.hpp"
#include "comm/team.hpp"
#include "tools/commands.hpp"
#include "tools/partition/load_field.hpp"

namespace app {
namespace {

// The machine as the deck gives it, and where it does not, as it is found. Collective.
balance::MachineSpec machine_of(const Deck::Machine& given, const comm::Communicator& comm) {
    const std::vector<comm::NodeShape> found = comm::detect_nodes(comm);
    const auto nodes = given.nodes.value_or(static_cast<std::int64_t>(found.size()));
    balance::MachineSpec machine;
    for (std::int64_t n = 0; n < nodes; ++n) {
        const comm::NodeShape& like = found[n % found.size()];
        balance::NodeSpec node;
        node.cpus = static_cast<int>(Deck::Machine::at(given.cpus_per_node, n, like.sockets));
        node.cores_per_cpu = static_cast<int>(
            Deck::Machine::at(given.cores_per_cpu, n, std::max<std::int64_t>(1, like.cores / node.cpus)));
        node.accelerators = static_cast<int>(Deck::Machine::at(given.accelerators_per_node, n));
        node.core_speed = Deck::Machine::at(given.core_speed, n);
        node.accelerator_speed = Deck::Machine::at(given.accelerator_speed, n);
        machine.nodes.push_back(node);
    }
    return machine;
}

// The partition that a run would get by options.kind with a process for each resource, which knows nothing of nodes:
// targets in proportion to the speeds.
balance::NestedPartition flat_partition(const comm::Communicator& comm, const LoadField& field,
                                        const std::vector<balance::Resource>& resources,
                                        balance::PartitionOptions options) {
    const comm::Ranks team(comm);
    options.processes = std::ssize(resources);
    options.max_size = 0;  // of particles, which not all loads are of
    const balance::PartitionKind& kind = balance::kind_of(options);
    refuse_unless<DeckError>(comm, kind.built && field.grid.box().cells() <= kind.most_cells,
                             "--kind {}: {}; use another kind", options.kind,
                             kind.built ? fmt::format("there are more cells than {}", kind.most_cells)
                                        : "this program was built without its library");
    const std::int64_t most = balance::capacity(field.grid.box(), options.min_width);
    refuse_unless<DeckError>(comm, options.processes <= most,
                             "machine: {}, but {} cells hold at most {} by balance.partition.min_width; use fewer, "
                             "more cells or narrower parts",
                             counted(options.processes, "resource"),
                             along_axes(field.grid.cells, field.grid.dimensions), counted(most, "part"));
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

// A partition and its quality; the same on all ranks.
struct PartitionReport {
    std::string deck;  // its name
    balance::Grid grid;
    balance::MachineSpec machine;
    std::string algorithm;  // its name
    int ghost_width = 1;    // cells
    balance::NestedPartition partition = {};
    balance::NestedQuality quality = {};
    double bound = 1,
           bound_of_cells = 1;  // of LBE_m; the second because cells are not divided, whatever the algorithm
    balance::NestedTraffic traffic = {};
    std::int64_t item_bytes = 8;  // of what the traffic counts
    double unit = 1;              // of loads
    std::string unit_name = {};
    std::vector<balance::Resource> resources = balance::resources_of(machine);
};

// Fields of the cells of this rank's home: load (given for each cell, or empty: 1), owner (resource), node, kind (0
// core, 1 accelerator). box: lengths.
CellFields cell_fields(const PartitionReport& report, std::span<const std::int64_t> load,
                       const std::array<double, 3>& box, const comm::Communicator& comm) {
    const balance::Box home = balance::Homes{report.grid, comm.size()}.of(comm.rank());
    std::vector<std::int32_t> owner(home.cells()), node(home.cells()), kind(home.cells());
    std::vector<double> loads(home.cells());
    // Calls use(place in the file, place at home) for each cell of a box: files have x fastest, homes z.
    const auto for_each_cell = [&](const balance::Box& cells, auto use) {
        for (int x = cells.lower[0]; x < cells.upper[0]; ++x)
            for (int y = cells.lower[1]; y < cells.upper[1]; ++y)
                for (int z = cells.lower[2]; z < cells.upper[2]; ++z)
                    use((std::int64_t{z - home.lower[2]} * home.extent(1) + y - home.lower[1]) * home.extent(0) + x -
                            home.lower[0],
                        balance::place_in(home, x, y, z));
    };
    for_each_cell(home, [&](std::int64_t at, std::int64_t place) {
        loads[at] = load.empty() ? 1 : static_cast<double>(load[place]) * report.unit;
    });
    for (std::size_t r = 0; r < report.resources.size(); ++r)
        for (std::int64_t b = report.partition.first[r]; b < report.partition.first[r + 1]; ++b)
            for_each_cell(intersection(report.partition.boxes[b], home), [&](std::int64_t at, std::int64_t) {
                owner[at] = static_cast<std::int32_t>(r);
                node[at] = report.resources[r].node;
                kind[at] = report.resources[r].kind == balance::ResourceKind::accelerator;
            });
    CellFields fields{report.grid, box, 0, 0, {}, {}};
    fields.integers = {{"owner", {{home, owner}}}, {"node", {{home, node}}}, {"kind", {{home, kind}}}};
    fields.numbers = {{"load", {{home, loads}}}};
    return fields;
}

std::string machine_text(const PartitionReport& report) {
    const auto accelerators = std::ranges::count_if(
        report.resources, [](const auto& r) { return r.kind == balance::ResourceKind::accelerator; });
    double speed = 0;
    for (const balance::Resource& r : report.resources) speed += r.speed;
    const auto cores = static_cast<std::int64_t>(report.resources.size()) - accelerators;
    return lines_of({counted(static_cast<std::int64_t>(report.machine.nodes.size()), "node"), counted(cores, "core"),
                     counted(accelerators, "accelerator"), fmt::format("speed {:.6g}", speed)});
}

std::string shortfall_text(const PartitionReport& report) {
    const std::vector<double>& s = report.partition.shortfall;
    const auto lacking = std::ranges::count_if(s, [](double x) { return x > 0; });
    if (lacking == 0) return "none";
    return fmt::format("{}, up to {:.2g} % of a target", counted(lacking, "resource"),
                       100 * *std::ranges::max_element(s));
}

// The table on the terminal.
void say_partition(const PartitionReport& report, const std::string& directory) {
    const balance::NestedQuality& q = report.quality;
    const std::int64_t total = std::accumulate(q.load.begin(), q.load.end(), std::int64_t{0});
    std::int64_t remote = 0;
    for (std::size_t r = 0; r < report.resources.size(); ++r)
        if (report.resources[r].kind == balance::ResourceKind::accelerator) remote += q.remote_cells[r];
    const std::string grid = along_axes(report.grid.cells, report.grid.dimensions) + " cells";
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, report.deck);
    say_lines({grid, fmt::format("load {:.6g} ({})", static_cast<double>(total) * report.unit, report.unit_name)});
    say(stdout, "{}", machine_text(report));
    const auto row = [](const char* name, const std::string& value) { say(stdout, "  {:<36}{}\n", name, value); };
    const auto bytes = [&](std::int64_t items) { return std::to_string(items * report.item_bytes); };
    row("algorithm", fmt::format("{}, ghost width {}", report.algorithm, report.ghost_width));
    row("LBE_m", fmt::format("{:.4f}", q.lbe_model));
    row("bound of LBE_m", fmt::format("{:.4f}", report.bound));
    row("remote cells of accelerators", std::to_string(remote));
    row("contacts with the other CPU", std::to_string(q.other_cpu_contacts));
    row("bytes between nodes", bytes(report.traffic.between_nodes));
    row("bytes between CPUs of a node", bytes(report.traffic.between_cpus));
    row("bytes inside a CPU", bytes(report.traffic.inside));
    row("distance of nodes that exchange", fmt::format("{:.3f}", report.traffic.node_distance));
    row("shortfalls", shortfall_text(report));
    say(stdout, "  output in {}\n", directory);
    std::fflush(stdout);
}

Json machine_json(const balance::MachineSpec& machine) {
    Json nodes = Json::array();
    for (const balance::NodeSpec& n : machine.nodes)
        nodes.push_back({{"cpus", n.cpus},
                         {"cores_per_cpu", n.cores_per_cpu},
                         {"accelerators", n.accelerators},
                         {"core_speed", n.core_speed},
                         {"accelerator_speed", n.accelerator_speed}});
    return nodes;
}

Json resource_json(const PartitionReport& report, std::size_t id) {
    const balance::Resource& r = report.resources[id];
    Json j = {{"id", id}, {"kind", balance::word_of(r.kind)}, {"node", r.node}, {"cpu", r.cpu}, {"speed", r.speed}};
    j["load"] = static_cast<double>(report.quality.load[id]) * report.unit;
    j["cells"] = report.quality.cells[id];
    j["remote_cells"] = report.quality.remote_cells[id];
    j["shortfall"] = report.partition.shortfall[id];
    j["boxes"] = Json::array();
    for (std::int64_t b = report.partition.first[id]; b < report.partition.first[id + 1]; ++b) {
        const balance::Box& box = report.partition.boxes[b];
        j["boxes"].push_back({box.lower[0], box.lower[1], box.lower[2], box.upper[0], box.upper[1], box.upper[2]});
    }
    return j;
}

// The text of partition.json: a key a line, and in `resources` a resource a line.
std::string to_json(const PartitionReport& report) {
    const balance::NestedQuality& q = report.quality;
    Json j;
    j["deck"] = report.deck;
    j["grid"] = report.grid.cells;
    j["periodic"] = report.grid.periodic;
    j["load_unit"] = report.unit_name;
    j["algorithm"] = report.algorithm;
    j["ghost_width"] = report.ghost_width;
    j["lbe_model"] = q.lbe_model;
    j["bound"] = report.bound;
    j["bound_of_cells"] = report.bound_of_cells;
    j["bytes"] = {{"between_nodes", report.traffic.between_nodes * report.item_bytes},
                  {"between_cpus", report.traffic.between_cpus * report.item_bytes},
                  {"inside", report.traffic.inside * report.item_bytes}};
    j["ghosts"] = {{"between_nodes", q.ghosts_between_nodes},
                   {"between_cpus", q.ghosts_between_cpus},
                   {"inside", q.ghosts_inside}};
    j["node_distance"] = report.traffic.node_distance;
    j["other_cpu_contacts"] = q.other_cpu_contacts;
    j["shortfalls"] = Json::array();
    for (std::size_t r = 0; r < report.resources.size(); ++r)
        if (report.partition.shortfall[r] > 0)
            j["shortfalls"].push_back({{"id", r}, {"shortfall", report.partition.shortfall[r]}});
    j["machine"] = machine_json(report.machine);
    std::string text = "{\n";
    for (const auto& [key, value] : j.items()) text += fmt::format("  \"{}\": {},\n", key, text_of(value, -1));
    text += "  \"resources\": [\n";
    for (std::size_t r = 0; r < report.resources.size(); ++r)
        text += fmt::format("    {}{}\n", text_of(resource_json(report, r), -1),
                            r + 1 < report.resources.size() ? "," : "");
    return text + "  ]\n}\n";
}

}  // namespace

int partition(const Options& options, const comm::Communicator& comm) {
    const Deck deck = read_deck(options, comm);
    const int usual = comm::detect(comm).default_threads;
    agreed(comm, [&] { use_threads(usual); });
    RunDirectory directory(output_path(options, deck, comm), result_kinds(), comm);
    const balance::MachineSpec machine = machine_of(deck.machine, comm);
    const LoadField field = load_field(deck, comm);
    const auto nodes = static_cast<std::int64_t>(machine.nodes.size());
    refuse_unless<DeckError>(comm, nodes <= field.grid.box().cells(),
                             "machine.nodes: {} for {}; use fewer nodes or more cells", counted(nodes, "node"),
                             counted(field.grid.box().cells(), "cell"));
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
