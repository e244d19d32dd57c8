// SPDX-License-Identifier: MIT
// Partitions as a team makes them: the same whatever its size.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "balance/grid/curve.hpp"
#include "balance/partition/partition.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid grid{{61, 47, 1}, {true, false, false}};

// A hot stripe, an empty corner.
std::int64_t load_at(int x, int y) {
    return x < 15 && y < 20 ? 0 : x > 30 && x < 36 ? 9000 + 13 * y : 1000 + (x * 31 + y * 17) % 200;
}
std::int64_t size_at(int x, int y) { return x < 15 && y < 20 ? 0 : 1 + (x + y) % 3; }

struct Field {
    std::vector<std::int64_t> load, size;
    explicit Field(const Box& home, int shift = 0) {
        for_each_cell(home, [&](int x, int y, int) {
            load.push_back(load_at((x + shift) % grid.cells[0], y)), size.push_back(size_at(x, y));
        });
    }
};

// A partition as one member of a team gets it.
struct Made {
    Partition partition;
    std::vector<Split> memory;        // of all members
    std::int64_t smallest_limit = 0;  // that would work, where the one asked for does not
    bool hosted = true;               // it got the processes that it hosts
    friend bool operator==(const Made&, const Made&) = default;
};
Made make(const Team& team, const PartitionOptions& options, const std::vector<Split>& memory = {}, int shift = 0,
          std::span<const std::int64_t> targets = {}) {
    const Field field(Homes{grid, team.size()}.of(team.rank()), shift);
    Made made;
    Scattered<Split> kept(team, memory);
    try {
        const Hosts hosts(options.processes, team.size());
        const ProcessBoxes mine =
            make_partition({team, grid, hosts, field.load, field.size, PartTargets(targets)}, options, kept);
        made.partition = whole(team, mine);
        made.hosted = mine == hosted_of(made.partition, hosts, team.rank());
    } catch (const Infeasible& e) {
        made.smallest_limit = e.smallest;
    }
    made.memory = kept.whole(team);
    return made;
}

/// The sum of at(x, y) over the cells of each process.
std::vector<std::int64_t> sums_of(const Partition& p, std::int64_t (*at)(int, int)) {
    const std::vector<int> owners = owners_of(grid, p);
    std::vector<std::int64_t> sums(p.processes(), 0);
    for_each_cell(grid.box(), [&](int x, int y, int) { sums[owners[place_in(grid.box(), x, y)]] += at(x, y); });
    return sums;
}
double efficiency_of(const Partition& p) {
    const std::vector<std::int64_t> loads = sums_of(p, load_at);
    const auto sum = static_cast<double>(std::accumulate(loads.begin(), loads.end(), std::int64_t{0}));
    return sum / static_cast<double>(p.processes() * std::ranges::max(loads));
}

void check_tiling(const Partition& p) {
    std::vector<int> owners(grid.box().cells(), 0);
    for (const Box& b : p.boxes) {
        CHECK_FALSE(b.empty());
        for_each_cell(b, [&](int x, int y, int) { ++owners[place_in(grid.box(), x, y)]; });
    }
    CHECK(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
}

}  // namespace

TEST_CASE("every partition tiles the grid, keeps its limit and does not depend on the team") {
    const SerialTeam alone;
    std::vector<PartitionOptions> all;
    for (const CutAt cut : {CutAt::patches, CutAt::strips, CutAt::cells})
        for (const PatchOrder order : {PatchOrder::morton, PatchOrder::hilbert, PatchOrder::tree})
            for (const std::int64_t k : {1, 3})
                for (const bool limited : {false, true}) {
                    PartitionOptions o;
                    o.order = order, o.cut = cut, o.patches_per_process = k, o.processes = 17;
                    o.max_size = !limited ? 0 : cut == CutAt::patches ? 1200 : 400;
                    all.push_back(o);
                }
    for (const std::string& kind : partition_kind_names()) {
        if (!kind_of({.kind = kind}).built) continue;  // without its library
        if (kind == "chain") continue;
        PartitionOptions o;
        o.kind = kind, o.processes = 17;
        all.push_back(o);
    }
    for (const PartitionOptions& o : all) {
        const Made expected = make(alone, o);
        CAPTURE(o.kind, static_cast<int>(o.cut), static_cast<int>(o.order), o.patches_per_process, o.max_size);
        for (const int members : {2, 3, 4, 7}) {
            const std::vector<Made> made = ThreadTeam::run(members, [&](const Team& team) { return make(team, o); });
            CHECK(std::all_of(made.begin(), made.end(), [&](const Made& m) { return m == expected; }));
        }
        const Partition& p = expected.partition;
        CHECK(p.processes() == 17);
        check_tiling(p);
        if (o.max_size > 0) CHECK(std::ranges::max(sums_of(p, size_at)) <= o.max_size);
        else if (o.kind == "chain")
            CHECK(efficiency_of(p) > (o.cut == CutAt::cells ? 0.93 : o.cut == CutAt::strips ? 0.75 : 0.5));
    }
    PartitionOptions o;
    o.processes = 17, o.max_size = 100;
    const auto smallest = [&](int members) {
        const std::vector<Made> made = ThreadTeam::run(members, [&](const Team& team) { return make(team, o); });
        CHECK(std::all_of(made.begin(), made.end(), [&](const Made& m) { return m == made[0]; }));
        return made[0].smallest_limit;
    };
    o.max_size = smallest(1);
    CHECK(o.max_size > 100);
    CHECK(smallest(3) == 0);
    --o.max_size;
    CHECK(smallest(3) == o.max_size + 1);
    o.kind = "simulated annealing";
    CHECK_THROWS_AS(make(alone, o), std::invalid_argument);
}

