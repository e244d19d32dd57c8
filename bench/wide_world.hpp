// SPDX-License-Identifier: MIT
// What is balanced where there are many cells and members, without particles: each member makes up the contents of its
// cells, two slabs that have met, as in inputs/lbe2400.yaml, with a dense zone that grows.
#pragma once
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "app/balancing/simulated_cost.hpp"
#include "balance/partition/plan.hpp"
#include "balance/round.hpp"

namespace wide {

using balance::Box;
using balance::Grid;

/// Of 11400x11400, or of three numbers.
inline Grid grid_of(const char* text) {
    Grid grid{{1, 1, 1}};
    int axis = 0;
    for (const char* end = text + std::strlen(text); text < end && axis < 3; ++text)
        text = std::from_chars(text, end, grid.cells[axis++]).ptr;
    grid.dimensions = axis == 3 ? 3 : 2;
    return grid;
}

/// Particles in a cell. The slabs fill most of the box; where they have met, within `zone` of the middle, they are
/// denser the nearer it is.
inline std::int32_t particles_at(const Grid& grid, const std::array<int, 3>& cell, double zone) {
    std::array<double, 2> at;
    for (int a = 0; a < 2; ++a) at[a] = (cell[a] + 0.5) / grid.cells[a];
    if (at[0] < 0.085 || at[0] > 0.915 || at[1] < 0.05 || at[1] > 0.95) return 0;
    const double depth = std::max(0.0, 1 - std::abs(at[0] - 0.5) / zone), wanted = 5.6 * (1 + depth);
    const std::uint32_t hash = (cell[0] * 73856093u) ^ (cell[1] * 19349663u) ^ (cell[2] * 83492791u);
    return static_cast<std::int32_t>(wanted + (hash * 2654435761u >> 8) * 0x1p-24);
}

/// What the tiles of a member hold.
inline balance::TileCells contents(const Grid& grid, const std::vector<Box>& tiles, double zone) {
    balance::TileCells cells;
    std::int64_t all = 0;
    for (const Box& t : tiles) all += t.cells();
    cells.particles.reserve(all), cells.neighbours.reserve(all);
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

/// Always balances, by counted work.
inline balance::Policy policy_for(std::int64_t processes, balance::CutAt cut) {
    balance::Policy policy;
    policy.clock = balance::BalanceClock::work;
    policy.criterion.name = "every";
    policy.start = balance::Start::uniform;
    policy.partition = {.processes = processes, .patches_per_process = 8, .sticky = false};
    policy.partition.cut = cut;
    policy.counting = {{.cell = 1e-9, .particle = 8e-9, .candidate = 1.2e-9, .pair = 4e-9}, {2.5, 2.5, 2.5}};
    return policy;
}

inline balance::Balancing start(const balance::Setting& setting) {
    return make_balancing(setting, {.start = balance::Start::uniform}, "r1");
}

/// A cut between cells by its word; nothing where there is no such word.
inline std::optional<balance::CutAt> cut_of(const char* text) {
    for (const auto& w : words_of(balance::CutAt{}))
        if (text == w.word) return w.value;
    return std::nullopt;
}

struct Spent {
    double decision = 0, all = 0;  ///< seconds until it is known what moves, and until that is listed
};

/// One balancing, whole: the partition in use is cut into tiles, what the tiles hold goes home, the model learns from
/// counted work, the cells are partitioned, the decision is made, and all that a migration would move is listed.
/// charge(cost, processes, cells): spends time where it is simulated. Collective.
template <class Charge>
Spent balance_once(const balance::Setting& s, balance::Balancing& state, int round, Charge charge) {
    constexpr balance::TileShape tile{24, 192, 0}, cube{16, 16, 16};
    const balance::TileShape shape = s.grid.dimensions == 3 ? cube : tile;
    const auto decomposed = [&](balance::ProcessBoxes known) {
        charge(app::cost::tiles, known.size(), s.home().cells());
        return balance::Decomposition(s.grid, std::move(known), s.hosts, shape);
    };
    const double begin = s.meter.now();
    const balance::ProcessBoxes hosted = state.models.front().partition;
    const balance::Decomposition before = decomposed(around_home(s.team, s.grid, hosted));
    balance::Measured measured;
    measured.moment = {10 * (round + 1), 10 * round, {}};
    measured.first = round == 0;
    measured.reference.emplace(s.hosts.processes_of(s.team.rank()).size(), 1e-5);
    balance::RoundOutcome outcome = rebalance(
        s, before, contents(s.grid, before.tiles_of_rank(s.team.rank()), 0.04 + 0.01 * round), measured, state);
    Spent spent{s.meter.now() - begin, 0};
    if (outcome.next) {
        balance::MigrationKnowledge known =
            around_migration(s.team, s.grid, {hosted, before.known()}, *outcome.next, 1);
        balance::move_plan(decomposed(std::move(known.before)), decomposed(std::move(known.after)), s.team.rank());
    }
    spent.all = s.meter.now() - begin;
    return spent;
}

}  // namespace wide
