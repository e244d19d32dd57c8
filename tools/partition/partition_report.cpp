// SPDX-License-Identifier: MIT
#include "tools/partition/partition_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "app/common/json.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "balance/grid/field.hpp"

namespace app {

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

namespace {

std::string machine_text(const PartitionReport& report) {
    const auto accelerators = std::count_if(report.resources.begin(), report.resources.end(),
                                            [](const auto& r) { return r.kind == balance::ResourceKind::accelerator; });
    double speed = 0;
    for (const balance::Resource& r : report.resources) speed += r.speed;
    const auto cores = static_cast<std::int64_t>(report.resources.size()) - accelerators;
    return lines_of({counted(static_cast<std::int64_t>(report.machine.nodes.size()), "node"), counted(cores, "core"),
                     counted(accelerators, "accelerator"), fmt::format("speed {:.6g}", speed)});
}

std::string shortfall_text(const PartitionReport& report) {
    const std::vector<double>& s = report.partition.shortfall;
    const auto lacking = std::count_if(s.begin(), s.end(), [](double x) { return x > 0; });
    if (lacking == 0) return "none";
    return fmt::format("{}, up to {:.2g} % of a target", counted(lacking, "resource"),
                       100 * *std::max_element(s.begin(), s.end()));
}

}  // namespace

void say_partition(const PartitionReport& report, const std::string& directory) {
    const balance::NestedQuality& q = report.quality;
    const std::int64_t total = std::accumulate(q.load.begin(), q.load.end(), std::int64_t{0});
    std::int64_t remote = 0;
    for (std::size_t r = 0; r < report.resources.size(); ++r)
        if (report.resources[r].kind == balance::ResourceKind::accelerator) remote += q.remote_cells[r];
    const std::string grid = along_axes(report.grid.cells, report.grid.dimensions) + " cells";
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, report.deck);
    say(stdout, "{}",
        lines_of({grid, fmt::format("load {:.6g} ({})", static_cast<double>(total) * report.unit, report.unit_name)}));
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

namespace {

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

}  // namespace

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

}  // namespace app
