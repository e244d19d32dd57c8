// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>

#include "comm/exchange.hpp"

namespace {

std::vector<std::byte> letter(int from, int to, std::size_t size) {
    std::vector<std::byte> b(size);
    for (std::size_t i = 0; i < size; ++i) b[i] = static_cast<std::byte>(from * 31 + to * 7 + i * 13);
    return b;
}

}  // namespace

TEST_CASE("every byte arrives, whatever the limit of a message") {
    const comm::Communicator world;
    for (const std::size_t limit : {std::size_t{1024}, std::size_t{1} << 30})
        for (const std::size_t size : {0, 1, 1023, 1024, 1025, 100000}) {
            comm::Exchange exchange(world, limit);
            std::vector<std::vector<std::byte>> sent, received;
            std::vector<comm::Outgoing> out;
            std::vector<comm::Incoming> in;
            sent.reserve(world.size()), received.reserve(world.size());
            for (int r = 0; r < world.size(); ++r) {
                if (r == world.rank()) continue;
                sent.push_back(letter(world.rank(), r, size + r));
                received.emplace_back(size + world.rank());
                out.push_back({r, sent.back()});
                in.push_back({r, received.back()});
            }
            for (int again = 0; again < 2; ++again) {
                for (auto& bytes : received) std::fill(bytes.begin(), bytes.end(), std::byte{0});
                exchange.start(out, in);
                exchange.finish();
                std::size_t i = 0;
                for (int r = 0; r < world.size(); ++r)
                    if (r != world.rank()) CHECK(received[i++] == letter(r, world.rank(), size + world.rank()));
            }
        }
}
