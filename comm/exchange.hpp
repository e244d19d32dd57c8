// SPDX-License-Identifier: MIT
// Point-to-point messages along a plan. Knows bytes and ranks only; plans and particles are the callers'.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "balance/team.hpp"
#include "comm/communicator.hpp"
#include "comm/schedule.hpp"

namespace comm {

/// How the messages of a run go.
struct Network {
    Schedule schedule;
    NodeMap nodes;
    std::optional<Communicator> node;  ///< the ranks of this rank's node; not empty with Aggregate::node
};

/// The nodes of a communicator. ranks_per_node: number of consecutive ranks that count as a node; 0: ranks that share
/// memory do. nodes_per_switch: see NodeMap. Collective.
Network make_network(const Schedule& schedule, const Communicator& comm, int ranks_per_node = 0,
                     int nodes_per_switch = 0);

struct NodeTraffic;
/// A part below the schedule's threshold is *small*. Returns the small parts that come to this rank's node, and the
/// number of nodes that each node exchanges small parts with. sent, received: parts of this rank. Collective with
/// Aggregate::node. With another Aggregate, the result is empty.
NodeTraffic node_traffic(std::span<const balance::Part> sent, std::span<const balance::Part> received,
                         const Communicator& comm, const Network& network);

/// Every MPI library sends a message of this length at once. So the measured limit is never lower, even if a rank loses
/// its core while it measures. A low limit would cut messages into too many pieces.
inline constexpr std::size_t least_eager_bytes = 512;

/// Length in bytes of the longest message that MPI sends before its receiver asks for it, rounded down to a power of
/// two; from least_eager_bytes to `most`. A longer message waits for its receiver, which may be computing. Rank r of P
/// sends test messages to rank r + P / 2 (modulo P). The shortest length over all ranks counts. Collective.
std::size_t measure_eager_limit(const Communicator& comm, std::size_t most = std::size_t{1} << 20);

/// Messages and bytes that a rank has sent, forwarded ones among them.
struct Traffic {
    std::int64_t messages = 0, bytes = 0;
};

/// A set of nonblocking messages between the ranks of a communicator. Messages from one rank to another match in the
/// order in which they were started, over all Exchanges. So sender and receiver start their Exchanges in the same
/// order.
class Exchange final : public balance::Channel {
public:
    /// One message for each rank, in ascending order.
    explicit Exchange(const Communicator& comm);
    /// Called by lay_out() with the parts that this rank sends.
    using Observer = std::function<void(std::span<const balance::Part> sent)>;
    /// Messages as network.schedule says; they are added to `traffic`, if there is one. Both must stay. on_plan: may be
    /// empty.
    Exchange(const Communicator& comm, const Network& network, Traffic* traffic = nullptr, Observer on_plan = {});
    ~Exchange() override;

    /// Collective with Aggregate::node. Throws std::invalid_argument if network.schedule.piece is outside 1 to 2^31 - 1
    /// bytes.
    Places lay_out(std::span<const balance::Part> sent, std::span<const balance::Part> received) override;
    /// Posts all receives, then all sends. With schedule.one_by_one it returns when the sends are over.
    void start(std::span<const std::byte> sent, std::span<std::byte> received,
               std::shared_ptr<const void> owner = nullptr) override;
    /// Ends the job when a size is not what was announced.
    std::vector<std::size_t> wait_for_some() override;
    void finish() override;

private:
    struct State;
    template <class Call>
    void send(Call call, const std::byte* bytes, std::size_t size, int to, int tag);
    Communicator comm_;
    const Network* network_;
    Traffic* traffic_;
    Observer on_plan_;
    std::unique_ptr<State> state_;
};

}  // namespace comm
