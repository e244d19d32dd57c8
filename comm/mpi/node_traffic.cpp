// SPDX-License-Identifier: MIT
#include "comm/node_traffic.hpp"

#include <algorithm>
#include <utility>

#include "comm/team.hpp"

namespace comm {
namespace {

std::vector<std::int64_t> sorted_set(std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

}  // namespace

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
        degrees[2 * nodes.of(rank)] = static_cast<std::int64_t>(targets.size());
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
