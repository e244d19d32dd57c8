// SPDX-License-Identifier: MIT
// The part of a file of `steelyard run --trace-messages` that one rank needs.
#pragma once
#include <string>
#include <vector>

#include "balance/team.hpp"
#include "comm/communicator.hpp"

/// A plan: the parts that this rank sends and receives, each in the order of the file, which is the program's order.
struct TracedPlan {
    std::string kind;
    std::vector<balance::Part> sent, received;
};

/// The plans of these kinds, or all plans if `kinds` is empty: at most `most` plans of each kind, evenly spread over
/// the file. Rank 0 reads it. Collective. Throws app::InputError for a file that is no trace, or is of another number
/// of ranks. Throws app::UsageError for a kind that is not in it.
std::vector<TracedPlan> read_trace(const std::string& path, const std::vector<std::string>& kinds, std::size_t most,
                                   const comm::Communicator& comm);
