// SPDX-License-Identifier: MIT
// These functions see sizes and nodes only. So both sides of a message compute the same messages without asking each
// other, and so do predictions of runs on other machines.
#include "comm/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace comm {
namespace {

// Ends of pieces of at most `piece` bytes, up to `end`, which is the last one.
void cut_into_pieces(std::size_t begin, std::size_t end, std::size_t piece, std::vector<std::size_t>& ends) {
    for (; end - begin > piece; begin += piece) ends.push_back(begin + piece);
    if (end > begin) ends.push_back(end);
}

// A part of this size is a message of its own, because copying it costs more than a message (docs/messages.md).
constexpr std::size_t large_part = 65536;

// Bytes of the messages of parts that are not large (Aggregate::automatic). All parts go in messages of at most
// `threshold` bytes, unless that makes more messages than there are parts. In that case only parts below it are merged.
std::vector<std::size_t> messages_of(std::span<const std::size_t> parts, std::size_t threshold) {
    std::vector<std::size_t> messages;
    const std::size_t all = std::accumulate(parts.begin(), parts.end(), std::size_t{0});
    if (all <= threshold * parts.size()) {
        for (std::size_t left = all; left > 0; left -= messages.back()) messages.push_back(std::min(left, threshold));
        return messages;
    }
    bool open = false;  // whether the last message may become longer
    for (const std::size_t bytes : parts) {
        const bool small = bytes < threshold;
        if (small && open && messages.back() + bytes <= threshold) messages.back() += bytes;
        else messages.push_back(bytes);
        open = small;
    }
    return messages;
}

}  // namespace

int NodeMap::nodes() const { return node_.empty() ? 0 : 1 + *std::max_element(node_.begin(), node_.end()); }

std::vector<std::size_t> message_ends(std::span<const std::size_t> sizes, const Schedule& schedule) {
    std::vector<std::size_t> ends;
    std::size_t next = 0;  // the first byte that is in no message yet
    const auto add = [&](std::size_t bytes) {
        cut_into_pieces(next, next + bytes, schedule.piece, ends);
        next += bytes;
    };
    if (schedule.aggregate == Aggregate::none) {
        for (const std::size_t bytes : sizes) add(bytes);
    } else if (schedule.aggregate != Aggregate::automatic || schedule.piece <= schedule.threshold) {
        add(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    } else {
        const std::size_t large = std::max(large_part, schedule.threshold);
        while (!sizes.empty()) {
            const auto end = std::find_if(sizes.begin(), sizes.end(), [&](std::size_t n) { return n >= large; });
            const auto count = static_cast<std::size_t>(end - sizes.begin());
            for (const std::size_t bytes : messages_of(sizes.first(count), schedule.threshold)) add(bytes);
            if (end != sizes.end()) add(*end);
            sizes = sizes.subspan(std::min(count + 1, sizes.size()));
        }
    }
    return ends;
}

std::vector<std::size_t> aggregated_message_ends(std::span<const std::size_t> sizes, double growth, std::size_t piece) {
    std::vector<std::size_t> ends;
    std::size_t begin = 0, end = 0, parts = 0;  // of the message that is being filled
    double most_parts = 1;
    for (const std::size_t bytes : sizes) {
        if (parts > 0 && (static_cast<double>(parts) >= most_parts || end + bytes - begin > piece)) {
            ends.push_back(end);
            begin = end;
            parts = 0;
            most_parts = std::ceil(most_parts * growth);
        }
        end += bytes;
        ++parts;
    }
    if (parts > 0) ends.push_back(end);
    return ends;
}

double aggregation_growth(int targets_of_source, int sources_of_target) {
    return 1.5 + std::log2(std::max({1, targets_of_source, sources_of_target}));
}

int aggregator_of(std::span<const balance::Part> parts) {
    std::vector<balance::Part> sums;
    for (const balance::Part& p : parts) {
        const auto of_rank =
            std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.member == p.member; });
        if (of_rank == sums.end()) sums.push_back(p);
        else of_rank->bytes += p.bytes;
    }
    return std::min_element(sums.begin(), sums.end(),
                            [](const auto& a, const auto& b) {
                                return std::tuple(b.bytes, a.member) < std::tuple(a.bytes, b.member);
                            })
        ->member;
}

Turn turn_plain(int, const Outgoing&, const NodeMap&) { return {}; }

Turn turn_near_first(int source, const Outgoing& outgoing, const NodeMap& nodes) {
    const int node = nodes.of(outgoing.to), distance = nodes.distance(nodes.of(source), node);
    const std::int64_t turn = distance == 0 ? std::numeric_limits<std::int64_t>::max() : distance;
    return {turn, node, -static_cast<std::int64_t>(outgoing.bytes)};
}

Turn turn_far_first(int source, const Outgoing& outgoing, const NodeMap& nodes) {
    Turn turn = turn_near_first(source, outgoing, nodes);
    if (turn[0] != std::numeric_limits<std::int64_t>::max()) turn[0] = -turn[0];
    return turn;
}

std::vector<std::size_t> issue_order(int source, std::span<const Outgoing> outgoing, const NodeMap& nodes,
                                     MessageOrder order) {
#define STEELYARD_ORDER(name) turn_##name,
    constexpr std::array turn_of{STEELYARD_ORDERS(STEELYARD_ORDER)};
#undef STEELYARD_ORDER
    std::vector<std::size_t> indices(outgoing.size());
    std::iota(indices.begin(), indices.end(), 0);
    const auto key = [&](std::size_t i) {
        const Turn turn = turn_of[static_cast<std::size_t>(order)](source, outgoing[i], nodes);
        return std::tuple(turn, outgoing[i].to, i);
    };
    std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return indices;
}

}  // namespace comm
