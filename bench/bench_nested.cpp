// SPDX-License-Identifier: MIT
// bench_nested: costs of the nested partition, and its ghost cells against those of a bisection. Prints tables. The
// script scripts/reproduce/nested.py makes the tests of the paper.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include "balance/nested/levels.hpp"
#include "balance/partition/bisection.hpp"
#include "paper_loads.hpp"
#include "turn_team.hpp"

using namespace balance;

namespace {

// Prints rows of numbers under their names.
class Table {
public:
    Table(const char* says, std::vector<std::string> columns) : columns_(std::move(columns)) {
        std::printf("\n%s\n", says);
        for (const std::string& c : columns_) std::printf("%*s", width_of(c), c.c_str());
        std::printf("\n");
    }
    void add(const std::vector<double>& row) const {
        for (std::size_t i = 0; i < row.size(); ++i) std::printf("%*.6g", width_of(columns_[i]), row[i]);
        std::printf("\n");
        std::fflush(stdout);
    }

private:
    std::vector<std::string> columns_;
    static int width_of(const std::string& column) { return std::max<int>(13, static_cast<int>(column.size()) + 2); }
};

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void against_bisection() {
    const Table table(
        "against_bisection: ghosts between nodes and, without accelerators, between the two CPUs of a node, against "
        "boxes by bisect()",
        {"slab", "accelerators", "nodes", "between_nodes", "of_boxes", "ratio", "between_cpus", "of_halves",
         "ratio_cpus", "ratio_both"});
    const SerialTeam alone;
    const Grid grid = paper_grid();
    for (const bool slab : {false, true}) {
        const std::vector<std::int64_t> load = slab ? slab_load(grid) : std::vector<std::int64_t>{};
        const SummedArea sums(grid.box(), load);
        const LoadsByCell cells(grid.box(), load);
        for (const int accelerators : {0, 3, -1})
            for (int nodes = 4; nodes <= 32; nodes *= 2) {
                std::vector<PartNeed> needs;
                std::vector<double> targets;
                for (const NodeSpec& n : paper_machine(nodes, accelerators).nodes) {
                    needs.push_back({n.speed(), n.resources()});
                    targets.push_back(n.speed());
                }
                std::vector<Split> memory;
                std::vector<Region> boxes;
                std::int64_t cpus = 0, halves = 0;
                for (const Box& b : bisect(grid.box(), sums, nodes, 1, memory, targets)) {
                    std::vector<Split> none;
                    std::vector<Region> of_box;
                    for (const Box& half : bisect(b, sums, 2, 1, none)) of_box.push_back({half});
                    halves += ghosts_between(grid, of_box);
                    boxes.push_back({b});
                }
                const std::vector<Region> regions = node_regions(alone, grid, load, !slab, needs);
                for (const Region& r : regions)
                    cpus += ghosts_between(grid, split_exactly(r, cells, std::vector<PartNeed>(2, {12, 12}), 1e-3));
                const auto a = double(ghosts_between(grid, regions)), b = double(ghosts_between(grid, boxes));
                table.add({double(slab), double(accelerators), double(nodes), a, b, a / b, double(cpus), double(halves),
                           double(cpus) / double(halves), (a + double(cpus)) / (b + double(halves))});
            }
    }
}

void level_one() {
    const Table table("level_one: level 1 from the loads of blocks, those of the slabs on a coarser grid",
                      {"cells", "nodes", "blocks", "seconds", "lbe_of_nodes"});
    const Grid coarse{{800, 160, 1}, {true, true, false}};
    const std::vector<std::int64_t> blocks = slab_load(coarse);
    for (const int side : {8, 16, 32, 64})
        for (const int nodes : {100, 400, 1600}) {
            const Grid grid{{800 * side, 160 * side, 1}, {true, true, false}};
            std::vector<SplitPart> parts;
            const double seconds = seconds_of([&] {
                parts = split_region({grid.box()}, BlockLoads(grid, blocks, side),
                                     std::vector<PartNeed>(nodes, {60, 27}), 1e-3);
            });
            const BlockLoads loads(grid, blocks, side);
            double total = 0, most = 0;
            for (const SplitPart& p : parts) {
                const auto load = static_cast<double>(load_in(p.region, loads));
                total += load, most = std::max(most, load);
            }
            table.add(
                {double(grid.box().cells()), double(nodes), double(blocks.size()), seconds, total / nodes / most});
        }
}

void levels_two_and_three() {
    const Table table("levels_two_and_three: one node of 2 CPUs of 12 cores and 3 accelerators, slabs",
                      {"cells", "seconds", "ns_a_cell"});
    for (int side = 100; side <= 3200; side *= 2) {
        const Grid grid{{2 * side, side, 1}, {false, false, false}};
        const std::vector<std::int64_t> load = slab_load(grid);
        const NodeParts parts{std::vector<PartNeed>(2, {12, 12}), std::vector<double>(3, 12.0)};
        const Region region{grid.box()};
        const double seconds = seconds_of([&] {
            const LoadsByCell loads(grid.box(), load);
            divide_node({grid, region, loads, parts, 1}, NestedAlgorithm::inner_outer);
        });
        const auto cells = static_cast<double>(grid.box().cells());
        table.add({cells, seconds, 1e9 * seconds / cells});
    }
}

// A member of a large team that is not there: what the others would add to sums is made up.
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
    std::vector<std::byte> pass_on(int, std::span<const std::byte>) const override { return {}; }
    std::unique_ptr<Team> split(int) const override { return nullptr; }

private:
    int rank_, size_;
};

