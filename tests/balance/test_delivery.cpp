// SPDX-License-Identifier: MIT
// Lists that come to members who did not know of them.
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "balance/delivery.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

using Parcels = std::vector<Parcel<std::int64_t>>;

// What a member sends: to any members, perhaps itself, lists of any length, some of them empty.
Parcels sent_by(int member, int members, int seed) {
    std::mt19937 random(1000 * seed + member);
    Parcels parcels;
    for (int n = static_cast<int>(random() % 5) * static_cast<int>(random() % 4); n > 0; --n) {
        Parcel<std::int64_t> p{static_cast<int>(random() % members), {}};
        for (std::size_t k = random() % 4 * (random() % 300); k > 0; --k) p.list.push_back(random());
        parcels.push_back(std::move(p));
    }
    return parcels;
}

}  // namespace

TEST_CASE("every list arrives once, by sender and in its order") {
    for (const int members : {1, 2, 3, 4, 7, 16, 21})
        for (int seed = 0; seed < 5; ++seed) {
            const auto arrived = ThreadTeam::run(
                members, [&](const Team& team) { return deliver(team, sent_by(team.rank(), members, seed)); });
            for (int to = 0; to < members; ++to) {
                Parcels expected;
                for (int from = 0; from < members; ++from)
                    for (const auto& p : sent_by(from, members, seed))
                        if (p.member == to) expected.push_back({from, p.list});
                REQUIRE(arrived[to].size() == expected.size());
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    CHECK(arrived[to][i].member == expected[i].member);
                    CHECK(arrived[to][i].list == expected[i].list);
                }
            }
        }
}

TEST_CASE("parcels arrive whole at those who know that they come, but not their sizes") {
    // Each member sends to those 1, 4 and 9 places further on, if these are different ones.
    constexpr std::array places{1, 4, 9};
    for (const int members : {1, 2, 3, 7, 16}) {
        const auto list_of = [](int from, int to) {
            return std::vector<std::byte>((from * 331 + to * 97) % 5000, std::byte(from + 17 * to));
        };
        const auto good = ThreadTeam::run(members, [&](const Team& team) -> int {
            std::set<int> receivers, senders;
            for (const int p : places) {
                receivers.insert((team.rank() + p) % members);
                senders.insert((team.rank() - p % members + members) % members);
            }
            receivers.erase(team.rank()), senders.erase(team.rank());
            std::vector<Parcel<std::byte>> parcels;
            for (const int to : receivers) parcels.push_back({to, list_of(team.rank(), to)});
            const std::vector<int> from(senders.begin(), senders.end());
            const auto arrived = exchange_parcels(team, std::move(parcels), from);
            bool right = arrived.size() == from.size();
            for (std::size_t i = 0; right && i < from.size(); ++i)
                right = arrived[i].member == from[i] && arrived[i].list == list_of(from[i], team.rank());
            return right;
        });
        CHECK(good == std::vector<int>(members, 1));
    }
}

TEST_CASE("lists take logarithmically many messages, however many there are") {
    for (const int members : {8, 64}) {
        const auto messages = ThreadTeam::run(members, [&](const Team& team) {
            Parcels to_all;
            for (int m = 0; m < members; ++m) to_all.push_back({m, {1, 2, 3}});
            deliver(team, to_all);
            return ThreadTeam::counts_of(team).messages;
        });
        const int rounds = members == 8 ? 3 : 6;
        for (const std::int64_t n : messages) CHECK(n <= rounds);
    }
}

TEST_CASE("sums over the members before") {
    for (const int members : {1, 2, 3, 7, 16}) {
        const auto sums = ThreadTeam::run(members, [&](const Team& team) {
            const std::int64_t r = team.rank();
            return sums_before(team, std::vector<std::int64_t>{r + 1, -r * r});
        });
        std::int64_t first = 0, second = 0;
        for (std::int64_t m = 0; m < members; ++m) {
            CHECK(sums[m] == std::vector<std::int64_t>{first, second});
            first += m + 1;
            second -= m * m;
        }
    }
}

TEST_CASE("a team that does not say how to pass bytes on does it by two messages") {
    for (const int members : {2, 3, 7})
        for (int distance = 1; distance < members; ++distance) {
            const auto bytes_of = [](int member) { return std::vector(100 * (member % 3), std::byte(member)); };
            const auto arrived = ThreadTeam::run(
                members, [&](const Team& team) { return team.Team::pass_on(distance, bytes_of(team.rank())); });
            for (int m = 0; m < members; ++m) CHECK(arrived[m] == bytes_of((m - distance + members) % members));
        }
}
