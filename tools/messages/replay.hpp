// SPDX-License-Identifier: MIT
// Plans carried out and timed.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balance/team.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "trace.hpp"

/// A way to send the messages of a plan.
struct Way {
    std::string name;
    std::optional<comm::Network> network;  ///< empty: MPI's collective call among neighbours
};

/// Costs of one kind of plan in one way. Seconds are those of the slowest rank.
struct Timing {
    std::string kind, way;
    int plans = 0;                      ///< Number of plans. The rest are means over them.
    double seconds = 0;                 ///< Median of the rounds of an exchange.
    double schedule_seconds = 0;        ///< Time to make the schedule.
    double messages = 0, bytes = 0;     ///< Sums over all ranks of an exchange.
    double parts = 0, small_parts = 0;  ///< Parts of a plan. Small parts have at most 4096 bytes.
};

/// The baseline that MPI itself offers: one persistent collective call among neighbours.
/// Parts sent by MPI_Neighbor_alltoallv_init, of MPI 4, on a graph of the ranks that send each other something; nothing
/// where MPI has no such call. lay_out() is collective.
std::unique_ptr<balance::Channel> make_neighbours(const comm::Communicator& comm);

/// Carries out each plan in each way, `rounds` times, in random turns. All bytes are compared with what was sent.
/// Collective. Throws std::runtime_error on all ranks where a byte is wrong.
std::vector<Timing> replay(const std::vector<TracedPlan>& plans, const std::vector<Way>& ways, int rounds,
                           const comm::Communicator& comm);
