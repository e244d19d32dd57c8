// SPDX-License-Identifier: MIT
#include "predict/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace predict {
namespace {

double core_seconds(const Message& m, const Machine& machine) {
    const bool copied = m.bytes < static_cast<double>(machine.eager_bytes);
    return machine.message_seconds + (copied ? m.bytes / machine.copy_bytes_per_second : 0);
}

// In a fat tree the latency is that of the longest way, over 4 links; between nodes of a switch there are 2.
double latency(const Message& m, int from, const comm::NodeMap& nodes, const Machine& machine) {
    const int a = nodes.of(from), b = nodes.of(m.to);
    if (a == b) return machine.inside.latency_seconds;
    const double ways = machine.nodes_per_switch > 0 ? nodes.distance(a, b) / 4.0 : 1;
    return machine.between.latency_seconds * ways;
}

struct Sent {
    double issued;
    int from, to;
    double bytes, latency;
};

}  // namespace

std::vector<double> step_ends(std::span<const RankStep> ranks, const comm::NodeMap& nodes, const Machine& machine,
                              comm::Overlap overlap) {
    std::vector<double> free(ranks.size(), 0.0), arrived(ranks.size(), 0.0);  // all sent, all received
    std::vector<Sent> across;
    for (int r = 0; r < static_cast<int>(ranks.size()); ++r)
        for (const Message& m : ranks[r].sends) {
            free[r] += core_seconds(m, machine);
            const bool far = nodes.of(r) != nodes.of(m.to);
            const Link& link = far ? machine.between : machine.inside;
            const double late = latency(m, r, nodes, machine), travel = late + m.bytes / link.bytes_per_second;
            if (overlap == comm::Overlap::none) free[r] += travel;
            else if (far) across.push_back({free[r], r, m.to, m.bytes, late});
            const double there = free[r] + (overlap == comm::Overlap::none ? 0 : travel);
            arrived[m.to] = std::max(arrived[m.to], there);
        }
    // The link of a node carries one message after the other.
    std::stable_sort(across.begin(), across.end(), [](const Sent& a, const Sent& b) { return a.issued < b.issued; });
    std::map<int, double> link_free;
    for (const Sent& m : across) {
        double& next = link_free[nodes.of(m.from)];
        next = std::max(next, m.issued) + m.bytes / machine.between.bytes_per_second;
        arrived[m.to] = std::max(arrived[m.to], next + m.latency);
    }
    std::vector<double> ends;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        ends.push_back(overlap == comm::Overlap::full
                           ? std::max(free[r] + ranks[r].inner_seconds, arrived[r]) + ranks[r].rim_seconds
                           : std::max(free[r], arrived[r]) + ranks[r].seconds());
    return ends;
}

double reduction_seconds(int ranks, const Machine& machine) {
    double seconds = 0;
    for (std::int64_t together = 1; together < ranks; together *= 2) {
        const bool far = machine.ranks_per_node > 0 && together >= machine.ranks_per_node;
        const bool near = far && together < machine.ranks_per_node * machine.nodes_per_switch;
        const double latency = far ? machine.between.latency_seconds / (near ? 2 : 1) : machine.inside.latency_seconds;
        seconds += machine.reduction_rounds * (machine.message_seconds + latency);
    }
    return seconds;
}

}  // namespace predict
