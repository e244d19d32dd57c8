// SPDX-License-Identifier: MIT
// The tags of all messages between ranks, listed once. So two kinds of messages between the same ranks are never
// confused.
#pragma once

namespace comm {

enum Tag : int {
    direct_tag = 1,        ///< parts from their rank to the rank that they are for
    aggregated_tag,        ///< parts for all ranks of a node, to its aggregator
    all_to_all_sizes_tag,  ///< Communicator::all_to_all
    all_to_all_bytes_tag,
    gather_size_tag,  ///< Communicator::gather
    gather_bytes_tag,
    all_gather_sizes_tag,  ///< Communicator::all_gather
    all_gather_bytes_tag,
    pass_on_tag,         ///< Communicator::pass_on
    exclusive_sum_tag,   ///< Communicator::exclusive_sum
    eager_limit_tag,     ///< measure_eager_limit()
    first_forwarded_tag  ///< what an aggregator forwards, numbered from here on
};

inline constexpr int forwarded_tags = 30000;
inline constexpr int largest_tag = 32767;  // MPI promises no larger ones
static_assert(first_forwarded_tag + forwarded_tags <= largest_tag);

}  // namespace comm
