// SPDX-License-Identifier: MIT
// Properties of the partitions `compact` and `diffusion`.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "balance/partition/partition.hpp"
#include "balance/partition/quality.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid plane{{60, 44, 1}, {true, false, false}}, space{{18, 10, 12}, {false, true, true}, 3};

using Loads = std::vector<std::int64_t>;  // of all cells

// Cells of 900 to 1100, those of a slab across the grid ten times as much; the slab begins at x = `at`.
Loads slab_loads(const Grid& grid, int at) {
    std::mt19937 random(5);
    Loads load;
    for_each_cell(grid.box(), [&](int x, int, int) {
        const std::int64_t noise = 900 + random() % 200;
        load.push_back(x >= at && x < at + 6 ? 10 * noise : noise);
    });
    return load;
}

// targets: empty: all equal; in_use: null: unknown.
Partition made(const Team& team, const Grid& grid, const Loads& load, std::int64_t processes,
               const Partition* in_use = nullptr, const Loads& targets = {}, const char* kind = "compact") {
    Loads home;
    for_each_cell(Homes{grid, team.size()}.of(team.rank()),
                  [&](int x, int y, int z) { home.push_back(load[place_in(grid.box(), x, y, z)]); });
    const Hosts hosts(processes, team.size());
    const ProcessBoxes hosted = in_use ? hosted_of(*in_use, hosts, team.rank()) : ProcessBoxes{};
    PartitionOptions options;
    options.kind = kind, options.processes = processes;
    Scattered<Split> memory;
    return whole(
        team, make_partition({team, grid, hosts, home, {}, PartTargets(targets), no_meter, in_use ? &hosted : nullptr},
                             options, memory));
}

