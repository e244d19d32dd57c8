// SPDX-License-Identifier: MIT
// Collective operations on all ranks. All reductions but the means of spread() are exact (integers, minima, maxima), so
// their results do not depend on the number of ranks.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace comm {

using Int128 = __int128;

struct Spread {
    double min = 0, mean = 0, max = 0;
};

/// All ranks of the job, or some of them (split). Where a node has more ranks than cores, every call gives the core
/// away while it waits. Every call but rank(), size(), node_rank(), node_size(), oversubscribed() is collective. Copies
/// share one MPI communicator.
class Communicator {
public:
    /// All ranks of the job.
    Communicator();
    /// The ranks that give the same colour (>= 0), in the order of their ranks here.
    Communicator split(int colour) const;
    /// The same ranks with another limit of `bytes` (> 0) for one message of gather, all_gather, broadcast, all_to_all
    /// and pass_on. The reductions sum, min, max and spread take at most `bytes` at once, but at least one value. The
    /// limit is 2^30 by default, because MPI counts with 31 bits. Any amount of bytes goes through; tests set a small
    /// limit.
    Communicator in_pieces_of(std::size_t bytes) const;

    int rank() const { return rank_; }
    int size() const { return size_; }
    int node_rank() const { return node_rank_; }  ///< among these ranks on this node
    int node_size() const { return node_size_; }
    bool oversubscribed() const { return oversubscribed_; }  ///< more ranks of the job than cores on some node

    void barrier() const;
    void broadcast(std::string& text) const;  ///< from rank 0
    void broadcast(std::span<std::int64_t> values) const;
    void broadcast(std::span<std::byte> bytes) const;
    void sum(std::span<std::int64_t> values) const;
    void sum(std::span<Int128> values) const;
    void min(std::span<std::int64_t> values) const;
    void max(std::span<std::int64_t> values) const;
    /// The same for one value: each returns the result. broadcast_list() gives the list the length that it has on rank
    /// 0.
    std::int64_t from_rank_0(std::int64_t value) const { return broadcast(std::span(&value, 1)), value; }
    void broadcast_list(std::vector<std::int64_t>& list) const;
    std::int64_t sum_of(std::int64_t value) const { return sum(std::span(&value, 1)), value; }
    Int128 wide_sum_of(Int128 value) const { return sum(std::span(&value, 1)), value; }
    std::int64_t min_of(std::int64_t value) const { return min(std::span(&value, 1)), value; }
    std::int64_t max_of(std::int64_t value) const { return max(std::span(&value, 1)), value; }
    std::int64_t exclusive_sum(std::int64_t value) const;  ///< sum over lower ranks
    bool all_agree(bool good) const;
    /// Spread of each value over the ranks, on all ranks. The mean depends on the order in which MPI adds doubles.
    std::vector<Spread> spread(std::span<const double> values) const;
    /// Sends to_rank[r] to rank r; returns everything that came, in rank order. Any sizes; only ranks that have
    /// something for each other exchange messages.
    std::vector<std::byte> all_to_all(std::span<const std::vector<std::byte>> to_rank) const;
    std::vector<std::string> gather(const std::string& text) const;  ///< on rank 0; empty elsewhere
    /// The bytes of all ranks, in rank order, on rank 0; empty elsewhere.
    std::vector<std::byte> gather(std::span<const std::byte> mine) const;
    std::vector<std::byte> all_gather(std::span<const std::byte> mine) const;  ///< The same on all ranks.
    /// All ranks stand in a circle. Sends bytes to the rank `distance` (1 .. size() - 1) places further on. Returns the
    /// bytes of the rank `distance` places behind.
    std::vector<std::byte> pass_on(int distance, std::span<const std::byte> bytes) const;

    struct Handle;  ///< the MPI communicator (comm/mpi/mpi_check.hpp); nothing in a build without MPI
    const Handle& handle() const { return *handle_; }
    Communicator(std::shared_ptr<const Handle> handle, bool oversubscribed);  ///< comm/mpi/from_mpi.hpp

private:
    std::shared_ptr<const Handle> handle_;
    int rank_ = 0, size_ = 1, node_rank_ = 0, node_size_ = 1;
    bool oversubscribed_ = false;
    [[maybe_unused]] std::size_t piece_ = std::size_t{1} << 30;
};

/// A reduction in the background. The result has the maxima of the first values over the ranks, and the sum of the last
/// value. Other calls may come between start and wait(). All ranks start and end their reductions in the same order.
class Reduction {
public:
    static constexpr int maxima = 3;
    using Values = std::array<std::int64_t, maxima + 1>;
    Reduction(const Communicator& comm, const Values& values);
    Reduction(Reduction&&) noexcept;
    ~Reduction();
    /// Once. Collective.
    Values wait();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace comm
