// SPDX-License-Identifier: MIT
// The ranks of MPI as a team: what they do together is what a team of one does alone.
#include <catch2/catch.hpp>

#include "balance/partition/partition.hpp"
#include "comm/team.hpp"

using namespace balance;

namespace {

const comm::Communicator& world() {
    static const comm::Communicator w;
    return w;
}

}  // namespace

TEST_CASE("all learn of the first one's list, whether it is short or long") {
    const comm::Ranks team(world());
    for (const std::size_t size : {0, 1, 42, 43, 127, 128, 1000}) {
        std::vector<double> list(team.rank(), -1.0);  // what others have is of no account
        for (std::size_t i = 0; team.rank() == 0 && i < size; ++i) list.push_back(0.5 + static_cast<double>(i));
        list = from_first(team, std::move(list));
        REQUIRE(list.size() == size);
        for (std::size_t i = 0; i < size; ++i) REQUIRE(list[i] == 0.5 + static_cast<double>(i));
        std::vector<std::array<double, 3>> triples;  // one of which has a part in either broadcast
        for (std::size_t i = 0; team.rank() == 0 && i < size; ++i)
            triples.push_back({1.5 * static_cast<double>(i), 2, 3});
        triples = from_first(team, std::move(triples));
        REQUIRE(triples.size() == size);
        for (std::size_t i = 0; i < size; ++i)
            REQUIRE(triples[i] == std::array<double, 3>{1.5 * static_cast<double>(i), 2, 3});
    }
}

TEST_CASE("ranks gather, broadcast and send to each other") {
    const comm::Ranks team(world());
    const std::vector<std::int64_t> mine(team.rank() + 1, 10 * team.rank());
    std::vector<std::int64_t> expected;
    for (int r = 0; r < team.size(); ++r) expected.insert(expected.end(), r + 1, 10 * r);
    CHECK(gather<std::int64_t>(team, mine) == (team.rank() == 0 ? expected : std::vector<std::int64_t>{}));
    CHECK(all_gather<std::int64_t>(team, mine) == expected);
    // A ring in both directions at the same time, in one channel after the other.
    const int next = (team.rank() + 1) % team.size(), before = (team.rank() + team.size() - 1) % team.size();
    if (team.size() == 1) return;
    std::int64_t up = 0, down = 0;
    const std::int64_t sent_up = 100 + team.rank(), sent_down = 200 + team.rank();
    const auto first = team.channel(), second = team.channel();
    const auto ring = [](Channel& channel, int to, const std::int64_t& sent, int from, std::int64_t& received) {
        channel.lay_out(std::array{Part{to, sizeof sent}}, std::array{Part{from, sizeof received}});
        channel.start(std::as_bytes(std::span(&sent, 1)), std::as_writable_bytes(std::span(&received, 1)));
    };
    ring(*first, next, sent_up, before, up);
    ring(*second, before, sent_down, next, down);
    second->finish();
    first->finish();
    CHECK(up == 100 + before);
    CHECK(down == 200 + next);
}

TEST_CASE("a team splits by colour, and its parts work apart") {
    const comm::Ranks team(world());
    const int colour = team.rank() % 2;
    const auto part = team.split(colour);
    const int members = (team.size() + 1 - colour) / 2;
    CHECK(part->size() == members);
    CHECK(part->rank() == team.rank() / 2);
    std::int64_t sum = team.rank(), expected = 0;
    for (int r = colour; r < team.size(); r += 2) expected += r;
    part->sum(std::span(&sum, 1));
    CHECK(sum == expected);
    const auto smaller = part->split(part->rank() == 0 ? 0 : 1);
    CHECK(smaller->size() == (part->rank() == 0 ? 1 : members - 1));
}

TEST_CASE("ranks make the partition that one alone makes") {
    const Grid grid{{40, 30, 1}, {true, false, false}};
    const auto load_of = [&](const Team& team) {
        const Box home = Homes{grid, team.size()}.of(team.rank());
        std::vector<std::int64_t> load;
        for (int x = home.lower[0]; x < home.upper[0]; ++x)
            for (int y = home.lower[1]; y < home.upper[1]; ++y)
                load.push_back(100 + (x * 31 + y * 17) % 200 + (x > 25 ? 900 : 0));
        return load;
    };
    const comm::Ranks team(world());
    const SerialTeam alone;
    const std::vector<std::int64_t> load = load_of(team), load_alone = load_of(alone);
    for (const char* kind : {"chain", "rcb", "nested"})
        for (const int processes : {11, 700}) {  // with 700 all ranks cut the chain together
            PartitionOptions o;
            o.kind = kind, o.processes = processes;
            Scattered<Split> memory, memory_alone;
            const Hosts hosts(processes, team.size());
            const ProcessBoxes mine = make_partition({team, grid, hosts, load, {}}, o, memory);
            const Partition expected =
                whole(alone, make_partition({alone, grid, {processes, 1}, load_alone, {}}, o, memory_alone));
            CHECK(mine == hosted_of(expected, hosts, team.rank()));
            CHECK(memory.whole(team) == memory_alone.mine());
        }
}
