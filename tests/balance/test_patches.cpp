// SPDX-License-Identifier: MIT
// The chain of patches, which no member of a team has as a whole: the same whatever the team, and a small share of it
// on each member.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "balance/grid/curve.hpp"
#include "balance/partition/patches.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

constexpr PatchOrder orders[] = {PatchOrder::morton, PatchOrder::hilbert, PatchOrder::tree};
constexpr CutAt cuts[] = {CutAt::patches, CutAt::strips, CutAt::cells};

// Loads with a hot plane, sizes from 0 to 3.
std::vector<std::int64_t> loads_of(const Grid& grid, const Box& home) {
    std::vector<std::int64_t> load;
    for_each_cell(home, [&](int x, int y, int z) {
        load.push_back(100 + (x * 31 + y * 17 + z * 7) % 90 + (std::abs(x - grid.cells[0] / 2) < 2 ? 4000 : 0));
    });
    return load;
}
std::vector<std::int64_t> sizes_of(const Box& home) {
    std::vector<std::int64_t> size;
    for_each_cell(home, [&](int x, int y, int z) { size.push_back((x + 3 * y + z) % 4); });
    return size;
}

// The chain item by item, as the cells of each item: sorted by one who has all patches.
std::vector<std::vector<std::array<int, 3>>> chain_of(const Grid& grid, std::vector<Box> patches, PatchOrder order,
                                                      CutAt cut) {
    const auto key = [&](const Box& b) -> std::uint64_t {
        std::array<std::uint32_t, 3> at{};
        for (int a = 0; a < 3; ++a) at[a] = static_cast<std::uint32_t>(b.lower[a] + b.upper[a]);
        if (order == PatchOrder::tree) return 0;
        if (grid.dimensions == 3) return order == PatchOrder::morton ? morton_key(at) : hilbert_key(at);
        return order == PatchOrder::morton ? morton_key(at[0], at[1]) : hilbert_key(at[0], at[1]);
    };
    std::ranges::stable_sort(patches, {}, key);
    std::vector<std::vector<std::array<int, 3>>> chain;
    for (const Box& patch : patches) {
        std::array<int, 3> axes{0, 1, 2};  // the longest first
        std::ranges::stable_sort(axes, std::greater<>(), [&](int a) { return patch.extent(a); });
        const int line = patch.extent(axes[grid.dimensions - 1]);
        std::vector<std::array<int, 3>> cells;
        for_each_cell(patch, [&](int x, int y, int z) { cells.push_back({x, y, z}); });
        std::ranges::stable_sort(cells, {}, [&](const std::array<int, 3>& c) {
            return std::array<int, 3>{c[axes[0]], c[axes[1]], c[axes[2]]};
        });
        const std::size_t each = cut == CutAt::patches  ? cells.size()
                                 : cut == CutAt::strips ? static_cast<std::size_t>(line)
                                                        : 1;
        for (std::size_t c = 0; c < cells.size(); c += each)
            chain.emplace_back(cells.begin() + static_cast<std::ptrdiff_t>(c),
                               cells.begin() + static_cast<std::ptrdiff_t>(c + each));
    }
    return chain;
}

// A partition by one member that has the whole chain: the process of each cell.
std::vector<int> expected_owners(const Grid& grid, const PartitionOptions& o, std::span<const std::int64_t> targets) {
    const std::vector<std::int64_t> load = loads_of(grid, grid.box()), size = sizes_of(grid.box());
    std::vector<Split> memory;
    const std::int64_t count = kind_of(o).bisected_boxes(grid, o);
    const auto chain =
        chain_of(grid, bisect(grid.box(), SummedArea(grid.box(), load), count, o.min_width, memory), o.order, o.cut);
    ChainItems items;
    for (const auto& cells : chain) {
        std::int64_t l = 0, s = 0;
        for (const auto& c : cells) {
            const std::int64_t at = place_in(grid.box(), c[0], c[1], c[2]);
            l += load[at], s += size[at];
        }
        items.load.push_back(l);
        if (o.max_size > 0) items.size.push_back(s);
    }
    const std::vector<std::int64_t> at = chain_partition(items, o.processes, o.max_size, PartTargets(targets));
    std::vector<int> owners(grid.box().cells(), -1);
    for (std::int64_t p = 0; p < o.processes; ++p)
        for (std::int64_t i = at[p]; i < at[p + 1]; ++i)
            for (const auto& c : chain[i]) owners[place_in(grid.box(), c[0], c[1], c[2])] = static_cast<int>(p);
    return owners;
}

// A member gets the boxes of its processes, or the smallest limit that a partition can keep.
struct Made {
    ProcessBoxes boxes;
    std::int64_t smallest = 0;
};
Made make(const Team& team, const Grid& grid, const Hosts& hosts, const PartitionOptions& o,
          std::span<const std::int64_t> targets) {
    const Box home = Homes{grid, team.size()}.of(team.rank());
    Scattered<Split> memory;
    try {
        return {
            make_partition({team, grid, hosts, loads_of(grid, home), sizes_of(home), PartTargets(targets)}, o, memory)};
    } catch (const Infeasible& e) {
        return {{}, e.smallest};
    }
}

