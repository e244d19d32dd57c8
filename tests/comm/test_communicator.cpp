// SPDX-License-Identifier: MIT
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <span>

#include "comm/communicator.hpp"

using comm::Int128;

TEST_CASE("sums are exact beyond 64 bits") {
    const comm::Communicator world;
    // Terms of 2^100 and 1 of both signs: doubles or 64 bits would lose the ones.
    const Int128 big = Int128{1} << 100;
    std::vector<Int128> v{world.rank() % 2 ? -big : big + 1, Int128{world.rank()}, -1};
    world.sum(v);
    const Int128 even = (world.size() + 1) / 2, odd = world.size() / 2;
    CHECK((v[0] == even * (big + 1) - odd * big));
    CHECK((v[1] == Int128{world.size()} * (world.size() - 1) / 2));
    CHECK((v[2] == -world.size()));
}

TEST_CASE("minima, maxima, sums over lower ranks, agreement") {
    const comm::Communicator world;
    std::vector<std::int64_t> low{world.rank(), -world.rank()}, high = low;
    world.min(low);
    world.max(high);
    CHECK(low == std::vector<std::int64_t>{0, 1 - world.size()});
    CHECK(high == std::vector<std::int64_t>{world.size() - 1, 0});
    CHECK(world.exclusive_sum(world.rank() + 1) == std::int64_t{world.rank()} * (world.rank() + 1) / 2);
    CHECK(world.all_agree(true));
    CHECK(world.all_agree(world.rank() >= 0));
    CHECK_FALSE(world.all_agree(world.rank() != world.size() - 1));
    const double mine[] = {static_cast<double>(world.rank()), 5};
    const auto spread = world.spread(mine);
    CHECK(spread[0].min == 0);
    CHECK(spread[0].max == world.size() - 1);
    CHECK(spread[0].mean == Approx((world.size() - 1) / 2.0));
    CHECK(spread[1].mean == 5);
}

TEST_CASE("reductions of more values than one may have go through in pieces") {
    const comm::Communicator world;
    for (const std::size_t piece : {1, 8, 20, 100, 100000}) {
        const comm::Communicator cut = world.in_pieces_of(piece);
        std::vector<std::int64_t> sum, low, high;
        std::vector<Int128> wide;
        std::vector<double> mine;
        for (int i = 0; i < 11; ++i) {
            sum.push_back(world.rank() + i);
            wide.push_back(Int128{world.rank() + i} << 80);
            mine.push_back(world.rank() + i);
        }
        low = high = sum;
        cut.sum(sum);
        cut.min(low);
        cut.max(high);
        cut.sum(wide);
        const auto spread = cut.spread(mine);
        const std::int64_t ranks = world.size(), all = ranks * (ranks - 1) / 2;
        for (int i = 0; i < 11; ++i) {
            CAPTURE(piece, i);
            CHECK(sum[i] == all + ranks * i);
            CHECK(low[i] == i);
            CHECK(high[i] == ranks - 1 + i);
            CHECK((wide[i] == Int128{all + ranks * i} << 80));
            CHECK(spread[i].max == static_cast<double>(ranks - 1 + i));
        }
        cut.sum(std::span<std::int64_t>());
    }
}

TEST_CASE("maxima and a sum travel together, several at a time") {
    const comm::Communicator world;
    const std::int64_t rank = world.rank(), ranks = world.size(), least = INT64_MIN;
    comm::Reduction first(world, {rank, -rank, least, rank + 1}), second(world, {-rank, rank, 7, -rank});
    std::vector<std::int64_t> between{rank};
    world.sum(between);
    CHECK(first.wait() == comm::Reduction::Values{ranks - 1, 0, least, ranks * (ranks + 1) / 2});
    CHECK(second.wait() == comm::Reduction::Values{0, ranks - 1, 7, -ranks * (ranks - 1) / 2});
    CHECK(between[0] == ranks * (ranks - 1) / 2);
}

