// SPDX-License-Identifier: MIT
// The nested partition: what holds for any machine and load, and how well it balances.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "balance/nested/levels.hpp"
#include "balance/nested/nested.hpp"
#include "balance/nested/split.hpp"
#include "balance/partition/bisection.hpp"
#include "paper_loads.hpp"
#include "random_machine.hpp"
#include "sanitized.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

constexpr int cases = test::cases(10000);

// A case, its partition, and who owns what.
struct Made {
    const RandomCase& c;
    const NestedPartition& partition;
    std::vector<Resource> resources;
    std::vector<int> owner;

    template <class Visit>
    void for_each_cell(Visit visit) const {
        std::int64_t place = 0;
        for (int x = 0; x < c.grid.cells[0]; ++x)
            for (int y = 0; y < c.grid.cells[1]; ++y)
                for (int z = 0; z < c.grid.cells[2]; ++z) visit(x, y, z, place++);
    }
    bool is_accelerator(int r) const { return resources[r].kind == ResourceKind::accelerator; }
    bool empty(int r) const { return partition.first[r] == partition.first[r + 1]; }
};

// Whether an accelerator may not have this cell, which is among its ghosts.
bool is_remote(const Made& m, int node, int accelerator, std::int64_t cell) {
    const int other = m.owner[cell];
    return m.resources[other].node != node || (m.is_accelerator(other) && other != accelerator);
}

std::int64_t remote_contacts(const Made& m) {
    std::int64_t n = 0;
    m.for_each_cell([&](int x, int y, int z, std::int64_t place) {
        const int r = m.owner[place];
        if (!m.is_accelerator(r)) return;
        for_each_around(m.c.grid, x, y, z, m.c.options.ghost_width,
                        [&](std::int64_t cell) { n += is_remote(m, m.resources[r].node, r, cell); });
    });
    return n;
}

// Whether a node has a cell for one more accelerator.
bool has_inner_cell(const Made& m, int node) {
    bool found = false;
    m.for_each_cell([&](int x, int y, int z, std::int64_t place) {
        bool inner = !is_remote(m, node, -1, place);
        for_each_around(m.c.grid, x, y, z, m.c.options.ghost_width,
                        [&](std::int64_t cell) { inner = inner && !is_remote(m, node, -1, cell); });
        found = found || inner;
    });
    return found;
}

// Whether the cells of a resource hang together by their faces.
bool connected(const Made& m, int r) {
    std::set<std::int64_t> left;
    m.for_each_cell([&](int, int, int, std::int64_t place) {
        if (m.owner[place] == r) left.insert(place);
    });
    if (left.empty()) return true;
    std::vector<std::int64_t> next{*left.begin()};
    left.erase(left.begin());
    const std::int64_t nz = m.c.grid.cells[2], ny = m.c.grid.cells[1];
    while (!next.empty()) {
        const std::int64_t p = next.back(), z = p % nz, y = p / nz % ny;
        next.pop_back();
        const auto go = [&](bool possible, std::int64_t to) {
            if (possible && left.erase(to)) next.push_back(to);
        };
        go(z > 0, p - 1), go(z + 1 < nz, p + 1), go(y > 0, p - nz), go(y + 1 < ny, p + nz);
        go(true, p - nz * ny), go(true, p + nz * ny);
    }
    return left.empty();
}

// What is wrong with a partition; nothing, it is to be hoped.
std::string fault_of(const RandomCase& c, const NestedPartition& p) {
    const Made m{c, p, resources_of(c.machine), owners_of(c.grid, p)};
    if (p.first.size() != m.resources.size() + 1 || p.shortfall.size() != m.resources.size()) return "lists";
    if (std::any_of(m.owner.begin(), m.owner.end(), [](int o) { return o < 0; })) return "cover";
    if (std::any_of(p.boxes.begin(), p.boxes.end(), [](const Box& b) { return b.empty(); })) return "empty box";
    const bool inner_outer = c.options.algorithm == NestedAlgorithm::inner_outer;
    const bool enough = c.grid.box().cells() >= static_cast<std::int64_t>(m.resources.size());
    for (int r = 0; r < static_cast<int>(m.resources.size()); ++r) {
        if (p.shortfall[r] < 0 || p.shortfall[r] > 1) return "shortfall";
        if (m.is_accelerator(r) && !connected(m, r)) return "two blocks";
        if (!enough || !m.empty(r)) continue;
        if (!m.is_accelerator(r)) return "empty core";
        if (!inner_outer) return "empty accelerator";
        if (has_inner_cell(m, m.resources[r].node)) return "empty accelerator beside inner cells";
    }
    if (inner_outer && remote_contacts(m) > 0) return "remote contact";
    return "";
}

std::int64_t remote_of_accelerators(const MachineSpec& machine, const NestedQuality& q) {
    const std::vector<Resource> resources = resources_of(machine);
    std::int64_t cells = 0;
    for (std::size_t r = 0; r < resources.size(); ++r)
        if (resources[r].kind == ResourceKind::accelerator) cells += q.remote_cells[r];
    return cells;
}

}  // namespace

