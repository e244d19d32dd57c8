// SPDX-License-Identifier: MIT
// A machine as a YAML file, for run, partition and predict. Its nodes may differ, and are described as in a deck's
// section machine. For predictions it also has the costs of computing and messages. A prediction or a user writes it.
#pragma once
#include <cstdint>
#include <string>

#include "app/deck/deck.hpp"
#include "app/deck/yaml_tree.hpp"
#include "comm/communicator.hpp"

namespace predict {

/// The way between two ranks.
struct Link {
    double latency_seconds = 1e-6;       ///< With nodes_per_switch: latency of the longest way, over 4 links.
    double bytes_per_second = 1e10;      ///< Between nodes: of all ranks of a node together.
    double acknowledgement_seconds = 0;  ///< Delay of the acknowledgement that a waiting sender gets.
};

/// Seconds a step for each thing counted, on one rank with all its threads (balance::WorkCosts has the meanings).
struct ComputeCosts {
    double cell = 2e-9, particle = 6e-9, candidate = 0.3e-9, pair = 1.6e-9;
};

struct Machine {
    std::string name = "unnamed";
    bool deck_costs = false;             ///< Cells cost the deck's balance.work, as on a simulated cluster.
    ComputeCosts compute{};              ///< Costs of cells otherwise.
    double accelerator_speed = 0;        ///< Of a rank's accelerators relative to its CPU; 0: it has none.
    std::int64_t ranks_per_node = 0;     ///< 0: all ranks are on one node.
    std::int64_t nodes_per_switch = 0;   ///< See comm::NodeMap.
    Link inside, between;                ///< Links inside a node and between nodes.
    double message_seconds = 5e-7;       ///< Of the sender's core a message, the receiver's part included.
    double copy_bytes_per_second = 5e9;  ///< Of the sender's core, for messages shorter than eager_bytes.
    std::int64_t eager_bytes = 65536;
    /// Messages as SimGrid has them: short ones also wait for their receiver, and blocking ones take no time of a core.
    bool simulated = false;
    bool reductions_travel = true;   ///< During the next step, with comm.overlap: full.
    double move_seconds = 2e-7;      ///< For each particle that changes its process.
    double steps_per_rebuild = 0;    ///< Between rebuilds of the lists; 0: by the deck's fastest particle.
    double compute_uncertainty = 0;  ///< Relative spread of compute times during calibration.
    double message_uncertainty = 0;  ///< Relative spread of message times.
};

}  // namespace predict

namespace app {

struct MachineFile {
    Deck::Machine nodes;
    predict::Machine costs;
    /// Whether the file says anything of its nodes, of what computing costs, of what messages cost: else there are
    /// defaults.
    bool has_nodes = false, has_compute = false, has_messages = false;
};

/// Collective. Throws InputError naming file, line, key and remedy.
MachineFile read_machine(const std::string& path, const comm::Communicator& comm);

/// Every key with its meaning; read_machine() reads it back to the same bits.
std::string to_yaml(const MachineFile& machine);

/// Kind of a file by its keys; a deck if they belong to no other kind.
enum class YamlFile { deck, machine };
YamlFile kind_of(const Node& root);

}  // namespace app