TEST_CASE("many processes, whose chain some members cut together, get the same cells on any team") {
    const SerialTeam alone;
    PartitionOptions o;
    o.processes = 700, o.patches_per_process = 1;
    std::vector<std::int64_t> targets;
    for (int p = 0; p < 700; ++p) targets.push_back(100 + p % 7);
    for (const CutAt cut : {CutAt::strips, CutAt::cells})
        for (const std::int64_t limit : {0, 1, 40}) {  // no cut keeps a limit of one particle
            o.cut = cut, o.max_size = limit;
            const Made expected = make(alone, o, {}, 0, targets);
            CHECK((expected.smallest_limit > 0) == (limit == 1));
            for (const int members : {2, 3, 7, 20}) {
                CAPTURE(static_cast<int>(cut), limit, members);
                const auto made =
                    ThreadTeam::run(members, [&](const Team& team) { return make(team, o, {}, 0, targets); });
                CHECK(std::all_of(made.begin(), made.end(), [&](const Made& m) { return m == expected; }));
            }
        }
}

TEST_CASE("teams are split before the first partition, and not by it") {
    for (const CutAt cut : {CutAt::patches, CutAt::strips, CutAt::cells}) {
        PartitionOptions o;
        o.processes = 900, o.cut = cut, o.patches_per_process = 2;
        const auto splits = ThreadTeam::run(33, [&](const Team& team) {
            prepare_partitions(team, grid, o);
            const std::int64_t prepared = ThreadTeam::counts_of(team).splits;
            make(team, o);
            return std::array{prepared, ThreadTeam::counts_of(team).splits};
        });
        CAPTURE(static_cast<int>(cut), splits[0]);
        for (const auto& [prepared, all] : splits) CHECK((prepared > 2 && all == prepared));
    }
}

TEST_CASE("processes get loads in the proportion of their targets") {
    const SerialTeam alone;
    std::vector<std::int64_t> targets;
    for (int p = 0; p < 17; ++p) targets.push_back(p % 5 == 0 ? 400 : 100);
    for (const char* kind : {"chain", "rcb", "nested", "compact", "diffusion"}) {
        PartitionOptions o;
        o.kind = kind, o.processes = 17, o.cut = CutAt::cells;
        const Made made = make(alone, o, {}, 0, targets);
        check_tiling(made.partition);
        CHECK(ThreadTeam::run(3, [&](const Team& team) { return make(team, o, {}, 0, targets); })[2] == made);
        const std::vector<std::int64_t> loads = sums_of(made.partition, load_at);
        double share = 0, largest = 0;
        for (std::size_t p = 0; p < loads.size(); ++p) {
            const auto load = static_cast<double>(loads[p]);
            share += load, largest = std::max(largest, load / static_cast<double>(targets[p]));
        }
        share /= static_cast<double>(std::accumulate(targets.begin(), targets.end(), std::int64_t{0}));
        CAPTURE(kind, share / largest);
        CHECK(share / largest > (o.kind == "rcb" ? 0.75 : 0.93));
    }
}

TEST_CASE("the nested partition balances like the chain of strips, on any number of nodes and threads") {
    const SerialTeam alone;
    PartitionOptions o;
    o.processes = 40;
    const double chain = efficiency_of(make(alone, o).partition);
    o.kind = "nested";
    for (const std::int64_t a_node : {0, 1, 4, 7, 40})
        for (const int threads : {1, 2, 5}) {
            o.processes_per_node = a_node, o.threads = threads;
            const Made made = make(alone, o);
            CAPTURE(a_node, threads);
            CHECK(made.memory.empty());
            check_tiling(made.partition);
            CHECK(efficiency_of(made.partition) > chain - 0.01);
            CHECK(ThreadTeam::run(3, [&](const Team& team) { return make(team, o); })[1] == made);
        }
    o.processes = grid.box().cells() + 1;
    CHECK_THROWS_AS(make(alone, o), std::invalid_argument);
}

