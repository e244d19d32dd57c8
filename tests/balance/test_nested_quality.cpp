// SPDX-License-Identifier: MIT
// Quality of a nested partition, against brute force over all cells.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "balance/nested/nested.hpp"
#include "random_machine.hpp"
#include "sanitized.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

NestedQuality by_brute_force(const RandomCase& c, const NestedPartition& p) {
    const std::vector<Resource> resources = resources_of(c.machine);
    const std::vector<int> owner = owners_of(c.grid, p);
    NestedQuality q;
    q.load.assign(resources.size(), 0), q.cells = q.remote_cells = q.load;
    const auto cpu_of = [&](int r) { return resources[r].kind == ResourceKind::core ? resources[r].cpu : -1 - r; };
    std::set<std::tuple<int, std::int64_t>> of_nodes, of_resources;
    std::set<std::tuple<int, int, std::int64_t>> of_cpus;
    std::map<int, std::map<int, std::set<std::int64_t>>> of_accelerators;  // ghosts by CPU
    std::map<int, std::vector<std::pair<std::int64_t, int>>> sees;  // cells of an accelerator, CPUs of neighbours
    std::int64_t place = 0, distance = 0;
    for (int x = 0; x < c.grid.cells[0]; ++x)
        for (int y = 0; y < c.grid.cells[1]; ++y)
            for (int z = 0; z < c.grid.cells[2]; ++z, ++place) {
                const int r = owner[place];
                const Resource& mine = resources[r];
                q.load[r] += c.load.empty() ? 1 : c.load[place];
                ++q.cells[r];
                for_each_around(c.grid, x, y, z, c.options.ghost_width, [&](std::int64_t cell) {
                    const int o = owner[cell];
                    const Resource& other = resources[o];
                    if (o == r) return;
                    const bool is_accelerator = mine.kind == ResourceKind::accelerator,
                               two = is_accelerator && other.kind == ResourceKind::accelerator;
                    if (other.node != mine.node && of_nodes.insert({mine.node, cell}).second)
                        ++q.ghosts_between_nodes, distance += std::abs(other.node - mine.node);
                    if (other.node == mine.node && cpu_of(o) != cpu_of(r))
                        q.ghosts_between_cpus += of_cpus.insert({mine.node, cpu_of(r), cell}).second;
                    if (is_accelerator && other.node == mine.node && !two) {
                        of_accelerators[r][other.cpu].insert(cell);
                        sees[r].push_back({place, other.cpu});
                    }
                    if (!of_resources.insert({r, cell}).second) return;
                    q.ghosts_inside += other.node == mine.node && cpu_of(o) == cpu_of(r);
                    q.remote_cells[r] += other.node != mine.node || two;
                });
            }
    for (const auto& [r, by_cpu] : of_accelerators) {
        int main = by_cpu.begin()->first;
        for (const auto& [cpu, ghosts] : by_cpu)
            if (ghosts.size() > by_cpu.at(main).size()) main = cpu;
        std::set<std::int64_t> contacts;
        for (const auto& [cell, cpu] : sees[r])
            if (cpu != main) contacts.insert(cell);
        q.other_cpu_contacts += static_cast<std::int64_t>(contacts.size());
    }
    if (q.ghosts_between_nodes > 0)
        q.node_distance = static_cast<double>(distance) / static_cast<double>(q.ghosts_between_nodes);
    double load = 0, speed = 0, slowest = 0;
    for (std::size_t r = 0; r < resources.size(); ++r) {
        load += static_cast<double>(q.load[r]), speed += resources[r].speed;
        slowest = std::max(slowest, static_cast<double>(q.load[r]) / resources[r].speed);
    }
    q.lbe_model = slowest > 0 ? load / speed / slowest : 1;
    return q;
}

}  // namespace

TEST_CASE("ghosts, contacts, loads and LBE_m are those of brute force, for any number of members") {
    const SerialTeam alone;
    std::int64_t contacts = 0, remote = 0;
    constexpr int cases = test::cases(600);
    for (int seed = 0; seed < cases; ++seed) {
        const RandomCase c(seed);
        const NestedPartition p = c.partition(alone);
        const NestedQuality expected = by_brute_force(c, p);
        const auto found = ThreadTeam::run(1 + seed % 3, [&](const Team& team) {
            const Box home = Homes{c.grid, team.size()}.of(team.rank());
            return quality_of(team, c.grid, c.load_at(home), c.machine, p, c.options.ghost_width);
        });
        CAPTURE(seed);
        for (const NestedQuality& q : found) CHECK(q == expected);
        contacts += expected.other_cpu_contacts;
        for (const std::int64_t r : expected.remote_cells) remote += r;
    }
    CHECK(contacts > cases / 6);
    CHECK(remote > 5 * cases / 3);
}

TEST_CASE("no partition is better than its bound") {
    const SerialTeam alone;
    int reached = 0, below_one = 0;
    constexpr int cases = test::cases(10000);
    for (int seed = 0; seed < cases; ++seed) {
        const RandomCase c(seed);
        const NestedQuality q = quality_of(alone, c.grid, c.load, c.machine, c.partition(alone), 1);
        const double bound = lbe_bound(alone, c.grid, c.load, c.machine, c.options);
        CAPTURE(seed, q.lbe_model, bound);
        CHECK(q.lbe_model <= bound + 1e-9);
        below_one += bound < 0.99;
        reached += bound < 0.99 && q.lbe_model > bound - 0.01;
    }
    CHECK(below_one > cases / 10);
    CHECK(reached > below_one / 10);
}

TEST_CASE("the bound knows equal cells, heavy cells and rims") {
    const SerialTeam alone;
    const NestedOptions options;
    const Grid line{{10, 1, 1}, {}};
    const MachineSpec four{{NodeSpec{1, 4}}};
    CHECK(lbe_bound(alone, line, {}, four, options) == Approx(10.0 / 4 / 3));  // 3, 3, 2 and 2 cells
    std::vector<std::int64_t> load(10, 1);
    load[4] = 9;
    CHECK(lbe_bound(alone, line, load, four, options) == Approx(18.0 / 4 / 9));
    // Each core takes a cell at either end of its node, in twice the time that all would need together.
    const MachineSpec three{std::vector<NodeSpec>(3, {1, 1, 1, 1, 99})};
    CHECK(lbe_bound(alone, {{300, 1, 1}, {true, false, false}}, {}, three, options) == Approx(0.5));
    CHECK(lbe_bound(alone, {{300, 1, 1}, {}}, {}, three, options) == Approx(1));
    CHECK(lbe_bound(alone, {{300, 1, 1}, {true, false, false}}, {}, three, {NestedAlgorithm::greedy, 1}) == Approx(1));
    const MachineSpec small{std::vector<NodeSpec>(100, {1, 1, 1, 1, 3})};  // 6 x 6 cells a node, 16 of them inner
    CHECK(lbe_bound(alone, {{60, 60, 1}, {true, true, false}}, {}, small, options) == Approx(9.0 / 20));
}
