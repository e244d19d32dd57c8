// SPDX-License-Identifier: MIT
// The graph of the cells, and partitions that libraries make of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <set>
#include <utility>

#include "balance/partition/cell_graph.hpp"
#include "balance/partition/quality.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

std::set<std::int32_t> neighbours_of(const CellGraph& g, std::int32_t cell) {
    return {g.neighbours.begin() + g.first[cell], g.neighbours.begin() + g.first[cell + 1]};
}

// A grid with a dear corner.
std::int64_t load_at(int x, int y, int z) { return x < 4 && y < 5 ? 900 + z : 20 + (3 * x + y) % 7; }

std::vector<std::int64_t> loads_of(const Box& box) {
    std::vector<std::int64_t> load;
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < box.upper[1]; ++y)
            for (int z = box.lower[2]; z < box.upper[2]; ++z) load.push_back(load_at(x, y, z));
    return load;
}

Partition made(const Team& team, const Grid& grid, const std::string& kind, std::int64_t processes,
               std::span<const std::int64_t> targets = {}) {
    const std::vector<std::int64_t> load = loads_of(Homes{grid, team.size()}.of(team.rank()));
    PartitionOptions options;
    options.kind = kind;
    options.processes = processes;
    Scattered<Split> memory;
    return whole(
        team, make_partition({team, grid, {processes, team.size()}, load, {}, PartTargets(targets)}, options, memory));
}

std::vector<double> parts_of(const Partition& p, const Grid& grid) {
    std::vector<int> owners(grid.box().cells(), 0);
    std::vector<double> loads(p.processes(), 0.0);
    for (std::int64_t q = 0; q < p.processes(); ++q)
        for (std::int64_t b = p.first[q]; b < p.first[q + 1]; ++b)
            for (int x = p.boxes[b].lower[0]; x < p.boxes[b].upper[0]; ++x)
                for (int y = p.boxes[b].lower[1]; y < p.boxes[b].upper[1]; ++y)
                    for (int z = p.boxes[b].lower[2]; z < p.boxes[b].upper[2]; ++z) {
                        ++owners[place_in(grid.box(), x, y, z)];
                        loads[q] += static_cast<double>(load_at(x, y, z));
                    }
    CHECK(std::ranges::all_of(owners, [](int n) { return n == 1; }));
    return loads;
}

}  // namespace

TEST_CASE("cells that touch are joined, around an axis where it is periodic, each once") {
    const Grid grid{{5, 4, 1}, {true, false, false}};
    const CellGraph g = cell_graph(grid, std::vector<std::int64_t>(20, 7));
    REQUIRE(g.first.size() == 21);
    const auto at = [&](int x, int y) { return static_cast<std::int32_t>(x * 4 + y); };
    CHECK(neighbours_of(g, at(2, 1)) ==
          std::set<std::int32_t>{at(1, 0), at(1, 1), at(1, 2), at(2, 0), at(2, 2), at(3, 0), at(3, 1), at(3, 2)});
    CHECK(neighbours_of(g, at(0, 0)) == std::set<std::int32_t>{at(4, 0), at(4, 1), at(0, 1), at(1, 0), at(1, 1)});
    const CellGraph narrow = cell_graph({{2, 2, 1}, {true, true, false}}, std::vector<std::int64_t>{1, 2, 3, 0});
    for (std::int32_t c = 0; c < 4; ++c) {
        CHECK(neighbours_of(narrow, c).size() == 3);
        CHECK(narrow.first[c + 1] - narrow.first[c] == 3);  // each once
    }
    CHECK(narrow.weight == std::vector<std::int32_t>{(1 << 30) / 6, (1 << 30) / 3, 1 << 29, 0});
    const CellGraph space = cell_graph({{3, 3, 3}, {}, 3}, std::vector<std::int64_t>(27, 1));
    CHECK(neighbours_of(space, 13).size() == 26);
    CHECK(neighbours_of(space, 0).size() == 7);
}

TEST_CASE("METIS and Scotch give each cell one owner, balance, follow targets, and the same on any number of members") {
    for (const char* kind : {"metis", "scotch"}) {
        if (!kind_of({.kind = kind}).built) continue;
        for (const Grid& grid : {Grid{{30, 22, 1}, {true, false, false}}, Grid{{12, 9, 10}, {false, true, false}, 3}}) {
            CAPTURE(kind, grid.dimensions);
            const Partition alone = made(SerialTeam{}, grid, kind, 6);
            CHECK(efficiency(parts_of(alone, grid)) > 0.9);
            const std::vector<std::int64_t> targets{1000, 1000, 3000, 1000, 2000, 2000};
            const std::vector<double> loads = parts_of(made(SerialTeam{}, grid, kind, 6, targets), grid);
            CHECK(efficiency(loads, std::vector<double>{1, 1, 3, 1, 2, 2}) > 0.88);
            for (const int members : {2, 3, 5})
                for (const Partition& p :
                     ThreadTeam::run(members, [&](const Team& team) { return made(team, grid, kind, 6); }))
                    CHECK(p == alone);
            CHECK(parts_of(made(SerialTeam{}, grid, kind, 1), grid).size() == 1);
        }
    }
}

#ifdef __GLIBC__
TEST_CASE("what METIS prints does not reach the user") {
    if (!kind_of({.kind = "metis"}).built) return;
    // Parts as many as cells, and all load in one of them: METIS has bisections without a cell then, and says so.
    const Grid grid{{9, 9, 1}, {true, false, false}};
    std::vector<std::int64_t> load(81, 0);
    load[40] = 1000;
    PartitionOptions options;
    options.kind = "metis";
    options.processes = 24;
    Scattered<Split> memory;
    std::FILE* printed = std::tmpfile();
    REQUIRE(printed != nullptr);
    std::FILE* terminal = std::exchange(stdout, printed);
    const SerialTeam team;
    const auto parts = whole(team, make_partition({team, grid, {24, 1}, load, {}, {}}, options, memory));
    std::fputs("after", stdout);
    std::swap(stdout, terminal);
    std::fseek(printed, 0, SEEK_END);
    CHECK(std::ftell(printed) == 5);
    std::fclose(printed);
    CHECK(parts.processes() == 24);
}
#endif
