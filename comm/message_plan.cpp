// SPDX-License-Identifier: MIT
// The parts that go straight to a rank share a route, and so do those that go to all ranks of a node through its
// aggregator. A route is cut into messages of consecutive bytes, so nothing is copied to be merged: the parts are
// packed where their message wants them.
#include "comm/message_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "comm/tags.hpp"

namespace comm {
namespace {

using balance::Part;

// The parts that go the same way, in the order in which they lie in a buffer.
struct Route {
    std::vector<std::size_t> parts, sizes;  // indices in a list of parts, bytes
    std::size_t at = 0;                     // of the first one
    void add(std::size_t part, std::size_t bytes) {
        parts.push_back(part);
        sizes.push_back(bytes);
    }
    std::size_t bytes() const { return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}); }
};

// The parts of a route that lie, wholly or partly, in its bytes [begin, end).
std::vector<std::size_t> parts_between(const Route& route, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> parts;
    std::size_t at = 0;
    for (std::size_t i = 0; i < route.parts.size() && at < end; at += route.sizes[i++])
        if (at + route.sizes[i] > begin) parts.push_back(route.parts[i]);
    return parts;
}

// Puts routes one behind the other, from `next` on.
template <class Routes>
void place(Routes& routes, std::size_t& next, std::vector<std::size_t>& places) {
    for (auto& [key, route] : routes) {
        route.at = next;
        for (std::size_t i = 0; i < route.parts.size(); next += route.sizes[i++]) places[route.parts[i]] = next;
    }
}

// Calls use(begin, end) for each message of a route.
template <class Use>
void for_each_message(const std::vector<std::size_t>& ends, Use use) {
    std::size_t begin = 0;
    for (const std::size_t end : ends) use(std::exchange(begin, end), end);
}

struct Planner {
    const int rank;
    const NodeMap& nodes;
    const Schedule& schedule;
    const NodeTraffic& traffic;
    MessagePlan plan{};

    // Ends of the messages from a rank of one node to the aggregator of another.
    std::vector<std::size_t> aggregated_ends(std::span<const std::size_t> sizes, int from, int to) const {
        const double growth =
            aggregation_growth(static_cast<int>(traffic.targets[from]), static_cast<int>(traffic.sources[to]));
        return aggregated_message_ends(sizes, growth, schedule.piece);
    }

    void add_sends(std::span<const Part> parts) {
        std::map<int, Route> direct, aggregated;  // by rank, by node
        std::map<int, std::vector<Part>> of_node;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto [to, bytes] = parts[i];
            if (!is_forwarded(bytes, rank, to, nodes, schedule)) {
                direct[to].add(i, bytes);
                continue;
            }
            aggregated[nodes.of(to)].add(i, bytes);
            of_node[nodes.of(to)].push_back(parts[i]);
        }
        std::size_t next = 0;
        plan.places.sent.resize(parts.size());
        place(direct, next, plan.places.sent);
        place(aggregated, next, plan.places.sent);

