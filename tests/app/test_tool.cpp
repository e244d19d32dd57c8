// SPDX-License-Identifier: MIT
// Actions for tests of the program that the program itself has not. test_tool MODE [FILE], on any number of ranks:
//
//   seal FILE...     Gives changed checkpoints the fronts that fit their bytes.
//
//   mismatch         The last rank sends fewer bytes than rank 0 waits for.
//
//   reading FILE     The last rank alone throws while all have the checkpoint FILE open.
//
//   writing FILE     The last rank alone throws while all write FILE.
//
//   together         Every rank calls fatal(), each with a code of its own.
//
//   two_exchanges    Two exchanges are in flight at once, of different sizes.
#include <array>
#include <cstdio>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/output/checkpoint/front.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/session.hpp"

namespace {

int seal(const std::string& path, const comm::Communicator& world) {
    const std::string old = comm::read_front(path, app::front_bytes);
    app::Front front;
    unsigned long hash = 0;
    if (std::sscanf(old.c_str(), "steelyard checkpoint\nschema 1\nstep %ld\nparticles %ld\nstate_hash %lx", &front.step,
                    &front.particles, &hash) != 3)
        return 1;
    front.state_hash = hash;
    front.bytes = comm::file_size(path);
    front.body = comm::file_digest(path, app::front_bytes, front.bytes, world);
    return comm::write_front(path, app::text_of(front)) ? 0 : 1;
}

// Two exchanges in flight at once.
void exchange(const comm::Communicator& world, bool mismatch) {
    const int next = (world.rank() + 1) % world.size(), before = (world.rank() + world.size() - 1) % world.size();
    std::vector<std::vector<int>> sent, received;
    std::deque<comm::Exchange> exchanges;
    for (const std::size_t n : {5, 70}) {
        sent.emplace_back(n), received.emplace_back(n);
        std::iota(sent.back().begin(), sent.back().end(), world.rank());
    }
    for (int i = 0; i < 2; ++i) {
        auto bytes = std::as_bytes(std::span(sent[i]));
        if (mismatch && world.rank() == world.size() - 1) bytes = bytes.subspan(4);
        const auto room = std::as_writable_bytes(std::span(received[i]));
        exchanges.emplace_back(world).lay_out(std::array{balance::Part{next, bytes.size()}},
                                              std::array{balance::Part{before, room.size()}});
        exchanges.back().start(bytes, room);
    }
    for (comm::Exchange& e : exchanges) e.finish();
    for (int i = 0; i < 2; ++i)
        if (received[i].front() != before || received[i].back() != before + static_cast<int>(received[i].size()) - 1)
            comm::fatal(9, "wrong numbers came");
}

[[noreturn]] void fail_alone(const comm::Communicator& world) {
    if (world.rank() == world.size() - 1) throw std::runtime_error("one rank alone");
    world.barrier();  // the others wait for it
    throw std::logic_error("the barrier was passed");
}

void fail_with_a_file(const std::string& mode, const std::string& path, const comm::Communicator& world) {
    if (mode == "reading") {
        comm::FileReader file(path, world);
        file.rows<std::int64_t>("/exact/id", 0, 1);
        fail_alone(world);
    }
    comm::FileWriter file(path, world);
    file.rows("/numbers", std::span<const std::int64_t>(std::array<std::int64_t, 2>{1, 2}));
    fail_alone(world);
}

}  // namespace

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    const comm::Communicator world;
    const std::string mode = argc > 1 ? argv[1] : "", path = argc > 2 ? argv[2] : "";
    try {
        for (int i = 2; mode == "seal" && i < argc; ++i)
            if (const int code = seal(argv[i], world)) return code;
        if (mode == "mismatch") exchange(world, true);
        if (mode == "two_exchanges") exchange(world, false);
        if (mode == "reading" || mode == "writing") fail_with_a_file(mode, path, world);
        if (mode == "together") comm::fatal(20 + world.rank(), "all at once");
    } catch (const std::exception& e) {
        comm::fatal(1, e.what());
    }
    return 0;
}
