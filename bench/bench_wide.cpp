// SPDX-License-Identifier: MIT
// bench_wide CELLS CUT [ROUNDS]: what balancing takes where there are many cells and ranks, without particles. CELLS is
// 11400x11400 or with three numbers; CUT is patches, strips or cells. Each rank makes up the contents of its cells: two
// slabs that have met, as in inputs/lbe2400.yaml, with a dense zone that grows. Then come ROUNDS balancings (3), each
// one whole: the partition in use is cut into tiles, what the tiles hold goes home, model r1 learns from
// counted work, the cells are partitioned, the decision is made, and all that a migration would move is listed. Prints
// for each the time of the slowest rank, and what ranks send and keep. On a simulated cluster (docs/simulation.md)
// times are simulated; elsewhere they are those of this machine.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "app/balancing/simulated_cost.hpp"
#include "balance/partition/plan.hpp"
#include "balance/round.hpp"
#include "comm/clock.hpp"
#include "comm/communicator.hpp"
#include "comm/session.hpp"
#include "comm/simulation.hpp"
#include "comm/team.hpp"

namespace {

using balance::Box;
using balance::Grid;

Grid grid_of(const char* text) {
    Grid grid{{1, 1, 1}};
    int axis = 0;
    for (const char* end = text + std::strlen(text); text < end && axis < 3; ++text)
        text = std::from_chars(text, end, grid.cells[axis++]).ptr;
    grid.dimensions = axis == 3 ? 3 : 2;
    return grid;
}

// Particles in a cell. The slabs fill most of the box; where they have met, within `zone` of the middle, they are
// denser the nearer it is.
std::int32_t particles_at(const Grid& grid, const std::array<int, 3>& cell, double zone) {
    std::array<double, 2> at;
    for (int a = 0; a < 2; ++a) at[a] = (cell[a] + 0.5) / grid.cells[a];
    if (at[0] < 0.085 || at[0] > 0.915 || at[1] < 0.05 || at[1] > 0.95) return 0;
    const double depth = std::max(0.0, 1 - std::abs(at[0] - 0.5) / zone), wanted = 5.6 * (1 + depth);
    const std::uint32_t hash = (cell[0] * 73856093u) ^ (cell[1] * 19349663u) ^ (cell[2] * 83492791u);
    return static_cast<std::int32_t>(wanted + (hash * 2654435761u >> 8) * 0x1p-24);
}

// What the tiles of a rank hold.
balance::TileCells contents(const Grid& grid, const std::vector<Box>& tiles, double zone) {
    balance::TileCells cells;
    for (const Box& t : tiles)
        for (int x = t.lower[0]; x < t.upper[0]; ++x)
            for (int y = t.lower[1]; y < t.upper[1]; ++y)
                for (int z = t.lower[2]; z < t.upper[2]; ++z) {
                    const std::int32_t n = particles_at(grid, {x, y, z}, zone), around = grid.dimensions == 3 ? 3 : 1;
                    cells.particles.push_back(n);
                    cells.neighbours.push_back(std::int64_t{n} * n * 3 * around);
                }
    return cells;
}

struct Spent {
    double decision = 0, all = 0;  // seconds until it is known what moves, and until that is listed
    comm::SimulatedTraffic traffic;
};

Spent balance_once(const balance::Setting& s, balance::Balancing& state, int round) {
    const app::RoundMeter meter;
    constexpr balance::TileShape tile{24, 192, 0}, cube{16, 16, 16};
    const balance::TileShape shape = s.grid.dimensions == 3 ? cube : tile;
    const auto decomposed = [&](balance::ProcessBoxes known) {
        app::charge(app::cost::tiles, known.size(), s.home().cells());
        return balance::Decomposition(s.grid, std::move(known), s.hosts, shape);
    };
    const comm::SimulatedTraffic sent = comm::simulated_traffic();
    const double begin = comm::now();
    const balance::ProcessBoxes hosted = state.models.front().partition;
    const balance::Decomposition before = decomposed(around_home(s.team, s.grid, hosted));
    balance::Measured measured;
    measured.moment = {10 * (round + 1), 10 * round, {}};
    measured.first = round == 0;
    balance::Outcome outcome = rebalance(
        s, before, contents(s.grid, before.tiles_of_rank(s.team.rank()), 0.04 + 0.01 * round), measured, state);
    Spent spent{comm::now() - begin, 0, {}};
    if (outcome.next) {
        balance::MigrationKnowledge known =
            around_migration(s.team, s.grid, {hosted, before.known()}, *outcome.next, 1);
        balance::move_plan(decomposed(std::move(known.before)), decomposed(std::move(known.after)), s.team.rank());
    }
    spent.all = comm::now() - begin;
    const comm::SimulatedTraffic now = comm::simulated_traffic();
    spent.traffic = {now.messages - sent.messages, now.bytes - sent.bytes};
    return spent;
}

int run(int argc, char** argv) {
    const comm::Ranks team{comm::Communicator()};
    constexpr auto words = words_of(balance::CutAt{});
    const auto cut = argc < 3
                         ? words.end()
                         : std::find_if(words.begin(), words.end(), [&](const auto& w) { return argv[2] == w.word; });
    if (cut == words.end()) {
        if (team.rank() == 0) std::fprintf(stderr, "usage: bench_wide CELLS patches|strips|cells [ROUNDS]\n");
        return 2;
    }
    const Grid grid = grid_of(argv[1]);
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    balance::Policy policy;
    policy.clock = balance::Clock::work;
    policy.criterion.name = "every";
    policy.start = balance::Start::uniform;
    policy.partition = {.processes = team.size(), .patches_per_process = 8, .sticky = false};
    policy.partition.cut = cut->value;
    policy.counting = {{.cell = 1e-9, .particle = 8e-9, .candidate = 1.2e-9, .pair = 4e-9}, {2.5, 2.5, 2.5}};
    const app::RoundMeter meter;
    const balance::Setting setting{team, grid, {team.size(), team.size()}, policy, meter};
    balance::Balancing state = make_balancing(setting, {.start = balance::Start::uniform}, "r1");
    for (int round = 0; round < rounds; ++round) {
        team.comm().barrier();
        const Spent spent = balance_once(setting, state, round);
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
            std::printf("; a rank sends %.0f messages, %.2f MB", spent.traffic.messages / team.size(),
                        spent.traffic.bytes / team.size() * 1e-6);
        if (team.rank() == 0) std::printf("\n");
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    return session.end(run(argc, argv));
}
