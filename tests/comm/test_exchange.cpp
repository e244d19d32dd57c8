// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "balance/transfer.hpp"
#include "comm/exchange.hpp"

#ifdef __has_feature  // clang
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__  // as g++ says it
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
using LeaksOnPurpose = __lsan::ScopedDisabler;
#else
struct LeaksOnPurpose {
    ~LeaksOnPurpose() {}
};
#endif

namespace {

using balance::Part;

std::size_t size_of(int from, int to, int k, int scale) {
    return static_cast<std::size_t>(1 + (from * 37 + to * 101 + k * 59) % 97) * static_cast<std::size_t>(scale);
}

std::byte content(int from, int to, int k, std::size_t i) {
    return static_cast<std::byte>(from * 31 + to * 7 + k * 3 + i * 13);
}

// Two parts from each rank to each, but for pairs whose sum is a multiple of 3, which have none or five.
int parts_between(int from, int to) { return (from + to) % 3 == 0 ? 5 * (from % 2) : 2; }

// Sends all parts, and returns how many of its own did not come as they were sent.
int wrong_parts(const comm::Communicator& world, const comm::Network& network, int scale, bool as_they_come) {
    std::vector<Part> sent, received;
    std::vector<std::pair<int, int>> names_sent, names_received;  // other rank, number
    for (int r = 0; r < world.size(); ++r) {
        if (r == world.rank()) continue;
        for (int k = 0; k < parts_between(world.rank(), r); ++k)
            sent.push_back({r, size_of(world.rank(), r, k, scale)}), names_sent.push_back({r, k});
        for (int k = 0; k < parts_between(r, world.rank()); ++k)
            received.push_back({r, size_of(r, world.rank(), k, scale)}), names_received.push_back({r, k});
    }
    comm::Exchange exchange(world, network);
    const auto places = exchange.lay_out(sent, received);
    const auto total = [](const std::vector<Part>& parts) {
        std::size_t n = 0;
        for (const Part& p : parts) n += p.bytes;
        return n;
    };
    std::vector<std::byte> out(total(sent)), in(total(received));
    for (std::size_t p = 0; p < sent.size(); ++p)
        for (std::size_t i = 0; i < sent[p].bytes; ++i)
            out[places.sent[p] + i] = content(world.rank(), names_sent[p].first, names_sent[p].second, i);
    int wrong = 0;
    const auto look_at = [&](std::size_t p) {
        for (std::size_t i = 0; i < received[p].bytes; ++i)
            if (in[places.received[p] + i] !=
                content(names_received[p].first, world.rank(), names_received[p].second, i))
                return ++wrong, void();
    };
    for (int again = 0; again < 3; ++again) {
        std::fill(in.begin(), in.end(), std::byte{0});
        exchange.start(out, in);
        if (as_they_come) {
            std::vector<int> times(received.size(), 0);
            for (auto some = exchange.wait_for_some(); !some.empty(); some = exchange.wait_for_some())
                for (const std::size_t p : some) ++times[p], look_at(p);
            wrong += static_cast<int>(std::count_if(times.begin(), times.end(), [](int n) { return n != 1; }));
        }
        exchange.finish();
        if (!as_they_come)
            for (std::size_t p = 0; p < received.size(); ++p) look_at(p);
    }
    return wrong;
}

}  // namespace

TEST_CASE("every part arrives, whatever the schedule, the nodes and the sizes") {
    const comm::Communicator world;
    for (const auto& [order, word] : words_of(comm::MessageOrder{}))
        for (const auto aggregate :
             {comm::Aggregate::none, comm::Aggregate::process, comm::Aggregate::node, comm::Aggregate::automatic})
            for (const int ranks_per_node : {1, 2, 3})
                for (const int scale : {1, 300})
                    for (const bool one_by_one : {false, true}) {
                        comm::Schedule schedule{order, aggregate, one_by_one, 4096};
                        if (aggregate == comm::Aggregate::automatic) schedule.piece = 4096;
                        if (aggregate == comm::Aggregate::node && !one_by_one) schedule.piece = 2000;
                        const comm::Network network = comm::make_network(schedule, world, ranks_per_node, 2);
                        std::vector<std::int64_t> wrong{wrong_parts(world, network, scale, false),
                                                        wrong_parts(world, network, scale, true)};
                        world.max(wrong);
                        CAPTURE(word, static_cast<int>(aggregate), ranks_per_node, scale, one_by_one);
                        CHECK(wrong == std::vector<std::int64_t>{0, 0});
                    }
}

