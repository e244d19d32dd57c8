// SPDX-License-Identifier: MIT
// One step on all ranks: who sends when, when it arrives, who computes meanwhile. The generalisation of T, T1 and T2 of
// Shu et al. (data_parallel.hpp) to ranks that differ in work, neighbours and messages.
#pragma once
#include <span>
#include <vector>

#include "comm/schedule.hpp"
#include "predict/machine.hpp"

namespace predict {

struct Message {
    int to = 0;
    double bytes = 0;
};

/// What a rank does in a step.
struct RankStep {
    double inner_seconds = 0;      ///< to compute what needs no ghosts from other ranks
    double rim_seconds = 0;        ///< and the rest
    std::vector<Message> sends{};  ///< in the order of issue
    double seconds() const { return inner_seconds + rim_seconds; }
};

/// The step's end on each rank, seconds after a start that all have in common.
/// A message takes message_seconds of its sender's core, and its copy, if it is shorter than eager_bytes. Messages of a
/// node's ranks to other nodes leave the node one after the other, at the bandwidth of its link; inside a node they do
/// not disturb each other. overlap: as in the deck's comm.overlap; with `none` a message starts when the one before it
/// has been received.
std::vector<double> step_ends(std::span<const RankStep> ranks, const comm::NodeMap& nodes, const Machine& machine,
                              comm::Overlap overlap);

/// Seconds of a reduction of a few numbers over so many ranks: rounds of one message each, those between ranks of a
/// node first.
double reduction_seconds(int ranks, const Machine& machine);

}  // namespace predict
