// SPDX-License-Identifier: MIT
#include "app/deck/machine_file.hpp"

#include <algorithm>
#include <utility>

#include "app/deck/checks.hpp"
#include "app/deck/key.hpp"
#include "app/deck/yaml_tree.hpp"

namespace app {
namespace {

constexpr NumberRange seconds{0, 1e3}, cost{0, 1e-3}, rate{0, 1e300, true}, part{0, 1};

std::vector<Key> link_keys(predict::Link& link) {
    return {number("latency_seconds", link.latency_seconds, seconds, "from one rank to another, an empty message"),
            number("bytes_per_second", link.bytes_per_second, rate, ""),
            number("acknowledgement_seconds", link.acknowledgement_seconds, seconds,
                   "back to a sender that waits until its message was received, with comm.overlap: none")};
}

std::vector<Key> cost_keys(predict::Machine& m) {
    return {
        flag("costs", m.deck_costs, "what a cell costs: as in the section compute, or as in the deck's balance.work",
             "compute", "deck"),
        section(
            "compute", "seconds a step on one rank with its threads, on cores of core_speed 1",
            {number("cell", m.compute.cell, cost, "a cell"), number("particle", m.compute.particle, cost, "a particle"),
             number("candidate", m.compute.candidate, cost, "two particles in neighbouring cells"),
             number("pair", m.compute.pair, cost, "two particles within the cutoff")}),
        integer("ranks_per_node", m.ranks_per_node, 0, 1'000'000,
                "0: one for each core of the given nodes, or all on one node"),
        integer("nodes_per_switch", m.nodes_per_switch, 0, 1'000'000, "of a fat tree; 0: nodes in a row"),
        section("inside", "between ranks of a node", link_keys(m.inside)),
        section("between", "between nodes, all ranks of a node together", link_keys(m.between)),
        number("message_seconds", m.message_seconds, seconds, "of a core for each message, on both sides together"),
        number("copy_bytes_per_second", m.copy_bytes_per_second, rate, "of a core, for messages below eager_bytes"),
        integer("eager_bytes", m.eager_bytes, 1, std::int64_t{1} << 40, ""),
        flag("simulated", m.simulated,
             "messages as SimGrid has them: all wait for their receiver, blocking ones take no time of a core"),
        flag("reductions_travel", m.reductions_travel, "while the next step is computed, with comm.overlap: full"),
        number("move_seconds", m.move_seconds, seconds, "for a particle that changes its process"),
        number("steps_per_rebuild", m.steps_per_rebuild, {0, 1e9},
               "of the neighbour lists; 0: by the deck's particles"),
        number("compute_uncertainty", m.compute_uncertainty, part, "relative"),
        number("message_uncertainty", m.message_uncertainty, part, "relative"),
    };
}

// accelerator_speed is that of each accelerator of the nodes. A file without such accelerators may say instead what a
// rank's accelerators are worth.
std::vector<Key> keys_of(MachineFile& m) {
    const auto none = [&m] {
        const std::vector<std::int64_t>& n = m.nodes.accelerators_per_node;
        return std::ranges::all_of(n, [](std::int64_t each) { return each == 0; });
    };
    std::vector<Key> keys{text("name", m.costs.name, "a text", "what it is called")};
    for (Key& key : machine_keys(m.nodes)) {
        if (key.name == "accelerator_speed")
            key = unless(
                std::move(key), [none] { return none() ? "has no accelerators" : ""; }, "");
        keys.push_back(std::move(key));
    }
    keys.push_back(unless(
        number("accelerator_speed", m.costs.accelerator_speed, {0, 1e6},
               "of a rank's accelerators, its CPU is 1; 0: none"),
        [none] { return none() ? "" : "has accelerators"; }, ""));
    for (Key& key : cost_keys(m.costs)) keys.push_back(std::move(key));
    return keys;
}

bool has_any(const Node& root, const std::vector<std::string>& keys) {
    return std::ranges::any_of(keys, [&root](const std::string& key) { return root.find(key) != nullptr; });
}

void check(const MachineFile& machine, const Node& root, const std::string& shown) {
    const auto where = [&](const std::string& path) { return locate(root, path, shown); };
    check_machine(machine.nodes, "", where);
    const predict::ComputeCosts& c = machine.costs.compute;
    if (!machine.costs.deck_costs && c.cell + c.particle + c.candidate + c.pair == 0)
        fail(shown, "compute: nothing costs anything", "give one of its costs, or write costs: deck");
}

}  // namespace

YamlFile kind_of(const Node& root) {
    if (root.kind != Node::Kind::map || has_any(root, {"system", "run", "grid", "balance", "output", "checkpoint"}))
        return YamlFile::deck;
    MachineFile any;
    std::vector<std::string> names;
    for (const Key& key : keys_of(any)) names.push_back(key.name);
    return has_any(root, names) ? YamlFile::machine : YamlFile::deck;
}

MachineFile read_machine(const std::string& path, const comm::Communicator& comm) {
    const std::string text = input_bytes(path, "machine file", comm);
    return agreed(comm, [&] {
        MachineFile machine;
        try {
            const std::string shown = printable(path);
            const std::vector<Key> keys = keys_of(machine);
            const Node root = parse_tree(text, {shown});
            if (root.kind == Node::Kind::null)
                fail(shown, "the machine file is empty", "give it keys (docs/prediction.md)");
            if (has_any(root, {"system", "run"}))
                fail(shown, "a deck, not a machine file",
                     "give the machine.yaml of a prediction, or write one (docs/prediction.md)");
            read_tree(root, keys, keys, shown);
            check(machine, root, shown);
            machine.has_nodes = machine.nodes != Deck::Machine();  // also a measured file has all keys
            machine.has_compute = has_any(root, {"costs", "compute"});
            machine.has_messages = has_any(root, {"inside", "between", "message_seconds"});
        } catch (const DeckError& e) {
            throw InputError(e.what());
        }
        return machine;
    });
}

std::string to_yaml(const MachineFile& machine) {
    MachineFile copy = machine;
    return "# A machine, for --machine of `steelyard run`, `partition` and `predict`; times in seconds.\n" +
           yaml_of(keys_of(copy));
}

}  // namespace app