TEST_CASE("texts and bytes reach whom they are for") {
    const comm::Communicator world;
    std::string text = world.rank() == 0 ? std::string(100000, 'x') + "end" : "other";
    world.broadcast(text);
    CHECK(text == std::string(100000, 'x') + "end");
    const std::vector<std::string> all = world.gather(std::to_string(world.rank()));
    CHECK(all.size() == (world.rank() == 0 ? world.size() : 0u));
    for (std::size_t r = 0; r < all.size(); ++r) CHECK(all[r] == std::to_string(r));
    // Rank a sends b + 1 bytes of value a to every rank b.
    std::vector<std::vector<std::byte>> out(world.size());
    for (int b = 0; b < world.size(); ++b) out[b].assign(b + 1, static_cast<std::byte>(world.rank()));
    std::vector<std::byte> expected;
    for (int a = 0; a < world.size(); ++a) expected.insert(expected.end(), world.rank() + 1, static_cast<std::byte>(a));
    CHECK(world.all_to_all(out) == expected);
}

TEST_CASE("one call after the other brings each rank what was meant for it, where few have something to send") {
    const comm::Communicator world;
    for (int round = 0; round < 50; ++round) {
        // Of each call other ranks send, to others, and other sizes.
        std::vector<std::vector<std::byte>> out(world.size());
        std::vector<std::byte> expected;
        for (int a = 0; a < world.size(); ++a) {
            if ((a + round) % 3 == 0) continue;
            const int target = (a * 5 + round) % world.size();
            const std::vector<std::byte> message(1 + (a * 7 + round * 13) % 40, static_cast<std::byte>(a + round));
            if (a == world.rank()) out[target] = message;
            if (target == world.rank()) expected.insert(expected.end(), message.begin(), message.end());
        }
        CHECK(world.all_to_all(out) == expected);
    }
}

TEST_CASE("ranks pass on few bytes and many") {
    const comm::Communicator world;
    for (const std::size_t size : {0, 1, 4087, 4088, 4089, 100000})
        for (int distance = 1; distance < world.size(); ++distance) {
            const int from = (world.rank() - distance + world.size()) % world.size();
            const std::vector<std::byte> mine(size + 1000 * world.rank(), static_cast<std::byte>(world.rank())),
                theirs(size + 1000 * from, static_cast<std::byte>(from));
            CHECK(world.pass_on(distance, mine) == theirs);
        }
}

TEST_CASE("more bytes than one message may have go through in pieces") {
    const comm::Communicator world;
    const auto bytes_of = [](int rank) {
        std::vector<std::byte> bytes;
        for (int i = 0; i < (rank * 37) % 100; ++i) bytes.push_back(static_cast<std::byte>(rank + i));
        return bytes;
    };
    const std::vector<std::byte> mine = bytes_of(world.rank());
    std::vector<std::byte> all;
    for (int r = 0; r < world.size(); ++r) {
        const std::vector<std::byte> theirs = bytes_of(r);
        all.insert(all.end(), theirs.begin(), theirs.end());
    }
    for (const std::size_t piece : {1, 7, 64, 100000}) {
        const comm::Communicator cut = world.in_pieces_of(piece);
        CHECK(cut.gather(mine) == (world.rank() == 0 ? all : std::vector<std::byte>{}));
        CHECK(cut.all_gather(mine) == all);
        std::vector<std::byte> sent = world.rank() == 0 ? all : std::vector<std::byte>(all.size());
        cut.broadcast(sent);
        CHECK(sent == all);
        CHECK(cut.split(0).all_gather(mine) == all);
        std::array<std::int64_t, 5> sums{0, 1, 2, 3, 4}, expected{};
        for (std::int64_t i = 0; i < 5; ++i) expected[i] = i * world.size();
        cut.sum(std::span<std::int64_t>(sums));
        CHECK(sums == expected);
        for (int distance = 1; distance < world.size(); ++distance) {
            const std::vector<std::byte> behind = cut.pass_on(distance, mine);
            const int from = (world.rank() - distance + world.size()) % world.size();
            CHECK(behind == bytes_of(from));
        }
        // Each rank sends what it has to all of them.
        CHECK(cut.all_to_all(std::vector<std::vector<std::byte>>(world.size(), mine)) == all);
    }
    CHECK(world.all_gather({}).empty());
}
