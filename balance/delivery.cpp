// SPDX-License-Identifier: MIT
// A parcel to the member d places further on makes the hops whose lengths are the binary digits of d, the shortest
// first (Bruck et al., IEEE TPDS 8(11), 1997).
#include "balance/delivery.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "balance/transfer.hpp"

namespace balance {
namespace {

// A parcel on its way.
struct Head {
    std::int32_t sender, distance;  // distance: places from the sender to the receiver
    std::int64_t bytes;
};
struct Travelling {
    Head head;
    std::vector<std::byte> bytes;
};

std::vector<std::byte> packed(const std::vector<Travelling>& parcels) {
    std::size_t bytes = 0;
    for (const Travelling& p : parcels) bytes += sizeof(Head) + p.bytes.size();
    std::vector<std::byte> all;
    all.reserve(bytes);
    for (const Travelling& p : parcels) {
        append(all, p.head);
        all.insert(all.end(), p.bytes.begin(), p.bytes.end());
    }
    return all;
}

void unpack(std::span<const std::byte> all, std::vector<Travelling>& parcels) {
    while (!all.empty()) {
        Head head;
        std::memcpy(&head, all.data(), sizeof head);
        const auto bytes = all.subspan(sizeof head, static_cast<std::size_t>(head.bytes));
        parcels.push_back({head, {bytes.begin(), bytes.end()}});
        all = all.subspan(sizeof head + bytes.size());
    }
}

}  // namespace

std::vector<Parcel<std::byte>> deliver_bytes(const Team& team, std::vector<Parcel<std::byte>> parcels) {
    const int rank = team.rank(), size = team.size();
    std::vector<Travelling> here;
    here.reserve(parcels.size());
    for (Parcel<std::byte>& p : parcels) {
        const auto bytes = std::ssize(p.list);
        here.push_back({{rank, (p.member - rank + size) % size, bytes}, std::move(p.list)});
    }
    for (int hop = 1; hop < size; hop *= 2) {
        const auto stays = [hop](const Travelling& p) { return (p.head.distance & hop) == 0; };
        const auto first = std::stable_partition(here.begin(), here.end(), stays);
        const std::vector<Travelling> leave(std::make_move_iterator(first), std::make_move_iterator(here.end()));
        here.erase(first, here.end());
        unpack(team.pass_on(hop, packed(leave)), here);
    }
    std::ranges::stable_sort(here, {}, [](const Travelling& p) { return p.head.sender; });
    std::vector<Parcel<std::byte>> arrived;
    arrived.reserve(here.size());
    for (Travelling& p : here) arrived.push_back({p.head.sender, std::move(p.bytes)});
    return arrived;
}

std::vector<Parcel<std::byte>> exchange_parcels(const Team& team, std::span<const Parcel<std::byte>> parcels,
                                                std::span<const int> senders) {
    std::vector<PeerMoves<std::size_t>> links;  // of places in `parcels` and in `senders`
    for (std::size_t i = 0; i < parcels.size(); ++i) links.push_back({parcels[i].member, {i}, {}});
    for (std::size_t i = 0; i < senders.size(); ++i) links.push_back({senders[i], {}, {i}});
    const std::span<const PeerMoves<std::size_t>> all(links);
    const auto size_of = [&](std::size_t i) { return parcels[i].list.size(); };
    const auto one = [](std::size_t) { return std::size_t{1}; };
    std::vector<std::size_t> room(senders.size());
    Transfer<std::size_t, std::size_t> sizes(team.channel());
    sizes.lay_out(all, one, one);
    sizes.start(SerialLoop{}, [&](std::size_t i, std::size_t* to) { *to = size_of(i); });
    sizes.finish(SerialLoop{}, [&](std::size_t i, const std::size_t* from) { room[i] = *from; });
    std::vector<Parcel<std::byte>> arrived(senders.size());
    Transfer<std::size_t, std::byte> bytes(team.channel());
    bytes.lay_out(all, size_of, [&](std::size_t i) { return room[i]; });
    bytes.start(SerialLoop{}, [&](std::size_t i, std::byte* to) { std::ranges::copy(parcels[i].list, to); });
    bytes.finish(SerialLoop{}, [&](std::size_t i, const std::byte* from) {
        arrived[i] = {senders[i], {from, from + room[i]}};
    });
    return arrived;
}

std::vector<std::int64_t> sums_before(const Team& team, std::span<const std::int64_t> values) {
    std::vector<std::int64_t> sums(values.begin(), values.end());  // of this member and those before it
    for (int hop = 1; hop < team.size(); hop *= 2) {
        const auto more = elements_in<std::int64_t>(team.pass_on(hop, std::as_bytes(std::span(sums))));
        for (std::size_t i = 0; team.rank() >= hop && i < sums.size(); ++i) sums[i] += more[i];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= values[i];
    return sums;
}

}  // namespace balance