void many_processes() {
    const Table table(
        "many_processes: 24 processes a node, 100 cells a process: one thread does what one process would, but for "
        "messages; the "
        "most memory that it holds at a time",
        {"processes", "level_one_s", "plan_s", "own_node_s", "boxes_a_node", "node_boxes_mib", "peak_mib",
         "other_bytes_a_process"});
    for (const int processes : {4096, 16384, 65536, 262144, 1000000}) {
        const int nodes = (processes + 23) / 24, across = static_cast<int>(std::sqrt(processes * 50.0));
        const Grid grid{{2 * across, across, 1}, {true, true, false}};
        const OneOfMany team(processes / 2, processes);
        const Homes homes{grid, processes};
        const std::vector<std::int64_t> load(homes.of(team.rank()).cells(), 1000);
        static turns::Memory memory;  // some of what it is charged for may outlive the loop
        memory = {};
        turns::charged = &memory;
        std::vector<Region> regions;
        const double level_one = seconds_of([&] {
            regions = node_regions(team, grid, load, false, std::vector<PartNeed>(nodes, {24, 24}));
        });
        std::size_t bytes = regions.capacity() * sizeof(Region), boxes = 0;
        for (const Region& r : regions) bytes += r.capacity() * sizeof(Box), boxes += r.size();
        const double plan = seconds_of([&] {
            const IndexRange here = block(nodes, team.rank(), processes);
            std::vector<Box> mine;
            for (std::int64_t n = here.begin; n < here.end; ++n)
                mine.insert(mine.end(), regions[n].begin(), regions[n].end());
            FieldPlan(team, homes, mine);
        });
        const NodeParts parts{std::vector<PartNeed>(2, {12, 12}), {}};
        const double own = seconds_of([&] {
            divide_node({grid, regions[nodes / 2], UniformLoads{}, parts, 1}, NestedAlgorithm::inner_outer);
        });
        turns::charged = nullptr;
        const auto peak = static_cast<double>(memory.most), of_boxes = static_cast<double>(bytes);
        table.add({double(processes), level_one, plan, own, double(boxes) / nodes, of_boxes / 1048576, peak / 1048576,
                   (peak - of_boxes) / processes});
    }
}

}  // namespace

int main() {
    for (const auto& measure : {level_one, levels_two_and_three, many_processes, against_bisection}) measure();
}
