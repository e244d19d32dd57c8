// SPDX-License-Identifier: MIT
// What a prediction knows of a machine: what a cell costs on a rank, and what messages cost.
#pragma once
#include <cstdint>
#include <string>

#include "balance/model/work.hpp"

namespace predict {

/// The way between two ranks.
struct Link {
    double latency_seconds = 1e-6;       ///< with nodes_per_switch: of the longest way, over 4 links
    double bytes_per_second = 1e10;      ///< between nodes: of all ranks of a node together
    double acknowledgement_seconds = 0;  ///< until a sender that waits for it knows that its message was received
};

/// Seconds a step for each thing counted, on one rank with all its threads (balance::WorkCosts has the meanings).
struct ComputeCosts {
    double cell = 2e-9, particle = 6e-9, candidate = 0.3e-9, pair = 1.6e-9;
};

struct Machine {
    std::string name = "unnamed";
    bool deck_costs = false;             ///< cells cost what the deck's balance.work says, as on a simulated cluster
    ComputeCosts compute{};              ///< else
    double accelerator_speed = 0;        ///< of a rank's accelerators relative to its CPU; 0: it has none
    std::int64_t ranks_per_node = 0;     ///< 0: all ranks are on one node
    std::int64_t nodes_per_switch = 0;   ///< see comm::NodeMap
    Link inside, between;                ///< a node, nodes
    double message_seconds = 5e-7;       ///< of the sender's core for each message, the receiver's part included
    double copy_bytes_per_second = 5e9;  ///< of the sender's core, for messages shorter than eager_bytes
    std::int64_t eager_bytes = 65536;
    bool simulated = false;          ///< messages as SimGrid has them: also short ones wait until their receiver is
                                     ///< ready, and blocking ones take no time of a core
    bool reductions_travel = true;   ///< while the next step is computed, with comm.overlap: full
    double move_seconds = 2e-7;      ///< for each particle that changes its process
    double steps_per_rebuild = 0;    ///< of the neighbour lists; 0: as the deck's fastest particle has it
    double compute_uncertainty = 0;  ///< relative, of the compute times: the spread that calibration saw
    double message_uncertainty = 0;  ///< the same, of messages
};

}  // namespace predict
