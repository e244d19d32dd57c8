// SPDX-License-Identifier: MIT
// Point-to-point messages of known size. Knows bytes and ranks only; plans and particles are the callers'.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "balance/team.hpp"
#include "comm/communicator.hpp"

namespace comm {

using Outgoing = balance::Outgoing;
using Incoming = balance::Incoming;

/// A set of nonblocking messages between the ranks of a communicator. Messages from one rank to another match in the
/// order in which they were started, in any Exchange: both sides start theirs in the same order.
class Exchange final : public balance::Channel {
public:
    /// message_limit: longer messages are cut into pieces of this many bytes: for MPI counts, which are 31-bit, or so
    /// small that the library sends them at once.
    explicit Exchange(const Communicator& comm, std::size_t message_limit = std::size_t{1} << 30);
    ~Exchange() override;

    /// Posts all receives, then all sends. The buffers must stay until finish(). May be called again before finish(),
    /// which then waits for the messages of all calls.
    void start(std::span<const Outgoing> out, std::span<const Incoming> in) override;
    /// Waits for all of them; ends the job when a size is not what was announced.
    void finish() override;

private:
    struct Requests;
    std::size_t limit_;
    Communicator comm_;
    std::unique_ptr<Requests> requests_;
};

}  // namespace comm
