// SPDX-License-Identifier: MIT
#include "app/predict/machine_file.hpp"

#include <utility>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

constexpr NumberRange seconds{0, 1e3}, cost{0, 1e-3}, rate{0, 1e300, true}, part{0, 1};

std::vector<Key> link_keys(predict::Link& link) {
    return {number("latency_seconds", link.latency_seconds, seconds, "from one rank to another, an empty message"),
            number("bytes_per_second", link.bytes_per_second, rate, ""),
            number("acknowledgement_seconds", link.acknowledgement_seconds, seconds,
                   "back to a sender that waits until its message was received, with comm.overlap: none")};
}

std::vector<Key> machine_keys(predict::Machine& m) {
    return {
        text("name", m.name, "a text", "what it is called"),
        flag("costs", m.deck_costs, "what a cell costs: as in the section compute, or as in the deck's balance.work",
             "compute", "deck"),
        section(
            "compute", "seconds a step on one rank with its threads",
            {number("cell", m.compute.cell, cost, "a cell"), number("particle", m.compute.particle, cost, "a particle"),
             number("candidate", m.compute.candidate, cost, "two particles in neighbouring cells"),
             number("pair", m.compute.pair, cost, "two particles within the cutoff")}),
        number("accelerator_speed", m.accelerator_speed, {0, 1e6}, "of a rank's accelerators, its CPU is 1; 0: none"),
        integer("ranks_per_node", m.ranks_per_node, 0, 1'000'000, "0: all ranks on one node"),
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

}  // namespace

predict::Machine read_machine(const std::string& path, const comm::Communicator& comm) {
    const std::string text = input_bytes(path, "machine file", comm);
    predict::Machine machine;
    try {
        const std::string shown = printable(path);
        const std::vector<Key> keys = machine_keys(machine);
        const Node root = parse_tree(text, {shown});
        if (root.kind == Node::Kind::null)
            fail(shown, "the machine file is empty", "give it keys (docs/prediction.md)");
        read_tree(root, keys, keys, shown);
        const predict::ComputeCosts& c = machine.compute;
        if (!machine.deck_costs && c.cell + c.particle + c.candidate + c.pair == 0)
            fail(shown, "compute: nothing costs anything", "give one of its costs, or write costs: deck");
    } catch (const DeckError& e) {
        throw InputError(e.what());
    }
    return machine;
}

std::string to_yaml(const predict::Machine& machine) {
    predict::Machine copy = machine;
    return "# A machine for `steelyard predict --machine`; times in seconds.\n" + yaml_of(machine_keys(copy));
}

}  // namespace app