TEST_CASE("without a schedule a rank sends one message to each other") {
    const comm::Communicator world;
    const comm::Network network;
    comm::Traffic traffic;
    comm::Exchange exchange(world, network, &traffic);
    std::vector<Part> parts;
    for (int r = 0; r < world.size(); ++r)
        if (r != world.rank()) parts.insert(parts.end(), 3, Part{r, 100});
    exchange.lay_out(parts, parts);
    const std::vector<std::byte> out(parts.size() * 100);
    std::vector<std::byte> in(out.size());
    exchange.start(out, in);
    exchange.finish();
    CHECK(traffic.messages == world.size() - 1);
    CHECK(traffic.bytes == 300 * (world.size() - 1));
}

TEST_CASE("messages that MPI cannot count are refused before they are sent") {
    const comm::Communicator world;
    for (const std::size_t piece : {std::size_t{0}, std::size_t{1} << 31}) {
        comm::Network network;
        network.schedule.piece = piece;
        comm::Exchange exchange(world, network);
        CHECK_THROWS_AS(exchange.lay_out({}, {}), std::invalid_argument);
    }
}

// An error between start() and finish() destroys a transfer whose messages are still to come.
TEST_CASE("the buffers of a transfer that is not finished stay as long as messages may arrive there") {
    const comm::Communicator world;
    if (world.size() == 1) return;
    constexpr std::size_t size = 3000;
    const balance::SerialLoop loop;
    using Transfer = balance::Transfer<int, std::byte>;
    const auto lay_out = [](Transfer& transfer, const std::vector<balance::PeerMoves<int>>& links) {
        const auto all = [](int) { return size; };
        transfer.lay_out<decltype(all), decltype(all)>(links, all, all);
    };
    if (world.rank() == 1) {
        const LeaksOnPurpose leaks;
        const std::vector<balance::PeerMoves<int>> links{{0, {}, {1}}};
        Transfer transfer(std::make_unique<comm::Exchange>(world));
        lay_out(transfer, links);
        transfer.start(loop, [](int, std::byte*) {});
    }
    // What takes the place of memory that was freed.
    const std::vector<std::byte> mine(size, std::byte{0xaa});
    const std::vector<std::vector<std::byte>> others(100, mine);
    world.barrier();
    if (world.rank() == 0) {
        const std::vector<balance::PeerMoves<int>> links{{1, {1}, {}}};
        Transfer transfer(std::make_unique<comm::Exchange>(world));
        lay_out(transfer, links);
        transfer.start(loop, [](int, std::byte* bytes) { std::fill(bytes, bytes + size, std::byte{0x55}); });
        transfer.finish(loop, [](int, const std::byte*) {});
    }
    for (int i = 0; i < 10; ++i) world.barrier();  // the message comes meanwhile
    CHECK(std::all_of(others.begin(), others.end(), [&](const auto& bytes) { return bytes == mine; }));
}

TEST_CASE("nodes are numbered by their first ranks") {
    const comm::Communicator world;
    const comm::Network network = comm::make_network({}, world, 2);
    for (int r = 0; r < world.size(); ++r) CHECK(network.nodes.of(r) == r / 2);
    CHECK(comm::make_network({}, world).nodes.nodes() == 1);  // all ranks of a test share memory
}

TEST_CASE("the eager limit is a power of two that was tried") {
    const comm::Communicator world;
    const std::size_t limit = comm::measure_eager_limit(world, 1 << 18);
    CHECK(limit >= comm::least_eager_bytes);
    CHECK((limit & (limit - 1)) == 0);
    CHECK(limit <= 1 << 18);
    CHECK(comm::measure_eager_limit(world, 64) == 64);
}
