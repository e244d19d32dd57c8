// SPDX-License-Identifier: MIT
// Plans carried out and timed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "trace.hpp"

/// A way to send the messages of a plan.
struct Way {
    std::string name;
    std::optional<comm::Network> network;  ///< empty: MPI's collective call among neighbours
};

/// What one kind of plan takes in one way.
struct Timing {
    std::string kind, way;
    int plans = 0;                      ///< whose mean the rest is
    double seconds = 0;                 ///< of an exchange: the slowest rank's, the median of the rounds
    double schedule_seconds = 0;        ///< to make the schedule: the slowest rank's
    double messages = 0, bytes = 0;     ///< of an exchange, of all ranks
    double parts = 0, small_parts = 0;  ///< of a plan; at most 4096 bytes
};

/// Carries out each plan in each way, `rounds` times, in random turns. All bytes are compared with what was sent.
/// Collective. Throws std::runtime_error on all ranks where a byte is wrong.
std::vector<Timing> replay(const std::vector<TracedPlan>& plans, const std::vector<Way>& ways, int rounds,
                           const comm::Communicator& comm);
