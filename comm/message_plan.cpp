// SPDX-License-Identifier: MIT
// Parts that go straight to their rank form a line for each rank; those that go by way of another rank form a stream
// for each node. Lines and streams are cut into messages of consecutive bytes, so nothing is copied to be merged: the
// parts are packed where their message wants them.
#include "comm/message_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace comm {
namespace {

using balance::Part;

constexpr int direct_tag = 1, stream_tag = 7, first_hand_on_tag = 8;
constexpr int hand_on_tags = 30000;  // MPI promises tags up to 32767

// Parts in the order in which they lie in a buffer.
struct Line {
    std::vector<std::size_t> parts, sizes;  // indices in a list of parts, bytes
    std::size_t at = 0;                     // of the first one
    void add(std::size_t part, std::size_t bytes) {
        parts.push_back(part);
        sizes.push_back(bytes);
    }
    std::size_t bytes() const { return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}); }
};

// The parts of a line that lie, wholly or partly, in its bytes [begin, end).
std::vector<std::size_t> parts_between(const Line& line, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> parts;
    std::size_t at = 0;
    for (std::size_t i = 0; i < line.parts.size() && at < end; at += line.sizes[i++])
        if (at + line.sizes[i] > begin) parts.push_back(line.parts[i]);
    return parts;
}

// Puts lines one behind the other, from `next` on.
template <class Lines>
void place(Lines& lines, std::size_t& next, std::vector<std::size_t>& places) {
    for (auto& [key, line] : lines) {
        line.at = next;
        for (std::size_t i = 0; i < line.parts.size(); next += line.sizes[i++]) places[line.parts[i]] = next;
    }
}

// Calls use(begin, end) for each message of a line.
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

    double growth(int from, int to) const {
        return window_growth(static_cast<int>(traffic.targets[from]), static_cast<int>(traffic.sources[to]));
    }

    void add_sends(std::span<const Part> parts) {
        std::map<int, Line> direct, streams;  // by rank, by node
        std::map<int, std::vector<Part>> of_node;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto [to, bytes] = parts[i];
            if (!by_way(bytes, rank, to, nodes, schedule)) {
                direct[to].add(i, bytes);
                continue;
            }
            streams[nodes.of(to)].add(i, bytes);
            of_node[nodes.of(to)].push_back(parts[i]);
        }
        std::size_t next = 0;
        plan.places.sent.resize(parts.size());
        place(direct, next, plan.places.sent);
        place(streams, next, plan.places.sent);

        struct Sent {
            const Line* line;
            int tag;
            std::vector<std::size_t> ends;
        };
        std::vector<Letter> letters;
        std::vector<Sent> lines;
        for (const auto& [to, line] : direct) {
            letters.push_back({to, line.bytes()});
            lines.push_back({&line, direct_tag, message_ends(line.sizes, schedule)});
        }
        for (const auto& [node, line] : streams) {
            letters.push_back({receiver_of(of_node[node]), line.bytes()});
            lines.push_back({&line, stream_tag, window_ends(line.sizes, growth(nodes.of(rank), node))});
        }
        for (const std::size_t i : issue_order(rank, letters, nodes, schedule.order))
            for_each_message(lines[i].ends, [&](std::size_t begin, std::size_t end) {
                plan.sends.push_back({letters[i].to, lines[i].tag, lines[i].line->at + begin, end - begin});
            });
    }

    void add_receives(std::span<const Part> parts) {
        std::map<int, Line> direct, by_way_of;  // by source
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto [from, bytes] = parts[i];
            (by_way(bytes, from, rank, nodes, schedule) ? by_way_of : direct)[from].add(i, bytes);
        }
        std::size_t next = 0;
        plan.places.received.resize(parts.size());
        plan.messages.assign(parts.size(), 0);
        place(direct, next, plan.places.received);
        place(by_way_of, next, plan.places.received);
        for (const auto& [from, line] : direct)
            for_each_message(message_ends(line.sizes, schedule), [&, from = from, &line = line](auto begin, auto end) {
                add({from, direct_tag, line.at + begin, end - begin, parts_between(line, begin, end), {}});
            });
        add_streams(by_way_of);
    }

    void add(MessagePlan::Receive receive) {
        for (const std::size_t p : receive.parts) ++plan.messages[p];
        plan.receives.push_back(std::move(receive));
    }

    // All streams to this node, whoever receives them: tags of what is handed on are numbered alike on all its ranks.
    void add_streams(const std::map<int, Line>& mine) {
        std::map<std::pair<int, int>, int> handed_on;  // so far, by receiver and target
        for (auto begin = traffic.passages.begin(); begin != traffic.passages.end();) {
            const int source = begin->source;
            const auto end =
                std::find_if(begin, traffic.passages.end(), [&](const Passage& p) { return p.source != source; });
            add_stream({begin, end}, mine, handed_on);
            begin = end;
        }
    }

    void add_stream(std::span<const Passage> stream, const std::map<int, Line>& mine,
                    std::map<std::pair<int, int>, int>& handed_on) {
        const int source = stream.front().source;
        std::vector<std::size_t> sizes;
        std::vector<Part> parts;
        for (const Passage& p : stream) {
            sizes.push_back(p.bytes);
            parts.push_back({p.target, p.bytes});
        }
        const int receiver = receiver_of(parts);
        std::size_t i = 0, at = plan.transit_bytes, got = 0;  // got: bytes of this rank's line so far
        for_each_message(window_ends(sizes, growth(nodes.of(source), nodes.of(rank))), [&](auto begin, auto end) {
            MessagePlan::Receive message{source, stream_tag, at, end - begin, {}, {}};
            for (std::size_t done = begin; done < end;) {
                const int target = stream[i].target;
                std::size_t bytes = 0;
                for (; done + bytes < end && stream[i].target == target; ++i) bytes += stream[i].bytes;
                const int tag = first_hand_on_tag + handed_on[{receiver, target}]++ % hand_on_tags;
                MessagePlan::HandOn part{target, tag, at + done - begin, bytes, 0, {}};
                done += bytes;
                if (target == rank) {
                    const Line& line = mine.at(source);
                    part.place = line.at + got;
                    part.parts = parts_between(line, got, got + bytes);
                    got += bytes;
                    if (receiver != rank) add({receiver, tag, part.place, bytes, part.parts, {}});
                    else
                        for (const std::size_t p : part.parts) ++plan.messages[p];
                }
                message.hand_on.push_back(std::move(part));
            }
            if (receiver != rank) return;
            at += message.bytes;
            add(std::move(message));
        });
        plan.transit_bytes = at;
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
