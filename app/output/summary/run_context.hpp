// SPDX-License-Identifier: MIT
// A run, as its results name it: deck, restart, command, machine.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/output/checkpoint/checkpoint_info.hpp"
#include "app/output/directory/run_directory.hpp"
#include "app/output/summary/prediction.hpp"
#include "comm/machine/topology.hpp"
#include "md/system.hpp"

namespace app {

class MessageTrace;

struct RunContext {
    const Deck& deck;
    std::string deck_path;  ///< as given on the command line
    const std::optional<CheckpointInfo>& restart;
    OldResults old = OldResults::refuse;
    bool threads_share_cores = false;  ///< and wait actively for each other
    std::vector<std::string> notes;    ///< sentences on what is unusual, or what a restart drops
    comm::Topology topology;
    double start_seconds = 0, start_cpu_seconds = 0;  ///< when the run began, by comm::now() and comm::cpu_seconds()
    bool quiet = false;
    std::vector<std::string> command_line;
    MessageTrace* trace = nullptr;  ///< where plans of messages are written; may be none
    std::optional<Prediction> prediction;

    std::int64_t first_step() const { return restart ? restart->step : 0; }
    std::int64_t particles() const { return restart ? restart->particles : md::particle_count(deck.system); }
};

}  // namespace app
