// SPDX-License-Identifier: MIT
// Quality of a partition and what changes between two, against brute force over all cells, on teams of any size.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "balance/model/counted_work.hpp"
#include "balance/partition/quality.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid grids[] = {{{23, 17, 1}, {true, true, false}},   {{23, 17, 1}, {false, true, false}},
                      {{9, 30, 1}, {true, false, false}},   {{5, 4, 1}, {false, false, false}},
                      {{9, 7, 6}, {true, false, true}, 3},  {{4, 9, 11}, {false, true, false}, 3},
                      {{5, 6, 7}, {false, false, false}, 3}};
constexpr std::int64_t processes = 6;

std::int64_t load_of(int x, int y, int z) { return 1 + (x * 7 + y * 5 + z * 11) % 13; }
std::int64_t particles_of(int x, int y, int z) { return x + 2 * y + 3 * z; }

std::size_t place(const Grid& grid, int x, int y, int z) {
    return (static_cast<std::size_t>(x) * grid.cells[1] + y) * grid.cells[2] + z;
}

// Counts each cell once for each other process among its neighbours. Then the sum of their particles_of().
std::array<std::int64_t, 2> ghosts_by_brute_force(const Grid& grid, const std::vector<int>& owner) {
    std::array<std::int64_t, 2> ghosts{};
    for_each_cell(grid.box(), [&](int x, int y, int z) {
        std::set<int> others;
        for_each_cell({{-1, -1, -1}, {2, 2, 2}}, [&](int i, int j, int k) {
            std::array<int, 3> cell{x + i, y + j, z + k};
            for (int a = 0; a < 3; ++a) {
                const int n = grid.cells[a];
                if ((cell[a] < 0 || cell[a] >= n) && !grid.periodic[a]) return;
                cell[a] = (cell[a] + n) % n;
            }
            others.insert(owner[place(grid, cell[0], cell[1], cell[2])]);
        });
        others.erase(owner[place(grid, x, y, z)]);
        ghosts[0] += std::ssize(others);
        ghosts[1] += std::ssize(others) * particles_of(x, y, z);
    });
    return ghosts;
}

// What the members of a team find together.
struct Found {
    std::int64_t ghosts = 0, ghost_particles = 0, cells = 0, particles = 0;
    double efficiency = 0;
    std::vector<double> times;
    friend bool operator==(const Found&, const Found&) = default;
};
Found find(const Team& team, const Grid& grid, const Partition& before, const Partition& after) {
    const Box home = Homes{grid, team.size()}.of(team.rank());
    std::vector<std::int64_t> load, particles, work;
    for_each_cell(home, [&](int x, int y, int z) {
        load.push_back(load_of(x, y, z));
        particles.push_back(particles_of(x, y, z));
        work.push_back(to_ticks(1e-6 * static_cast<double>(load_of(x, y, z))));
    });
    const Owners old_owners(grid, home, all_of(before)), owners(grid, home, all_of(after));
    const Moved moved = moved_between(old_owners, owners, particles);
    std::array sums{ghost_cells(owners), std::int64_t{0}, moved.cells, moved.particles};
    const std::vector<std::uint8_t> seen = processes_that_see(owners);
    for (std::size_t i = 0; i < seen.size(); ++i) sums[1] += seen[i] * particles[i];
    team.sum(sums);
    return {sums[0],
            sums[1],
            sums[2],
            sums[3],
            efficiency(sums_by_process(team, owners, load, processes)),
            counted_times(team, owners, work, processes)};
}

}  // namespace

TEST_CASE("ghost cells, what moves, efficiency and times are those of brute force, on teams of any size") {
    for (const Grid& grid : grids)
        for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
            const Partition before = random_partition(grid, processes, seed),
                            after = random_partition(grid, processes, seed + 100);
            const std::vector<int> old_owner = owners_of(grid, before), owner = owners_of(grid, after);
            Found expected;
            const std::array<std::int64_t, 2> ghosts = ghosts_by_brute_force(grid, owner);
            expected.ghosts = ghosts[0], expected.ghost_particles = ghosts[1];
            std::vector<std::int64_t> sums(processes, 0);
            for_each_cell(grid.box(), [&](int x, int y, int z) {
                const std::size_t i = place(grid, x, y, z);
                sums[owner[i]] += load_of(x, y, z);
                if (owner[i] == old_owner[i]) return;
                ++expected.cells;
                expected.particles += particles_of(x, y, z);
            });
            double sum = 0, largest = 0;
            for (const std::int64_t s : sums)
                sum += static_cast<double>(s), largest = std::max(largest, static_cast<double>(s));
            expected.efficiency = sum / processes / largest;
            CHECK(expected.cells > 0);
            for (const int members : {1, 2, 3, 7, 25}) {
                const std::vector<Found> found =
                    ThreadTeam::run(members, [&](const Team& team) { return find(team, grid, before, after); });
                for (const Found& f : found) {
                    CAPTURE(grid.cells[0], grid.dimensions, seed, members);
                    CHECK(f.ghosts == expected.ghosts);
                    CHECK(f.ghost_particles == expected.ghost_particles);
                    CHECK(f.cells == expected.cells);
                    CHECK(f.particles == expected.particles);
                    CHECK(f.efficiency == Approx(expected.efficiency).epsilon(1e-14));
                    CHECK(f == found[0]);
                    for (std::int64_t p = 0; p < processes; ++p)
                        CHECK(f.times[p] == Approx(1e-6 * static_cast<double>(sums[p])).epsilon(1e-6).margin(1e-12));
                }
            }
        }
}

TEST_CASE("nothing moves between a partition and itself, and one process has no ghosts") {
    for (const Grid& grid : grids) {
        const Partition p = random_partition(grid, processes, 9), one = one_box_each({grid.box()});
        const SerialTeam alone;
        const Found same = find(alone, grid, p, p);
        CHECK((same.cells == 0 && same.particles == 0));
        CHECK(ghost_cells({grid, grid.box(), all_of(one)}) == 0);
    }
}
