// SPDX-License-Identifier: MIT
// The same tests under mpiexec: every rank runs all of them, the worst result is everybody's. Tests reduce first, then check.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

#include "comm/communicator.hpp"
#include "comm/session.hpp"

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    const comm::Communicator world;
    Catch::Session catch_session;
    if (catch_session.applyCommandLine(argc, argv) != 0) comm::fatal(2, "tests: bad command line");
    std::array<std::int64_t, 1> worst{std::min(catch_session.run(), 255)};
    world.max(worst);
    return static_cast<int>(worst[0]);
}
