// SPDX-License-Identifier: MIT
#include "predict/timeline.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace predict {
namespace {

double core_seconds(const Message& m, const Machine& machine) {
    const bool copied = m.bytes < static_cast<double>(machine.eager_bytes);
    return machine.message_seconds + (copied ? m.bytes / machine.copy_bytes_per_second : 0);
}

bool waits(const Message& m, const Machine& machine) {
    return machine.simulated || m.bytes >= static_cast<double>(machine.eager_bytes);
}

const Link& link(int from, int to, const comm::NodeMap& nodes, const Machine& machine) {
    return nodes.of(from) == nodes.of(to) ? machine.inside : machine.between;
}

// In a fat tree the latency is that of the longest way, over 4 links; between nodes of a switch there are 2.
double latency(int from, int to, const comm::NodeMap& nodes, const Machine& machine) {
    const int a = nodes.of(from), b = nodes.of(to);
    if (a == b) return machine.inside.latency_seconds;
    const double ways = machine.nodes_per_switch > 0 ? nodes.distance(a, b) / 4.0 : 1;
    return machine.between.latency_seconds * ways;
}

// The ranks of each node, in ascending order.
struct ByNode {
    std::vector<int> ranks, first;  // those of node n: ranks[first[n]] .. ranks[first[n + 1]]

    explicit ByNode(const comm::NodeMap& nodes) : ranks(nodes.ranks()), first(nodes.nodes() + 1, 0) {
        for (int r = 0; r < nodes.ranks(); ++r) ++first[nodes.of(r) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<int> next(first.begin(), first.end() - 1);
        for (int r = 0; r < nodes.ranks(); ++r) ranks[next[nodes.of(r)]++] = r;
    }
    int nodes() const { return static_cast<int>(first.size()) - 1; }
    std::span<const int> of(int node) const {
        return std::span(ranks).subspan(first[node], first[node + 1] - first[node]);
    }
};

// The next message of a rank.
struct Next {
    double starts;
    int from;
    std::size_t message;
    bool operator>(const Next& other) const { return std::tie(starts, from) > std::tie(other.starts, other.from); }
};

struct Arrival {
    int from;
    double at;
};

// What an exchange is for each rank.
struct Exchanged {
    std::vector<double> issued;  // all messages, or received by the other side where a rank waits for that
    std::vector<double> sent;    // all that wait for their receivers have arrived there
    std::vector<double> last;    // when the last one from others arrives
    std::vector<std::vector<Arrival>> arrivals;  // of each one from others, where that is asked for
};

// Messages disturb each other on their node's way out and nowhere else, so one node is followed after the other.
Exchanged exchange(std::span<const RankStep> ranks, std::span<const double> begins, const comm::NodeMap& nodes,
                   const Machine& machine, comm::Overlap overlap) {
    const bool one_by_one = overlap == comm::Overlap::none, listed = overlap == comm::Overlap::full;
    Exchanged x{{begins.begin(), begins.end()}, {begins.begin(), begins.end()}, std::vector<double>(ranks.size()), {}};
    if (listed) x.arrivals.resize(ranks.size());
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;  // of a node: the first one that starts
    const auto issue = [&](int r, std::size_t k) {
        if (k == ranks[r].sends.size()) return;
        const Message& m = ranks[r].sends[k];
        x.issued[r] += core_seconds(m, machine);
        const bool meet = one_by_one || waits(m, machine);
        queue.push({meet ? std::max(x.issued[r], begins[m.to]) : x.issued[r], r, k});
    };
    const ByNode by_node(nodes);
    for (int node = 0; node < by_node.nodes(); ++node) {
        for (const int r : by_node.of(node)) issue(r, 0);
        double link_free = 0;  // to other nodes
        while (!queue.empty()) {
            const Next next = queue.top();
            queue.pop();
            const Message& m = ranks[next.from].sends[next.message];
            double there = next.starts + m.bytes / machine.inside.bytes_per_second;
            if (nodes.of(m.to) != node)
                there = link_free = std::max(link_free, next.starts) + m.bytes / machine.between.bytes_per_second;
            there += latency(next.from, m.to, nodes, machine);
            x.last[m.to] = std::max(x.last[m.to], there);
            if (listed) x.arrivals[m.to].push_back({next.from, there});
            if (one_by_one) x.issued[next.from] = there + link(next.from, m.to, nodes, machine).acknowledgement_seconds;
            else if (waits(m, machine)) x.sent[next.from] = std::max(x.sent[next.from], there);
            issue(next.from, next.message + 1);
        }
    }
    return x;
}

// When the ghosts of a tile are there. What is forwarded by other ranks counts as there with the last message.
double ready(const RimTile& tile, std::span<const Arrival> arrivals, double all) {
    double at = 0;
    for (const int source : tile.sources) {
        double of_source = -1;
        for (const Arrival& a : arrivals)
            if (a.from == source) of_source = std::max(of_source, a.at);
        if (of_source < 0) return all;
        at = std::max(at, of_source);
    }
    return at;
}

double end_of_rim(double at, const std::vector<RimTile>& rim, std::span<const Arrival> arrivals, double all) {
    std::vector<std::pair<double, double>> tiles;  // ready, seconds
    for (const RimTile& tile : rim) tiles.emplace_back(ready(tile, arrivals, all), tile.seconds);
    std::sort(tiles.begin(), tiles.end());
    for (const auto& [there, seconds] : tiles) at = std::max(at, there) + seconds;
    return at;
}

// The ranks of a reduction, each with the time that it has come to.
struct Reduction {
    std::vector<double> at;
    const comm::NodeMap& nodes;
    const Machine& machine;