TEST_CASE("collective calls and messages of a partition grow with the logarithm of the team") {
    PartitionOptions o;
    o.processes = 40;
    std::vector<std::int64_t> collectives;
    for (const int members : {2, 4, 8, 16, 32, 64}) {
        const auto counts = ThreadTeam::run(members, [&](const Team& team) {
            make(team, o);
            return ThreadTeam::counts_of(team);
        });
        std::int64_t most = 0;
        for (const ThreadTeam::Counts& c : counts) {
            most = std::max(most, c.collectives);
            // With the homes of a member's cells, and in the rounds of five deliveries.
            CHECK(c.messages <= std::min(2 * members, 40) + 5 * std::countr_zero(static_cast<unsigned>(members)));
        }
        collectives.push_back(most);
    }
    // The bisection takes one sum a level until members go on apart. Unequal halves take up to three levels more in
    // each stage. A few calls tell the cuts and cut the chain.
    for (std::size_t i = 0; i < collectives.size(); ++i)
        CHECK(collectives[i] <= collectives[0] + static_cast<std::int64_t>(i) + (i > 3 ? 6 : 2));
    CHECK(collectives[0] < 10);
}

TEST_CASE("a sticky bisection keeps its axes and counts, and moves fewer cells") {
    const SerialTeam alone;
    const auto moved = [&](bool sticky) {
        PartitionOptions o;
        o.processes = 25, o.sticky = sticky, o.order = PatchOrder::tree;
        std::vector<Split> memory;
        std::vector<int> before;
        std::int64_t cells = 0;
        for (int step = 0; step < 12; ++step) {
            const Made made = make(alone, o, memory, step);
            if (sticky && step > 0) CHECK(made.memory == memory);
            memory = made.memory;
            const std::vector<int> owner = owners_of(grid, made.partition);
            for (std::size_t i = 0; i < before.size(); ++i) cells += owner[i] != before[i];
            before = owner;
        }
        return cells;
    };
    CHECK(moved(true) < moved(false));
}

TEST_CASE("no patch is narrower than asked, and fewer are made where there is no room") {
    const SerialTeam alone;
    const Field field(grid.box());
    for (const int width : {1, 3, 6})
        for (const std::int64_t parts : {1, 2, 7, 40, 70}) {
            std::vector<Split> memory;
            const SummedArea sums(grid.box(), field.load);
            if (parts > capacity(grid.box(), width)) {
                CHECK_THROWS_AS(bisect(grid.box(), sums, parts, width, memory), std::invalid_argument);
                continue;
            }
            for (const Box& b : bisect(grid.box(), sums, parts, width, memory))
                CHECK(std::min(b.extent(0), b.extent(1)) >= width);
        }
    PartitionOptions o;
    o.processes = 60, o.patches_per_process = 8, o.min_width = 6;
    Scattered<Split> memory;
    check_tiling(whole(alone, make_partition({alone, grid, {o.processes, 1}, field.load, field.size}, o, memory)));
}

TEST_CASE("curves visit every cell of a square once; the Hilbert curve only steps to neighbours") {
    constexpr int n = 16;
    std::vector<std::pair<std::uint64_t, std::pair<int, int>>> hilbert;
    std::set<std::uint64_t> morton;
    for_each_cell({{0, 0, 0}, {n, n, 1}}, [&](int x, int y, int) {
        hilbert.push_back({hilbert_key(x, y), {x, y}});
        morton.insert(morton_key(x, y));
    });
    CHECK(morton.size() == n * n);
    CHECK(*morton.rbegin() == n * n - 1);
    CHECK(morton_key(1, 0) == 2);
    std::sort(hilbert.begin(), hilbert.end());
    for (int i = 0; i < n * n; ++i) {
        CHECK(hilbert[i].first == static_cast<std::uint64_t>(i));
        if (i > 0)
            CHECK(std::abs(hilbert[i].second.first - hilbert[i - 1].second.first) +
                      std::abs(hilbert[i].second.second - hilbert[i - 1].second.second) ==
                  1);
    }
}

TEST_CASE("a region of the grid is bisected like the whole") {
    const SerialTeam alone;
    const Box region{{7, 3, 0}, {50, 40, 1}};
    const Field whole(grid.box());
    std::vector<Split> memory;
    const std::vector<Box> boxes = bisect(region, SummedArea(grid.box(), whole.load), 13, 2, memory);
    std::int64_t cells = 0;
    for (const Box& b : boxes) {
        CHECK(intersection(b, region) == b);
        cells += b.cells();
    }
    CHECK(cells == region.cells());
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(intersection(boxes[i], boxes[j]).empty());
}

TEST_CASE("homes cover the grid once, also where members are more than cells") {
    for (const Grid& g : {grid, Grid{{5, 3, 1}, {}}, Grid{{1, 40, 1}, {}}})
        for (const int members : {1, 2, 3, 5, 7, 15, 40}) {
            std::vector<int> seen(g.box().cells(), 0);
            const Homes homes{g, members};
            const Box some{{0, 1, 0}, {g.cells[0] / 2 + 1, 2, 1}};
            std::vector<int> found, expected;
            homes.for_each_in(some, [&](int m) { found.push_back(m); });
            for (int m = 0; m < members; ++m) {
                const Box home = homes.of(m);
                if (!intersection(home, some).empty()) expected.push_back(m);
                for_each_cell(home, [&](int x, int y, int) { ++seen[place_in(g.box(), x, y)]; });
            }
            CHECK(seen == std::vector<int>(g.box().cells(), 1));
            CHECK(found == expected);
        }
}
