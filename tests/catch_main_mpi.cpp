// SPDX-License-Identifier: MIT
// The same tests under mpiexec: every rank runs all of them, the worst result is everybody's. Tests reduce first, then
// check.
#include <algorithm>
#include <array>
#include <cstdint>

#include "catch_runner.hpp"
#include "comm/communicator.hpp"
#include "comm/session.hpp"

int main(int argc, char* argv[]) {
    comm::Session session(argc, argv);
    const comm::Communicator world;
    std::array<std::int64_t, 1> worst{std::min(run_catch(argc, argv), 255)};
    world.max(worst);
    return static_cast<int>(worst[0]);
}
