// SPDX-License-Identifier: MIT
// Collective operations on all ranks. Reductions are exact (integers, minima, maxima), so their result does not depend on the
// number of ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace comm {

using Int128 = __int128;

struct Spread {
    double min = 0, mean = 0, max = 0;
};

/// All ranks of the job. Where a node has more ranks than cores, every call gives the core away while it waits. Every call but rank(), size(), node_rank(), node_size(), oversubscribed() is collective.
class Communicator {
public:
    Communicator();

    int rank() const { return rank_; }
    int size() const { return size_; }
    int node_rank() const { return node_rank_; }  ///< among the ranks that share this node's memory
    int node_size() const { return node_size_; }

    bool oversubscribed() const { return oversubscribed_; }  ///< more ranks than cores on some node

    void barrier() const;
    void broadcast(std::string& text) const;  ///< from rank 0
    void broadcast(std::span<std::int64_t> values) const;
    void sum(std::span<std::int64_t> values) const;
    void sum(std::span<Int128> values) const;
    void min(std::span<std::int64_t> values) const;
    void max(std::span<std::int64_t> values) const;
    std::int64_t exclusive_sum(std::int64_t value) const;  ///< sum over lower ranks
    bool all_agree(bool good) const;
    std::vector<Spread> spread(std::span<const double> values) const;  ///< of each value over the ranks, on all of them
    /// Sends to_rank[r] to rank r; returns everything that came, in rank order. Any sizes.
    std::vector<std::byte> all_to_all(std::span<const std::vector<std::byte>> to_rank) const;
    /// Ranks call step(carry) one after the other, each with what the one before left; all get the last value.
    void relay(bool ascending, std::span<std::int64_t> carry, const std::function<void(std::span<std::int64_t>)>& step) const;
    std::vector<std::string> gather(const std::string& text) const;    ///< on rank 0; empty elsewhere

private:
    int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
    bool oversubscribed_ = false;
};

}  // namespace comm
