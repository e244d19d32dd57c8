// SPDX-License-Identifier: MIT
// Ranks of a node share its way to the others, so no byte may go that way twice.
#include "comm/team.hpp"

#include <cstring>

namespace comm {
namespace {

void add_sized(std::span<const std::byte> bytes, std::vector<std::byte>& all) {
    const auto size = std::ssize(bytes);
    const auto head = std::as_bytes(std::span(&size, 1));
    all.insert(all.end(), head.begin(), head.end());
    all.insert(all.end(), bytes.begin(), bytes.end());
}

// Takes what add_sized() has added from the front of `all`.
std::span<const std::byte> take_sized(std::span<const std::byte>& all) {
    std::int64_t size = 0;
    std::memcpy(&size, all.data(), sizeof size);
    const auto bytes = all.subspan(sizeof size, static_cast<std::size_t>(size));
    all = all.subspan(sizeof size + bytes.size());
    return bytes;
}

}  // namespace

// Number of equal blocks of ranks: the nodes, or 1 if nodes differ.
int Ranks::nodes() const {
    if (nodes_ > 0) return nodes_;
    std::array<std::int64_t, 2> extremes{comm_.node_size(), -comm_.node_size()};
    comm_.max(extremes);
    nodes_ = extremes[0] == -extremes[1] && size() % extremes[0] == 0 ? size() / static_cast<int>(extremes[0]) : 1;
    return nodes_;
}

std::vector<std::byte> Ranks::all_gather(std::span<const std::byte> mine) const {
    if (size() <= smallest_by_node || nodes() == 1 || nodes() == size()) return comm_.all_gather(mine);
    // Each rank of a node gets what the ranks at its place on all nodes give; then the ranks of a node exchange that.
    const Blocks& node = blocks(nodes());
    std::vector<std::byte> sized, at_my_place;
    add_sized(mine, sized);
    add_sized(node.across->all_gather(sized), at_my_place);
    const std::vector<std::byte> all = node.inside->all_gather(at_my_place);
    std::vector<std::span<const std::byte>> places;
    std::span<const std::byte> rest(all);
    for (int k = 0; k < node.inside->size(); ++k) places.push_back(take_sized(rest));
    std::vector<std::byte> in_order;
    in_order.reserve(all.size());
    for (int n = 0; n < nodes(); ++n)
        for (std::span<const std::byte>& place : places) {
            const auto bytes = take_sized(place);
            in_order.insert(in_order.end(), bytes.begin(), bytes.end());
        }
    return in_order;
}

}  // namespace comm
