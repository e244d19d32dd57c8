// SPDX-License-Identifier: MIT
// Delivery of lists between members that do not know all others. The receiver of a list may not know its length, or
// that it comes at all. Lists hop from member to member. Each round doubles the length of a hop. So every member sends
// logarithmically many messages, for any senders, receivers and lengths.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "balance/team.hpp"

namespace balance {

/// A list for another member, or from one.
template <class T>
struct Parcel {
    int member;
    std::vector<T> list;
};

/// Like deliver(), with bytes.
std::vector<Parcel<std::byte>> deliver_bytes(const Team& team, std::vector<Parcel<std::byte>> parcels);

/// Takes parcels to other members, at most one to each. No parcel is empty, and the receivers know their senders.
/// senders: the members from which this one gets a parcel. Returns these parcels, in the order of senders. Collective.
std::vector<Parcel<std::byte>> exchange_parcels(const Team& team, std::span<const Parcel<std::byte>> parcels,
                                                std::span<const int> senders);

/// Takes parcels to their members, which may be the sender itself. Returns those for this member, with their senders in
/// ascending order; several of one sender in the order in which it gave them. Empty lists arrive, too. Collective.
template <class T>
std::vector<Parcel<T>> deliver(const Team& team, const std::vector<Parcel<T>>& parcels) {
    std::vector<Parcel<std::byte>> sent;
    sent.reserve(parcels.size());
    for (const Parcel<T>& p : parcels) {
        const auto bytes = std::as_bytes(std::span(p.list));
        sent.push_back({p.member, {bytes.begin(), bytes.end()}});
    }
    std::vector<Parcel<T>> arrived;
    for (const Parcel<std::byte>& p : deliver_bytes(team, std::move(sent)))
        arrived.push_back({p.member, elements_in<T>(p.list)});
    return arrived;
}

/// Sends each of some things to member_of(it). Returns the things for this member, ordered by sender; the things of one
/// sender keep their order. member_of is called once for each thing, in order. A team of one sends nothing and does not
/// call member_of. Collective.
template <class T, class MemberOf>
std::vector<T> deliver_each(const Team& team, std::vector<T> things, MemberOf member_of) {
    if (team.size() == 1) return things;
    std::map<int, std::vector<T>> lists;
    for (const T& thing : things) lists[member_of(thing)].push_back(thing);
    std::vector<Parcel<T>> parcels;
    for (auto& [member, list] : lists) parcels.push_back({member, std::move(list)});
    things.clear();
    for (const Parcel<T>& p : deliver(team, parcels)) things.insert(things.end(), p.list.begin(), p.list.end());
    return things;
}

/// The sums of each value over the members before this one. Collective.
std::vector<std::int64_t> sums_before(const Team& team, std::span<const std::int64_t> values);

}  // namespace balance
