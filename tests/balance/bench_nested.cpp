// SPDX-License-Identifier: MIT
// bench_nested [FILE]: what the nested partition is worth and what it costs, as tables and, in FILE, as JSON.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "balance/partition/bisection.hpp"
#include "balance/partition/levels.hpp"
#include "paper_loads.hpp"

using namespace balance;

namespace {
std::int64_t held = 0, most_held = 0;  // bytes
}
void* operator new(std::size_t bytes) {
    void* p = std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc();
    held += static_cast<std::int64_t>(malloc_usable_size(p));
    most_held = std::max(most_held, held);
    return p;
}
void operator delete(void* p) noexcept {
    held -= p == nullptr ? 0 : static_cast<std::int64_t>(malloc_usable_size(p));
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void model_test() {
    const SerialTeam alone;
    const Grid grid = paper_grid();
    std::printf(
        "load      accelerators nodes     lbe  remote contacts between-nodes between-cpus  inside distance "
        "shortfall\n");
    for (const bool slab : {false, true}) {
        const std::vector<std::int64_t> load = slab ? slab_load(grid) : std::vector<std::int64_t>{};
        for (const int accelerators : {0, 3, -1})
            for (int nodes = 1; nodes <= 32; nodes *= 2) {
                double worst = 2;
                for (int seed = 1; seed <= (accelerators < 0 ? 20 : 1); ++seed) {
                    const Machine machine = paper_machine(nodes, accelerators, seed);
                    const NestedPartition p = nested_partition(alone, grid, load, machine, {});
                    const NestedQuality q = quality_of(alone, grid, load, machine, p, 1);
                    if (q.lbe_model >= worst) continue;
                    worst = q.lbe_model;
                    std::int64_t remote = 0;
                    const auto resources = resources_of(machine);
                    double shortfall = 0;
                    for (std::size_t r = 0; r < resources.size(); ++r) {
                        if (resources[r].kind == ResourceKind::accelerator) remote += q.remote_cells[r];
                        shortfall = std::max(shortfall, p.shortfall[r]);
                    }
                    std::printf("%-9s %12d %5d %7.4f %7ld %8ld %13ld %12ld %7ld %8.2f %9.4f\n",
                                slab ? "slab" : "uniform", accelerators, nodes, q.lbe_model, remote,
                                q.other_cpu_contacts, q.ghosts_between_nodes, q.ghosts_between_cpus, q.ghosts_inside,
                                q.node_distance, shortfall);
                }
            }
    }
}

// The nested partition against recursive bisection into boxes with the same targets.
void against_bisection() {
    const SerialTeam alone;
    const Grid grid = paper_grid();
    std::printf("load    accelerators nodes   nodes nested/bisection ratio      cpus nested/bisection ratio\n");
    for (const bool slab : {false, true}) {
        const std::vector<std::int64_t> load = slab ? slab_load(grid) : std::vector<std::int64_t>{};
        const SummedArea sums(grid.box(), load);
        for (const int accelerators : {0, 3, -1})
            for (int nodes = 2; nodes <= 32; nodes *= 2) {
                const Machine machine = paper_machine(nodes, accelerators);
                std::vector<PartNeed> needs;
                std::vector<double> targets;
                for (const NodeSpec& n : machine.nodes) {
                    needs.push_back({n.speed(), n.resources()});
                    targets.push_back(n.speed());
                }
                const std::vector<Region> nested = node_regions(alone, grid, load, !slab, needs);
                std::vector<Split> memory;
                std::vector<Region> bisected;
                std::int64_t cpus = 0, cpus_bisected = 0;
                for (const Box& b : bisect(alone, grid.box(), sums, nodes, 1, memory, targets)) {
                    bisected.push_back({b});
                    std::vector<Split> none;
                    std::vector<Region> halves;
                    for (const Box& half : bisect(alone, b, sums, 2, 1, none)) halves.push_back({half});
                    cpus_bisected += ghosts_between(grid, halves);
                }
                const CellLoads cells(grid.box(), load);
                for (const Region& r : nested)
                    cpus += ghosts_between(grid, split_exactly(r, cells, std::vector<PartNeed>(2, {12, 12}), 1e-3));
                const std::int64_t a = ghosts_between(grid, nested), b = ghosts_between(grid, bisected);
                std::printf("%-8s %3d %6d %10ld %8ld %6.3f %10ld %8ld %6.3f\n", slab ? "slab" : "uniform", accelerators,
                            nodes, a, b, double(a) / double(b), cpus, cpus_bisected,
                            double(cpus) / double(cpus_bisected));
            }
    }
}

// Level 1 of 1.3e8 cells from the loads of blocks, which are those of the slabs on a coarser grid.
void level_one() {
    std::printf("cells       nodes  blocks  level 1, seconds   lbe of nodes\n");
    for (const int side : {10, 20, 40}) {
        const Grid grid{{800 * side, 160 * side, 1}, {true, true, false}};
        const Grid coarse{{800, 160, 1}, {true, true, false}};
        std::vector<std::int64_t> blocks = slab_load(coarse);
        for (const int nodes : {100, 400, 1600}) {
            std::vector<Region> regions;
            const double seconds = seconds_of([&] {
                const BlockLoads loads(grid, blocks, side);
                for (SplitPart& p : split_region({grid.box()}, loads, std::vector<PartNeed>(nodes, {60, 27}), 1e-3))
                    regions.push_back(std::move(p.region));
            });
            const BlockLoads loads(grid, blocks, side);
            double total = 0, most = 0;
            for (const Region& r : regions) {
                const auto load = static_cast<double>(load_in(r, loads));
                total += load, most = std::max(most, load);
            }
            std::printf("%10ld %6d %7ld %10.3f %19.4f\n", grid.box().cells(), nodes, coarse.box().cells(), seconds,
                        total / nodes / most);
        }
    }
}

// Levels 2 and 3 of one node.
void levels_two_and_three() {
    std::printf("cells of a node   levels 2 and 3, seconds   ns a cell\n");
    for (int side = 100; side <= 3200; side *= 2) {
        const Grid grid{{2 * side, side, 1}, {false, false, false}};
        const std::vector<std::int64_t> load = slab_load(grid);
        const NodeParts parts{std::vector<PartNeed>(2, {12, 12}), std::vector<double>(3, 12.0)};
        const Region region{grid.box()};
        const double seconds = seconds_of([&] {
            const CellLoads loads(grid.box(), load);
            divide_node({grid, region, loads, parts, 1}, NestedAlgorithm::inner_outer);
        });
        const auto cells = static_cast<double>(grid.box().cells());
        std::printf("%15.0f %25.4f %11.1f\n", cells, seconds, 1e9 * seconds / cells);
    }
}

// A member of a large team, which is not there.
class OneOfMany final : public Team {
public:
    OneOfMany(int rank, int size) : rank_(rank), size_(size) {}
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void sum(std::span<std::int64_t> values) const override { std::fill(values.begin(), values.end(), 100'000); }
    void max(std::span<std::int64_t>) const override {}
    std::vector<std::byte> gather(std::span<const std::byte>) const override { return {}; }
    void broadcast(std::span<std::byte>) const override {}
    std::unique_ptr<Channel> channel() const override { return nullptr; }
    std::unique_ptr<Team> split(int) const override { return nullptr; }

private:
    int rank_, size_;
};

// One thread does what one process of many does, without the messages. The memory is the most that it held at a time.
void many_processes() {
    std::printf(
        "processes (24 a node)  level 1 s  plan s  own node s  boxes a node  node boxes MiB  peak MiB  bytes a process "
        "beyond boxes\n");
    for (const int processes : {4096, 16384, 65536, 262144, 1000000}) {
        const int nodes = (processes + 23) / 24, across = static_cast<int>(std::sqrt(processes * 50.0));
        const Grid grid{{2 * across, across, 1}, {true, true, false}};  // 100 cells a process
        const OneOfMany team(processes / 2, processes);
        const Homes homes{grid, processes};
        const std::vector<std::int64_t> load(homes.of(team.rank()).cells(), 1000);
        const std::int64_t before = held;
        most_held = held;
        std::vector<Region> regions;
        const double level_one = seconds_of([&] {
            regions = node_regions(team, grid, load, false, std::vector<PartNeed>(nodes, {24, 24}));
        });
        std::size_t bytes = regions.capacity() * sizeof(Region), boxes = 0;
        for (const Region& r : regions) bytes += r.capacity() * sizeof(Box), boxes += r.size();
        const double plan = seconds_of([&] {
            NodeBoxes list(regions, processes);
            FieldPlan(team, homes, {list.boxes, std::move(list.first)});
        });
        const NodeParts parts{std::vector<PartNeed>(2, {12, 12}), {}};
        const double own = seconds_of([&] {
            divide_node({grid, regions[nodes / 2], CellCounts{}, parts, 1}, NestedAlgorithm::inner_outer);
        });
        std::printf("%20d %10.3f %7.3f %11.5f %13.2f %15.2f %9.2f %12.1f\n", processes, level_one, plan, own,
                    static_cast<double>(boxes) / nodes, static_cast<double>(bytes) / 1048576,
                    static_cast<double>(most_held - before) / 1048576,
                    static_cast<double>(most_held - before - static_cast<std::int64_t>(bytes)) / processes);
    }
}

void three_dimensions() {
    std::printf("600 x 400 x 400, uniform, 3 accelerators: nodes  algorithm  lbe  remote  seconds  quality, seconds\n");
    const SerialTeam alone;
    const Grid grid{{600, 400, 400}, {false, false, false}};
    for (const int nodes : {1, 8, 32})
        for (const NestedAlgorithm algorithm : {NestedAlgorithm::greedy, NestedAlgorithm::inner_outer}) {
            const Machine machine = paper_machine(nodes, 3);
            NestedPartition p;
            NestedQuality q;
            const double partition = seconds_of([&] {
                p = nested_partition(alone, grid, {}, machine, {algorithm, 1});
            });
            const double quality = seconds_of([&] { q = quality_of(alone, grid, {}, machine, p, 1); });
            const auto resources = resources_of(machine);
            std::int64_t remote = 0;
            for (std::size_t r = 0; r < resources.size(); ++r)
                if (resources[r].kind == ResourceKind::accelerator) remote += q.remote_cells[r];
            std::printf("%6d %-11s %7.4f %9ld %8.3f %8.3f boxes %ld contacts %ld\n", nodes,
                        algorithm == NestedAlgorithm::greedy ? "greedy" : "inner_outer", q.lbe_model, remote, partition,
                        quality, static_cast<long>(p.boxes.size()), q.other_cpu_contacts);
        }
}

}  // namespace

int main() {
    level_one();
    levels_two_and_three();
    many_processes();
    three_dimensions();
    against_bisection();
    std::printf("%.3f s\n", seconds_of(model_test));
}