// Some members host many processes, some none.
Hosts random_hosts(std::mt19937_64& random, std::int64_t processes, int members) {
    if (random() % 2) return {processes, members};
    std::vector<std::int64_t> first{0};
    for (int m = 1; m < members; ++m)
        first.push_back(static_cast<std::int64_t>(random() % (static_cast<std::uint64_t>(processes) + 1)));
    first.push_back(processes);
    std::sort(first.begin(), first.end());
    return Hosts(first);
}

}  // namespace

TEST_CASE("each member gets the boxes of its processes, of the partition that one alone makes of the whole chain") {
    const Grid grids[] = {{{61, 47, 1}, {true, false, false}},
                          {{300, 4, 1}, {}},
                          {{1, 90, 1}, {}},
                          {{14, 9, 11}, {}, 3},
                          {{60, 3, 2}, {}, 3},
                          {{3, 2, 40}, {}, 3}};
    std::mt19937_64 random(11);
    const int teams[] = {2, 3, 5, 8, 13, 24};
    int limited = 0, infeasible = 0;
    for (int c = 0; c < 108; ++c) {
        const Grid& grid = grids[c % 6];
        PartitionOptions o;
        o.order = orders[c / 6 % 3];
        o.cut = cuts[c / 18 % 3];
        o.processes = 1 + static_cast<std::int64_t>(random() % 40);
        o.patches_per_process = 1 + static_cast<std::int64_t>(random() % 4);
        std::vector<std::int64_t> targets;
        for (std::int64_t p = 0; p < o.processes && c % 4 == 1; ++p)
            targets.push_back(1 + static_cast<std::int64_t>(random() % 9));
        const int members = teams[random() % 6];
        const Hosts hosts = random_hosts(random, o.processes, members);
        if (c % 3 == 2) o.max_size = 1 + 3 * grid.box().cells() / 2 / o.processes + static_cast<int>(random() % 12);
        CAPTURE(c, members, o.processes, o.patches_per_process, o.max_size);

        const SerialTeam alone;
        const auto [whole_chain, smallest] = make(alone, grid, {o.processes, 1}, o, targets);
        const auto made =
            ThreadTeam::run(members, [&](const Team& team) { return make(team, grid, hosts, o, targets); });
        const Partition all = whole(alone, whole_chain);
        for (int m = 0; m < members; ++m) {
            REQUIRE(made[m].smallest == smallest);
            if (smallest == 0) REQUIRE(made[m].boxes == hosted_of(all, hosts, m));
        }
        if (smallest == 0) REQUIRE(owners_of(grid, all) == expected_owners(grid, o, targets));
        limited += o.max_size > 0 && smallest == 0;
        infeasible += smallest > 0;
    }
    CHECK(limited > 5);
    CHECK(infeasible > 2);
}

TEST_CASE("what a member is told of patches does not grow with the team, on square and on long thin grids") {
    constexpr int a_member = 16;  // patches
    for (const PatchOrder order : orders)
        for (const int width : {4, 128}) {
            std::vector<std::int64_t> largest;
            for (const int members : {8, 128}) {
                const Grid grid{{128 * members * a_member / width, width, 1}};
                const std::vector<Box> all = even_partition(grid, members * a_member);
                struct Seen {
                    std::int64_t bytes, patches;
                };
                const auto seen = ThreadTeam::run(members, [&](const Team& team) -> Seen {
                    const std::int64_t first = a_member * team.rank();
                    const Leaves leaves{first, {all.begin() + first, all.begin() + first + a_member}};
                    const Patches patches = patches_in_order(team, grid, leaves, std::ssize(all), order, CutAt::cells);
                    return {ThreadTeam::counts_of(team).largest_transfer, std::ssize(patches.mine)};
                });
                largest.push_back(std::ranges::max(seen, {}, &Seen::bytes).bytes);
                CHECK(std::ranges::max(seen, {}, &Seen::patches).patches <= a_member + 1);
            }
            CAPTURE(static_cast<int>(order), width, largest[0], largest[1]);
            CHECK(largest[1] < 3 * largest[0]);  // 16 times as many patches
        }
}

TEST_CASE("members get shares of the patches and of the items, where patches are of very unequal sizes") {
    constexpr int members = 24;
    const Grid grid{{480, 240, 1}};
    std::vector<std::int64_t> load(grid.box().cells());
    for (int x = 0; x < grid.cells[0]; ++x)
        for (int y = 0; y < grid.cells[1]; ++y)
            load[place_in(grid.box(), x, y)] = x < 470 ? 1000 : 141'000;  // three quarters of it in a strip
    std::vector<Split> memory;
    constexpr std::int64_t all = 8 * members;
    const std::vector<Box> boxes = bisect(grid.box(), {grid.box(), load}, all, 1, memory);
    for (const PatchOrder order : orders) {
        struct Seen {
            std::int64_t patches, items;
        };
        const auto seen = ThreadTeam::run(members, [&](const Team& team) -> Seen {
            const std::int64_t first = 8 * team.rank();
            const Patches patches = patches_in_order(
                team, grid, {first, {boxes.begin() + first, boxes.begin() + first + 8}}, all, order, CutAt::cells);
            Seen s{std::ssize(patches.mine), 0};
            for (const Patch& p : patches.mine) s.items += p.box.cells();
            return s;
        });
        std::int64_t largest_patch = 0;
        for (const Box& b : boxes) largest_patch = std::max(largest_patch, b.cells());
        for (const Seen& s : seen) {
            CHECK(s.patches <= 2 * 8 + 1);
            CHECK(s.items <= 2 * grid.box().cells() / members + largest_patch);
        }
    }
}
