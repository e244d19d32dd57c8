// SPDX-License-Identifier: MIT
// What a file of `steelyard run --trace-messages` holds, as far as one rank needs it.
#pragma once
#include <string>
#include <vector>

#include "balance/team.hpp"
#include "comm/communicator.hpp"

/// A plan: what this rank sends and receives, each in the order of the file, which is that of the program.
struct TracedPlan {
    std::string kind;
    std::vector<balance::Part> sent, received;
};

/// The plans of the file that are of these kinds, or all of them if `kinds` is empty; of each kind at most `most`,
/// evenly spread over the file. Rank 0 reads it. Collective. Throws app::InputError for a file that is no trace, or not
/// of as many ranks as there are, and app::UsageError for a kind that is not in it.
std::vector<TracedPlan> read_trace(const std::string& path, const std::vector<std::string>& kinds, std::size_t most,
                                   const comm::Communicator& comm);
