// SPDX-License-Identifier: MIT
// Point-to-point messages of known size. Knows bytes and ranks only; plans and particles are the callers'.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace comm {

struct Outgoing {
    int rank;
    std::span<const std::byte> bytes;
};
struct Incoming {
    int rank;
    std::span<std::byte> bytes;
};

/// A set of nonblocking messages. Both sides know every size; empty messages are not sent. Several messages between two ranks
/// match in order.
class Exchange {
public:
    /// message_limit: longer messages are cut into pieces of this many bytes: for MPI counts, which are 31-bit, or so small that the library sends them at once.
    explicit Exchange(const Communicator& comm, std::size_t message_limit = std::size_t{1} << 30);
    ~Exchange();

    /// Posts all receives, then all sends. The buffers must stay until finish(). May be called again before finish(), which then
    /// waits for the messages of all calls.
    void start(std::span<const Outgoing> out, std::span<const Incoming> in, int tag);
    /// Waits for all of them; ends the job when a size is not what was announced.
    void finish();

private:
    struct Requests;
    std::size_t limit_;
    bool yield_;
    std::unique_ptr<Requests> requests_;
};

/// Sends counts[i] to neighbours[i]; returns what each of them sent. The relation is symmetric and excludes this rank.
std::vector<std::int64_t> swap_counts(const Communicator& comm, std::span<const int> neighbours, std::span<const std::int64_t> counts);

}  // namespace comm
