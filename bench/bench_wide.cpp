// SPDX-License-Identifier: MIT
// bench_wide CELLS CUT [ROUNDS]: what balancing takes where there are many cells and ranks, without particles. CELLS is
// 11400x11400 or with three numbers; CUT is patches, strips or cells. Each rank makes up the contents of its cells
// (wide_world.hpp). Then come ROUNDS balancings (3), each one whole. Prints for each the time of the slowest rank, and
// what ranks send and keep. On a simulated cluster (docs/simulation.md) times are simulated; elsewhere they are those
// of this machine.
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "app/balancing/simulated_cost.hpp"
#include "comm/communicator.hpp"
#include "comm/session.hpp"
#include "comm/simulation.hpp"
#include "comm/team.hpp"
#include "wide_world.hpp"

namespace {

int run(int argc, char** argv) {
    const comm::Ranks team{comm::Communicator()};
    const std::optional<balance::CutAt> cut = argc < 3 ? std::nullopt : wide::cut_of(argv[2]);
    if (!cut) {
        if (team.rank() == 0) std::fprintf(stderr, "usage: bench_wide CELLS patches|strips|cells [ROUNDS]\n");
        return 2;
    }
    const balance::Grid grid = wide::grid_of(argv[1]);
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    const app::RoundMeter meter;
    const balance::Setting setting{team, grid, {team.size(), team.size()}, wide::policy_for(team.size(), *cut), meter};
    balance::Balancing state = wide::start(setting);
    for (int round = 0; round < rounds; ++round) {
        team.comm().barrier();
        const comm::SimulatedTraffic before = comm::simulated_traffic();
        const wide::Spent spent = wide::balance_once(
            setting, state, round, [](auto cost, auto processes, auto cells) { app::charge(cost, processes, cells); });
        const comm::SimulatedTraffic after = comm::simulated_traffic();
        std::array<std::int64_t, 2> slowest{static_cast<std::int64_t>(spent.decision * 1e9),
                                            static_cast<std::int64_t>(spent.all * 1e9)};
        std::array<std::int64_t, 1> kept{state.models.front().partition.bytes() + state.models.front().splits.bytes()};
        team.max(slowest);
        team.max(kept);
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        if (team.rank() == 0)
            std::printf(
                "%d ranks, %lld cells, round %d: %.3f ms, %.3f ms with the plan of what moves, LBE_m %.4f; a rank "
                "keeps %lld bytes of partitions; the process has %.2f MB for each rank",
                team.size(), static_cast<long long>(grid.box().cells()), round, slowest[0] * 1e-6, slowest[1] * 1e-6,
                state.models.front().history.lbe_model, static_cast<long long>(kept[0]),
                static_cast<double>(usage.ru_maxrss) / 1024 / (comm::simulated ? team.size() : 1));
        if (team.rank() == 0 && comm::simulated)
            std::printf("; a rank sends %.0f messages, %.2f MB", (after.messages - before.messages) / team.size(),
                        (after.bytes - before.bytes) / team.size() * 1e-6);
        if (team.rank() == 0) std::printf("\n");
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    return session.end(run(argc, argv));
}