    // A blocking message.
    void hand(int from, int to) {
        const double issued = at[from] + (machine.simulated ? 0 : machine.message_seconds),
                     starts = machine.simulated ? std::max(issued, at[to]) : issued,
                     there = starts + latency(from, to, nodes, machine);
        at[to] = std::max(at[to], there);
        at[from] = machine.simulated ? there : issued;
    }
    // Both send to each other, and go on when the other one's number is there.
    void meet(int a, int b) {
        const double first = at[a] + machine.message_seconds, second = at[b] + machine.message_seconds,
                     both = std::max(first, second), late = latency(a, b, nodes, machine);
        at[a] = std::max(first, (machine.simulated ? both : second) + late);
        at[b] = std::max(second, (machine.simulated ? both : first) + late);
    }
    void double_up(std::span<const int> ranks) {
        const int size = static_cast<int>(ranks.size());
        int together = 1;
        while (2 * together <= size) together *= 2;
        const int more = size - together;
        const auto rank_of = [&](int member) { return ranks[member < more ? 2 * member + 1 : member + more]; };
        for (int k = 0; k < more; ++k) hand(ranks[2 * k], ranks[2 * k + 1]);
        for (int step = 1; step < together; step *= 2)
            for (int member = 0; member < together; ++member)
                if ((member ^ step) > member) meet(rank_of(member), rank_of(member ^ step));
        for (int k = 0; k < more; ++k) hand(ranks[2 * k + 1], ranks[2 * k]);
    }
    // From the first one along a binomial tree.
    void spread(std::span<const int> ranks) {
        const int size = static_cast<int>(ranks.size());
        int step = 1;
        while (step < size) step *= 2;
        for (; step >= 1; step /= 2)
            for (int k = 0; k + step < size; k += 2 * step) hand(ranks[k], ranks[k + step]);
    }
};

}  // namespace

double RankStep::seconds() const {
    double all = inner_seconds;
    for (const RimTile& tile : rim) all += tile.seconds;
    return all;
}

std::vector<double> step_ends(std::span<const RankStep> ranks, std::span<const double> begins,
                              const comm::NodeMap& nodes, const Machine& machine, comm::Overlap overlap) {
    const Exchanged x = exchange(ranks, begins, nodes, machine, overlap);
    std::vector<double> ends;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const double all = std::max(x.issued[r], x.last[r]);
        if (overlap != comm::Overlap::full) ends.push_back(std::max(all, x.sent[r]) + ranks[r].seconds());
        else
            ends.push_back(std::max(
                x.sent[r], end_of_rim(x.issued[r] + ranks[r].inner_seconds, ranks[r].rim, x.arrivals[r], all)));
    }
    return ends;
}

std::vector<double> reduction_ends(std::span<const double> begins, const comm::NodeMap& nodes, const Machine& machine) {
    Reduction reduction{{begins.begin(), begins.end()}, nodes, machine};
    const ByNode by_node(nodes);
    std::vector<int> first;
    for (int node = 0; node < by_node.nodes(); ++node) {
        const std::span<const int> ranks = by_node.of(node);
        reduction.double_up(ranks);
        if (!ranks.empty()) first.push_back(ranks.front());
    }
    reduction.double_up(first);
    if (first.size() > 1 || machine.simulated)  // SimGrid's also does so on one node
        for (int node = 0; node < by_node.nodes(); ++node) reduction.spread(by_node.of(node));
    return reduction.at;
}

namespace {

// Of a round in which every other of the ranks that take part hands bytes to the one `step` further: the slowest pair.
double slowest_way(int step, const comm::NodeMap& nodes, const Machine& machine, double bytes) {
    double slowest = 0;
    for (int r = 0; r + step < nodes.ranks(); r += 2 * step)
        slowest = std::max(
            slowest, latency(r, r + step, nodes, machine) + bytes / link(r, r + step, nodes, machine).bytes_per_second);
    return slowest;
}

}  // namespace

double broadcast_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes) {
    double seconds = 0;
    for (int step = 1; step < nodes.ranks(); step *= 2)
        seconds += slowest_way(step, nodes, machine, bytes) + core_seconds({0, bytes}, machine);
    return seconds;
}

double gather_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes) {
    double seconds = 0;
    for (int step = 1; step < nodes.ranks(); step *= 2) {
        const double handed = bytes * step / nodes.ranks();
        seconds += slowest_way(step, nodes, machine, 0) + slowest_way(step, nodes, machine, handed) +
                   core_seconds({0, 0}, machine) + core_seconds({0, handed}, machine);
    }
    return seconds;
}

}  // namespace predict