Loads sums_of(const Grid& grid, const Partition& p, const Loads& load) {
    const std::vector<int> owner = owners_of(grid, p);
    Loads sums(p.processes(), 0);
    for (std::size_t c = 0; c < load.size(); ++c) sums[owner[c]] += load[c];
    return sums;
}
std::int64_t ghosts_of(const Grid& grid, const Partition& p) {
    return ghost_cells(Owners(grid, grid.box(), all_of(p)));
}
// A part is in more than one piece if not all its cells see each other, over others of its cells.
std::int64_t parts_in_pieces(const Grid& grid, const Partition& p) {
    const std::vector<int> owner = owners_of(grid, p);
    std::vector<bool> seen(owner.size(), false);
    std::int64_t pieces = 0;
    for (std::size_t c = 0; c < owner.size(); ++c) {
        if (seen[c]) continue;
        ++pieces, seen[c] = true;
        for (std::vector<std::int64_t> next{static_cast<std::int64_t>(c)}; !next.empty();) {
            const int at = static_cast<int>(next.back()), nz = grid.cells[2], ny = grid.cells[1];
            next.pop_back();
            const std::array<int, 3> cell{at / nz / ny, at / nz % ny, at % nz};
            for_each_cell({{-1, -1, -1}, {2, 2, 2}}, [&](int dx, int dy, int dz) {
                std::array<int, 3> other{cell[0] + dx, cell[1] + dy, cell[2] + dz};
                for (int a = 0; a < 3; ++a)
                    if (grid.periodic[a]) other[a] = (other[a] + grid.cells[a]) % grid.cells[a];
                if (!grid.box().contains(other)) return;
                const std::int64_t n = place_in(grid.box(), other[0], other[1], other[2]);
                if (owner[n] == owner[at] && !seen[n]) seen[n] = true, next.push_back(n);
            });
        }
    }
    return pieces - p.processes();
}
double moved(const Grid& grid, const Partition& before, const Partition& now) {
    const std::vector<int> a = owners_of(grid, before), b = owners_of(grid, now);
    std::int64_t cells = 0;
    for (std::size_t c = 0; c < a.size(); ++c) cells += a[c] != b[c];
    return static_cast<double>(cells) / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("compact parts tile the grid, have a cell each, and are the same on any team") {
    for (const Grid& grid : {plane, space}) {
        const std::int64_t cells = grid.box().cells();
        Loads heavy(cells, 0);
        heavy[cells / 3] = 1000;
        for (const Loads& load : {slab_loads(grid, 7), Loads(cells, 0), Loads(cells, 3), heavy})
            for (const std::int64_t processes : {std::int64_t{1}, std::int64_t{7}, std::int64_t{90}, cells}) {
                CAPTURE(grid.dimensions, processes);
                const Partition before = random_partition(grid, std::min(processes, cells / 3), 3);
                const Partition* in_use = before.processes() == processes ? &before : nullptr;
                Loads targets;
                for (std::int64_t q = 0; q < processes; ++q) targets.push_back(q % 2 == 0 || in_use ? 1 : 1000);
                const Partition p = made(SerialTeam{}, grid, load, processes, in_use, targets);
                CHECK(p.processes() == processes);
                CHECK(is_partition_of(p, grid));
                for (std::int64_t q = 0; q < processes; ++q) CHECK(p.first[q] < p.first[q + 1]);
                for (const int members : {2, 3, 4, 7})
                    for (const Partition& other : ThreadTeam::run(members, [&](const Team& team) {
                             return made(team, grid, load, processes, in_use, targets);
                         }))
                        CHECK(other == p);
            }
        CHECK_THROWS_AS(made(SerialTeam{}, grid, Loads(cells, 1), cells + 1), std::invalid_argument);
    }
}

TEST_CASE("no compact part of many cells has more than the mean and a tenth of the heaviest cell") {
    for (const Grid& grid : {plane, space})
        for (const std::int64_t processes : {5, 24, 90}) {
            const Loads load = slab_loads(grid, 9),
                        sums = sums_of(grid, made(SerialTeam{}, grid, load, processes), load);
            const double mean = static_cast<double>(std::accumulate(load.begin(), load.end(), std::int64_t{0})) /
                                static_cast<double>(processes);
            CAPTURE(grid.dimensions, processes);
            if (processes < 90)
                CHECK(static_cast<double>(std::ranges::max(sums)) <=
                      1.0005 * mean + static_cast<double>(std::ranges::max(load)) / 10);
            else  // with eight cells each in the slab
                CHECK(efficiency(sums) >
                      0.01 + efficiency(sums_of(grid, made(SerialTeam{}, grid, load, 90, nullptr, {}, "chain"), load)));
        }
}

TEST_CASE("compact parts take loads in the proportion of their targets") {
    Loads targets(24, 1000);
    for (std::size_t p = 0; p < targets.size(); p += 5) targets[p] = 400;
    for (const Grid& grid : {plane, space}) {
        const Loads load = slab_loads(grid, 9);
        const Partition p = made(SerialTeam{}, grid, load, 24, nullptr, targets);
        CHECK(efficiency(sums_of(grid, p, load), std::vector<double>(targets.begin(), targets.end())) > 0.98);
        // Each keeps its target when the parts are numbered.
        const Partition again = made(SerialTeam{}, grid, slab_loads(grid, 12), 24, &p, targets);
        CHECK(efficiency(sums_of(grid, again, slab_loads(grid, 12)),
                         std::vector<double>(targets.begin(), targets.end())) > 0.98);
    }
}

TEST_CASE("compact parts need hardly more ghost cells than boxes, and fewer than a chain") {
    double compact = 0;  // relative to the chain
    for (const Grid& grid : {plane, space})
        for (const std::int64_t processes : {16, 24, 37}) {
            const auto ghosts = [&](const Loads& load, const char* kind) {
                return static_cast<double>(
                    ghosts_of(grid, made(SerialTeam{}, grid, load, processes, nullptr, {}, kind)));
            };
            const Loads even(grid.box().cells(), 100), slab = slab_loads(grid, 9);
            CAPTURE(grid.dimensions, processes);
            CHECK(ghosts(even, "compact") < 1.12 * ghosts(even, "rcb"));
            compact += ghosts(slab, "compact") / ghosts(slab, "chain") / 6;
        }
    CHECK(compact < 0.88);
}

TEST_CASE("few cells move to compact parts, and none if the loads stay, however the processes are numbered") {
    for (const Grid& grid : {plane, space}) {
        const Loads load = slab_loads(grid, 9);
        const Partition p = made(SerialTeam{}, grid, load, 24);
        Partition turned{{}, {0}};  // process q has the part of process 7 q
        for (std::int64_t q = 0; q < 24; ++q) {
            const std::int64_t part = 7 * q % 24;
            turned.boxes.insert(turned.boxes.end(), p.boxes.begin() + p.first[part],
                                p.boxes.begin() + p.first[part + 1]);
            turned.first.push_back(std::ssize(turned.boxes));
        }
        for (const Partition& in_use : {p, turned}) {
            CHECK(made(SerialTeam{}, grid, load, 24, &in_use) == in_use);
            CHECK(moved(grid, in_use, made(SerialTeam{}, grid, slab_loads(grid, 10), 24, &in_use)) < 0.45);
        }
    }
}

TEST_CASE("load that moves slowly moves fewer cells by diffusion than to compact parts, at the same balance") {
    for (const Grid& grid : {plane, space}) {
        const std::int64_t processes = 24;
        double by_diffusion = 0, to_compact = 0;
        Loads load = slab_loads(grid, 3);
        const Loads later = slab_loads(grid, 4);
        const Partition start = made(SerialTeam{}, grid, load, processes);
        Partition p = start, compact = start;
        for (int n = 0; n < 6; ++n) {
            for (std::size_t c = 0; c < load.size(); ++c) load[c] += (later[c] - load[c]) / 10;
            const Partition next = made(SerialTeam{}, grid, load, processes, &p, {}, "diffusion");
            CHECK(is_partition_of(next, grid));
            const Loads sums = sums_of(grid, next, load);
            CHECK(static_cast<double>(std::ranges::max(sums)) <=
                  1.0005 * static_cast<double>(std::accumulate(load.begin(), load.end(), std::int64_t{0})) / processes +
                      static_cast<double>(std::ranges::max(load)) / 10);
            for (const int members : {2, 3})
                for (const Partition& other : ThreadTeam::run(members, [&](const Team& team) {
                         return made(team, grid, load, processes, &p, {}, "diffusion");
                     }))
                    CHECK(other == next);
            by_diffusion += moved(grid, p, next);
            p = next;
            const Partition bisected = made(SerialTeam{}, grid, load, processes, &compact);
            to_compact += moved(grid, compact, bisected);
            compact = bisected;
        }
        CAPTURE(grid.dimensions, by_diffusion, to_compact, parts_in_pieces(grid, p), ghosts_of(grid, p),
                ghosts_of(grid, compact));
        CHECK(by_diffusion < 0.8 * to_compact);
        CHECK(parts_in_pieces(grid, p) <= (grid.dimensions == 2 ? 5 : 12));
        CHECK(static_cast<double>(ghosts_of(grid, p)) < 1.4 * static_cast<double>(ghosts_of(grid, compact)));
    }
}

TEST_CASE("diffusion leaves even parts alone, and gives processes that got slower less") {
    Loads targets(24, 1000);
    for (const Grid& grid : {plane, space}) {
        const Loads load = slab_loads(grid, 9);
        const Partition p = made(SerialTeam{}, grid, load, 24);
        CHECK(owners_of(grid, made(SerialTeam{}, grid, load, 24, &p, {}, "diffusion")) == owners_of(grid, p));
        targets[5] = 500;
        const Partition next = made(SerialTeam{}, grid, load, 24, &p, targets, "diffusion");
        CHECK(efficiency(sums_of(grid, next, load), std::vector<double>(targets.begin(), targets.end())) > 0.98);
        CHECK(moved(grid, p, next) < 0.2);
    }
}

TEST_CASE("diffusion gives each process a cell in a vacuum") {
    for (const Grid& grid : {plane, space})
        for (const int width : {1, 2, 9}) {
            const auto block = [&](int at) {
                Loads load;
                for_each_cell(grid.box(), [&](int x, int y, int z) {
                    load.push_back(x >= at && std::max({x - at, y, z}) < width ? 100 : 0);
                });
                return load;
            };
            Partition p = made(SerialTeam{}, grid, block(0), 24);
            for (int at = 1; at < 4; ++at) {
                const Partition next = made(SerialTeam{}, grid, block(at), 24, &p, {}, "diffusion");
                CAPTURE(grid.dimensions, width, at);
                CHECK(is_partition_of(next, grid));
                for (std::int64_t q = 0; q < 24; ++q) CHECK(next.first[q] < next.first[q + 1]);
                if (width == 9) CHECK(efficiency(sums_of(grid, next, block(at))) > (grid.dimensions == 2 ? 0.8 : 0.9));
                p = next;
            }
        }
}
