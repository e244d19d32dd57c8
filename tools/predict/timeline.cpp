// SPDX-License-Identifier: MIT
#include "tools/predict/timeline.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace predict {
namespace {

double core_seconds(double bytes, const Machine& machine) {
    const bool copied = bytes < static_cast<double>(machine.eager_bytes);
    return machine.message_seconds + (copied ? bytes / machine.copy_bytes_per_second : 0);
}

bool waits(double bytes, const Machine& machine) {
    return machine.simulated || bytes >= static_cast<double>(machine.eager_bytes);
}

const Link& link(int from, int to, const comm::NodeMap& nodes, const Machine& machine) {
    return nodes.of(from) == nodes.of(to) ? machine.inside : machine.between;
}

// In a fat tree the latency is that of the longest way, over 4 links; between nodes of a switch there are 2. distance:
// comm::NodeMap's, between two nodes.
double latency(int distance, const Machine& machine) {
    if (distance == 0) return machine.inside.latency_seconds;
    const double ways = machine.nodes_per_switch > 0 ? distance / 4.0 : 1;
    return machine.between.latency_seconds * ways;
}

double latency(int from, int to, const comm::NodeMap& nodes, const Machine& machine) {
    return latency(nodes.distance(nodes.of(from), nodes.of(to)), machine);
}

}  // namespace

