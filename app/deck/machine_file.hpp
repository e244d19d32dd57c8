// SPDX-License-Identifier: MIT
// A machine as a YAML file, for run, partition and predict. Its nodes may differ, and are described as in a deck's
// section machine. For predictions it also has the costs of computing and messages. A prediction or a user writes it.
#pragma once
#include <string>

#include "app/deck/deck.hpp"
#include "app/deck/machine_costs.hpp"
#include "app/deck/yaml_tree.hpp"
#include "comm/communicator.hpp"

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
