// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>
#include <vector>

#include "comm/clock.hpp"
#include "comm/exchange.hpp"
#include "comm/message_plan.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/simulation.hpp"
#include "comm/tags.hpp"
#include "comm/team.hpp"

namespace comm {
namespace {

std::vector<std::int64_t> sorted_set(std::vector<std::int64_t> values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

}  // namespace

Network make_network(const Schedule& schedule, const Communicator& comm, int ranks_per_node, int nodes_per_switch) {
    // Nodes are numbered by their first ranks.
    int first = comm.rank() - (ranks_per_node > 0 ? comm.rank() % ranks_per_node : 0);
    if (ranks_per_node == 0) {
        MPI_Comm node;
        mpi_check(MPI_Comm_split_type(comm.handle().comm, MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node),
                  "MPI_Comm_split_type");
        mpi_check(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
        MPI_Comm_free(&node);
    }
    std::vector<int> node_of = balance::all_gather<int>(Ranks(comm), std::span<const int>(&first, 1));
    const std::vector<std::int64_t> firsts = sorted_set({node_of.begin(), node_of.end()});
    for (int& n : node_of) n = static_cast<int>(std::ranges::lower_bound(firsts, n) - firsts.begin());
    Network network{schedule, NodeMap(std::move(node_of), nodes_per_switch), std::nullopt};
    if (schedule.aggregate == Aggregate::node) network.node = comm.split(network.nodes.of(comm.rank()));
    return network;
}

// A message is sent at once when it is sent although its receiver does not look for it. The shortest one is not judged,
// because MPI may connect the ranks for it.
std::size_t measure_eager_limit(const Communicator& comm, std::size_t most) {
    constexpr double patience_seconds = 1e-4;
    constexpr int most_looks = 20000;  // some milliseconds, whatever the clock does
    const int other = (comm.rank() + comm.size() / 2) % comm.size(),
              from = (comm.rank() + comm.size() - comm.size() / 2) % comm.size();
    if (comm.size() == 1 || simulated) return most;  // simulated time stands still while a rank looks for a message
    std::vector<std::byte> sent(most), received(most);
    const std::size_t least = std::min(least_eager_bytes, most);
    std::size_t limit = least;
    for (std::size_t bytes = least; bytes <= most; bytes *= 2) {
        MPI_Request send, receive;
        mpi_check(MPI_Isend(sent.data(), static_cast<int>(bytes), MPI_BYTE, other, eager_limit_tag, comm.handle().comm,
                            &send),
                  "MPI_Isend");
        int done = 0;
        const double start = now();
        for (int look = 0; look < most_looks && !done; ++look) {
            mpi_check(MPI_Test(&send, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (now() - start >= patience_seconds) break;
        }
        comm.barrier();
        mpi_check(MPI_Irecv(received.data(), static_cast<int>(bytes), MPI_BYTE, from, eager_limit_tag,
                            comm.handle().comm, &receive),
                  "MPI_Irecv");
        wait_all(1, &receive, MPI_STATUSES_IGNORE, comm.oversubscribed());
        wait_all(1, &send, MPI_STATUSES_IGNORE, comm.oversubscribed());
        if (bytes > least && !comm.all_agree(done != 0)) break;
        limit = bytes;
    }
    return limit;
}

NodeTraffic node_traffic(std::span<const balance::Part> sent, std::span<const balance::Part> received,
                         const Communicator& comm, const Network& network) {
    NodeTraffic traffic;
    if (network.schedule.aggregate != Aggregate::node) return traffic;
    const NodeMap& nodes = network.nodes;
    const int rank = comm.rank();
    const auto forwarded = [&](const balance::Part& p) {
        return is_forwarded(p.bytes, rank, p.member, nodes, network.schedule);
    };
    for (const balance::Part& p : received)
        if (forwarded(p)) traffic.parts.push_back({p.member, rank, p.bytes});
    std::vector<std::int64_t> targets, sources;
    for (const balance::Part& p : sent)
        if (forwarded(p)) targets.push_back(nodes.of(p.member));

    const Ranks node(*network.node);
    traffic.parts = balance::all_gather<ForwardedPart>(node, traffic.parts);
    std::stable_sort(traffic.parts.begin(), traffic.parts.end(), [](const ForwardedPart& a, const ForwardedPart& b) {
        return std::pair(a.source, a.target) < std::pair(b.source, b.target);
    });
    for (const ForwardedPart& p : traffic.parts) sources.push_back(nodes.of(p.source));
    targets = sorted_set(balance::all_gather<std::int64_t>(node, sorted_set(std::move(targets))));
    std::vector<std::int64_t> degrees(2 * nodes.nodes(), 0);
    if (node.rank() == 0) {
        degrees[2 * nodes.of(rank)] = std::ssize(targets);
        degrees[2 * nodes.of(rank) + 1] = static_cast<std::int64_t>(sorted_set(std::move(sources)).size());
    }
    comm.sum(degrees);
    for (std::size_t n = 0; n < degrees.size(); n += 2) {
        traffic.targets.push_back(degrees[n]);
        traffic.sources.push_back(degrees[n + 1]);
    }
    return traffic;
}

}  // namespace comm