Timeline::ByNode::ByNode(const comm::NodeMap& nodes) : ranks(nodes.ranks()), first(nodes.nodes() + 1, 0) {
    for (int r = 0; r < nodes.ranks(); ++r) ++first[nodes.of(r) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<int> next(first.begin(), first.end() - 1);
    for (int r = 0; r < nodes.ranks(); ++r) ranks[next[nodes.of(r)]++] = r;
}

Timeline::Timeline(std::span<const RankStep> ranks, const comm::NodeMap& nodes) : by_node_(nodes) {
    std::vector<std::size_t> incoming(ranks.size() + 1, 0);  // messages to the ranks below
    for (const RankStep& r : ranks) {
        first_message_.push_back(messages_.size());
        for (const Message& m : r.sends) {
            const int from = static_cast<int>(&r - ranks.data());
            messages_.push_back({m.to, nodes.distance(nodes.of(from), nodes.of(m.to)), m.bytes});
            ++incoming[m.to + 1];
        }
    }
    first_message_.push_back(messages_.size());
    std::partial_sum(incoming.begin(), incoming.end(), incoming.begin());
    struct Arrival {
        int from;
        std::size_t message;
    };
    std::vector<Arrival> arrivals(messages_.size());  // at each rank, in the order of their sources
    std::vector<std::size_t> next(incoming.begin(), incoming.end() - 1);
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (std::size_t k = first_message_[r]; k < first_message_[r + 1]; ++k)
            arrivals[next[messages_[k].to]++] = {static_cast<int>(r), k};

    for (std::size_t r = 0; r < ranks.size(); ++r) {
        seconds_.push_back(ranks[r].seconds());
        inner_seconds_.push_back(ranks[r].inner_seconds);
        first_tile_.push_back(rim_.size());
        const std::span<const Arrival> here(arrivals.data() + incoming[r], incoming[r + 1] - incoming[r]);
        for (const RimTile& tile : ranks[r].rim) {
            rim_.push_back({tile.seconds, awaited_.size(), false});
            for (const int source : tile.sources) {
                auto a = std::ranges::lower_bound(here, source, std::less<>(), &Arrival::from);
                if (a == here.end() || a->from != source) rim_.back().awaits_all = true;
                for (; a != here.end() && a->from == source; ++a) awaited_.push_back(a->message);
            }
        }
    }
    first_tile_.push_back(rim_.size());
    rim_.push_back({0, awaited_.size(), false});  // ends the last one
}

namespace {

// The next message of a rank.
struct Next {
    double starts;
    int from;
    std::size_t message;
    bool operator>(const Next& other) const { return std::tie(starts, from) > std::tie(other.starts, other.from); }
};

}  // namespace

// Messages disturb each other on their node's way out and nowhere else, so one node is followed after the other.
Timeline::Exchanged Timeline::exchange(std::span<const double> begins, const Machine& machine,
                                       comm::Overlap overlap) const {
    const bool one_by_one = overlap == comm::Overlap::none, listed = overlap == comm::Overlap::full;
    Exchanged x{{begins.begin(), begins.end()}, {begins.begin(), begins.end()}, std::vector<double>(begins.size()), {}};
    if (listed) x.arrived.resize(messages_.size());
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;  // of a node: the first one that starts
    const auto issue = [&](int r, std::size_t k) {
        if (k == first_message_[r + 1]) return;
        const Sent& m = messages_[k];
        x.issued[r] += core_seconds(m.bytes, machine);
        const bool meet = one_by_one || waits(m.bytes, machine);
        queue.push({meet ? std::max(x.issued[r], begins[m.to]) : x.issued[r], r, k});
    };
    for (int node = 0; node < by_node_.nodes(); ++node) {
        for (const int r : by_node_.of(node)) issue(r, first_message_[r]);
        double link_free = 0;  // to other nodes
        while (!queue.empty()) {
            const Next next = queue.top();
            queue.pop();
            const Sent& m = messages_[next.message];
            double there = next.starts + m.bytes / machine.inside.bytes_per_second;
            if (m.distance > 0)
                there = link_free = std::max(link_free, next.starts) + m.bytes / machine.between.bytes_per_second;
            there += latency(m.distance, machine);
            x.last[m.to] = std::max(x.last[m.to], there);
            if (listed) x.arrived[next.message] = there;
            if (one_by_one)
                x.issued[next.from] =
                    there + (m.distance > 0 ? machine.between : machine.inside).acknowledgement_seconds;
            else if (waits(m.bytes, machine)) x.sent[next.from] = std::max(x.sent[next.from], there);
            issue(next.from, next.message + 1);
        }
    }
    return x;
}

std::vector<double> Timeline::step_ends(std::span<const double> begins, const Machine& machine,
                                        comm::Overlap overlap) const {
    const Exchanged x = exchange(begins, machine, overlap);
    std::vector<double> ends(begins.size());
    std::vector<std::pair<double, double>> rim;  // of a rank: when a tile is ready, and its seconds
    for (std::size_t r = 0; r < begins.size(); ++r) {
        const double all = std::max(x.issued[r], x.last[r]);
        if (overlap != comm::Overlap::full) {
            ends[r] = std::max(all, x.sent[r]) + seconds_[r];
            continue;
        }
        rim.clear();
        for (std::size_t t = first_tile_[r]; t < first_tile_[r + 1]; ++t) {
            double ready = rim_[t].awaits_all ? all : 0;
            for (std::size_t a = rim_[t].first_awaited; !rim_[t].awaits_all && a < rim_[t + 1].first_awaited; ++a)
                ready = std::max(ready, x.arrived[awaited_[a]]);
            rim.emplace_back(ready, rim_[t].seconds);
        }
        std::ranges::sort(rim);
        double at = x.issued[r] + inner_seconds_[r];
        for (const auto& [ready, seconds] : rim) at = std::max(at, ready) + seconds;
        ends[r] = std::max(x.sent[r], at);
    }
    return ends;
}

namespace {

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

std::vector<double> reduction_ends(std::span<const double> begins, const comm::NodeMap& nodes, const Machine& machine) {
    Reduction reduction{{begins.begin(), begins.end()}, nodes, machine};
    const Timeline::ByNode by_node(nodes);
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

// The slowest pair of a round. In the round every other rank hands bytes to the rank `step` further.
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
        seconds += slowest_way(step, nodes, machine, bytes) + core_seconds(bytes, machine);
    return seconds;
}

double gather_seconds(const comm::NodeMap& nodes, const Machine& machine, double bytes) {
    double seconds = 0;
    for (int step = 1; step < nodes.ranks(); step *= 2) {
        const double handed = bytes * step / nodes.ranks();
        seconds += slowest_way(step, nodes, machine, 0) + slowest_way(step, nodes, machine, handed) +
                   core_seconds(0, machine) + core_seconds(handed, machine);
    }
    return seconds;
}

}  // namespace predict