TEST_CASE("any machine and load: every cell once, nobody without cells, blocks of accelerators whole and inside") {
    const SerialTeam alone;
    int enough = 0, accelerators = 0;
    for (int seed = 0; seed < cases; ++seed) {
        const RandomCase c(seed);
        const NestedPartition p = c.partition(alone);
        const std::string fault = fault_of(c, p);
        CAPTURE(seed, fault, static_cast<int>(c.options.algorithm));
        if (!fault.empty()) FAIL_CHECK();
        const std::vector<Resource> resources = resources_of(c.machine);
        enough += c.grid.box().cells() >= static_cast<std::int64_t>(resources.size());
        for (std::size_t r = 0; r < resources.size(); ++r)
            accelerators += resources[r].kind == ResourceKind::accelerator && p.first[r] < p.first[r + 1] &&
                            c.options.algorithm == NestedAlgorithm::inner_outer;
    }
    CHECK(enough > cases / 2);        // more cells than resources
    CHECK(accelerators > cases / 4);  // with an inner block
}

TEST_CASE("the nested partition is the same for any number of members") {
    const SerialTeam alone;
    std::vector<NestedPartition> expected;
    for (int seed = 0; seed < cases; ++seed) expected.push_back(RandomCase(seed).partition(alone));
    for (const int members : {1, 2, 3, 5}) {  // each on a third of the cases
        const std::vector<int> different = ThreadTeam::run(members, [&](const Team& team) {
            int n = 0;
            for (int seed = members % 3; seed < cases; seed += 3)
                n += RandomCase(seed).partition(team) != expected[seed];
            return n;
        });
        CHECK(different == std::vector<int>(members, 0));
    }
}

TEST_CASE("the machines of the paper are balanced to 98 %, and no accelerator sees a remote region") {
    const SerialTeam alone;
    const Grid grid = paper_grid();
    for (const bool slab : {false, true}) {
        const std::vector<std::int64_t> load = slab ? slab_load(grid) : std::vector<std::int64_t>{};
        for (const int accelerators : {0, 3, -1})
            for (const int nodes : {1, 2, 8, 32})
                for (int seed = 1; seed <= (accelerators < 0 ? 2 : 1); ++seed) {
                    const MachineSpec machine = paper_machine(nodes, accelerators, seed);
                    const NestedPartition p = nested_partition(alone, grid, load, machine, {});
                    const NestedQuality q = quality_of(alone, grid, load, machine, p, 1);
                    CAPTURE(slab, accelerators, nodes, seed);
                    CHECK(q.lbe_model > std::min(0.98, lbe_bound(alone, grid, load, machine, {}) - 0.005));
                    CHECK(remote_of_accelerators(machine, q) == 0);
                    const NestedPartition greedy =
                        nested_partition(alone, grid, load, machine, {NestedAlgorithm::greedy, 1});
                    const NestedQuality g = quality_of(alone, grid, load, machine, greedy, 1);
                    CHECK(g.lbe_model > 0.975);
                    if (accelerators == 3 && nodes > 1) CHECK(remote_of_accelerators(machine, g) > 0);
                }
    }
}

TEST_CASE("regions with jogs have at most 1.15 times the ghosts of boxes by recursive bisection") {
    const SerialTeam alone;
    const Grid grid = paper_grid();
    for (const bool slab : {false, true}) {
        const std::vector<std::int64_t> load = slab ? slab_load(grid) : std::vector<std::int64_t>{};
        const SummedArea sums(grid.box(), load);
        const LoadsByCell cells(grid.box(), load);
        for (const int nodes : {4, 32}) {
            std::vector<Split> memory;
            std::vector<Region> boxes;
            std::int64_t of_cpus = 0, of_halves = 0;  // of the same node
            for (const Box& b : bisect(grid.box(), sums, nodes, 1, memory)) {
                std::vector<Split> none;
                std::vector<Region> halves;
                for (const Box& half : bisect(b, sums, 2, 1, none)) halves.push_back({half});
                of_halves += ghosts_between(grid, halves);
                of_cpus += ghosts_between(grid, split_exactly({b}, cells, std::vector<PartNeed>(2), 1e-3));
                boxes.push_back({b});
            }
            const std::vector<Region> regions =
                node_regions(alone, grid, load, !slab, std::vector<PartNeed>(nodes, {24, 24}));
            CAPTURE(slab, nodes);
            CHECK(double(ghosts_between(grid, regions)) < 1.15 * double(ghosts_between(grid, boxes)));
            CHECK(double(of_cpus) < 1.15 * double(of_halves));
        }
    }
}

TEST_CASE("the first cut has about half of the speed on each side: of three parts it cuts off the faster end") {
    constexpr int width = 23;
    const Box box{{0, 0, 0}, {24, width, 1}};
    for (int first = 1; first <= 6; ++first)
        for (int middle = 1; middle <= 6; ++middle)
            for (int last = 1; last <= 6; ++last) {
                if (first == last) continue;
                const std::vector<PartNeed> parts{{double(first)}, {double(middle)}, {double(last)}};
                const std::vector<SplitPart> split = split_region({box}, UniformLoads{}, parts, 1e-3);
                CAPTURE(first, middle, last);
                CHECK(bounds_of(split[first > last ? 0 : 2].region).extent(1) == width);
                CHECK(bounds_of(split[first > last ? 2 : 0].region).extent(1) < width);
            }
}