        struct Sent {
            const Route* route;
            int tag;
            std::vector<std::size_t> ends;
        };
        std::vector<Outgoing> outgoing;
        std::vector<Sent> routes;
        for (const auto& [to, route] : direct) {
            outgoing.push_back({to, route.bytes()});
            routes.push_back({&route, direct_tag, message_ends(route.sizes, schedule)});
        }
        for (const auto& [node, route] : aggregated) {
            outgoing.push_back({aggregator_of(of_node[node]), route.bytes()});
            routes.push_back({&route, aggregated_tag, aggregated_ends(route.sizes, nodes.of(rank), node)});
        }
        for (const std::size_t i : issue_order(rank, outgoing, nodes, schedule.order))
            for_each_message(routes[i].ends, [&](std::size_t begin, std::size_t end) {
                plan.sends.push_back({outgoing[i].to, routes[i].tag, routes[i].route->at + begin, end - begin});
            });
    }

    void add_receives(std::span<const Part> parts) {
        std::map<int, Route> direct, forwarded;  // by source
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto [from, bytes] = parts[i];
            (is_forwarded(bytes, from, rank, nodes, schedule) ? forwarded : direct)[from].add(i, bytes);
        }
        std::size_t next = 0;
        plan.places.received.resize(parts.size());
        plan.messages.assign(parts.size(), 0);
        place(direct, next, plan.places.received);
        place(forwarded, next, plan.places.received);
        for (const auto& [from, route] : direct)
            for_each_message(message_ends(route.sizes, schedule),
                             [&, from = from, &route = route](auto begin, auto end) {
                                 const std::vector<std::size_t> inside = parts_between(route, begin, end);
                                 add({from, direct_tag, route.at + begin, end - begin, inside, {}});
                             });
        add_aggregated(forwarded);
    }

    void add(MessagePlan::Receive receive) {
        for (const std::size_t p : receive.parts) ++plan.messages[p];
        plan.receives.push_back(std::move(receive));
    }

    // All routes to this node, whichever of its ranks is the aggregator: tags of what is forwarded are numbered alike
    // on all of them.
    void add_aggregated(const std::map<int, Route>& mine) {
        std::map<std::pair<int, int>, int> forwarded;  // messages so far, by aggregator and target
        for (auto begin = traffic.parts.begin(); begin != traffic.parts.end();) {
            const int source = begin->source;
            const auto end =
                std::find_if(begin, traffic.parts.end(), [&](const ForwardedPart& p) { return p.source != source; });
            add_aggregated_from(source, {begin, end}, mine, forwarded);
            begin = end;
        }
    }

    void add_aggregated_from(int source, std::span<const ForwardedPart> parts, const std::map<int, Route>& mine,
                             std::map<std::pair<int, int>, int>& forwarded) {
        std::vector<std::size_t> sizes;
        std::vector<Part> of_targets;
        for (const ForwardedPart& p : parts) {
            sizes.push_back(p.bytes);
            of_targets.push_back({p.target, p.bytes});
        }
        const int aggregator = aggregator_of(of_targets);
        std::size_t i = 0, at = plan.forwarding_bytes, got = 0;  // got: bytes of this rank's route so far
        const auto receive = [&](std::size_t begin, std::size_t end) {
            MessagePlan::Receive message{source, aggregated_tag, at, end - begin, {}, {}};
            for (std::size_t done = begin; done < end;) {
                const int target = parts[i].target;
                std::size_t bytes = 0;
                for (; done + bytes < end && parts[i].target == target; ++i) bytes += parts[i].bytes;
                const int tag = first_forwarded_tag + forwarded[{aggregator, target}]++ % forwarded_tags;
                MessagePlan::Forward forward{target, tag, at + done - begin, bytes, 0, {}};
                done += bytes;
                if (target == rank) {
                    const Route& route = mine.at(source);
                    forward.place = route.at + got;
                    forward.parts = parts_between(route, got, got + bytes);
                    got += bytes;
                    if (aggregator != rank) add({aggregator, tag, forward.place, bytes, forward.parts, {}});
                    else
                        for (const std::size_t p : forward.parts) ++plan.messages[p];
                }
                message.forwards.push_back(std::move(forward));
            }
            if (aggregator != rank) return;
            at += message.bytes;
            add(std::move(message));
        };
        for_each_message(aggregated_ends(sizes, nodes.of(source), nodes.of(rank)), receive);
        plan.forwarding_bytes = at;
    }
};

}  // namespace

MessagePlan plan_messages(int rank, std::span<const Part> sent, std::span<const Part> received, const NodeMap& nodes,
                          const Schedule& schedule, const NodeTraffic& traffic) {
    Planner planner{rank, nodes, schedule, traffic};
    planner.add_sends(sent);
    planner.add_receives(received);
    return std::move(planner.plan);
}

}  // namespace comm
