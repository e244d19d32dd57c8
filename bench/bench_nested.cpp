// SPDX-License-Identifier: MIT
// bench_nested [FILE]: costs of the nested partition, and its ghost cells against those of a bisection. Prints tables,
// and writes them as JSON to FILE. scripts/reproduce/nested.py makes the tests of the paper.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <string>

#include "balance/nested/levels.hpp"
#include "balance/partition/bisection.hpp"
#include "paper_loads.hpp"

using namespace balance;

// Bytes in use, and the most since somebody looked.
static std::int64_t held = 0, most_held = 0;
__attribute__((noinline)) void* operator new(std::size_t bytes) {
    void* p = std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc();
    held += static_cast<std::int64_t>(malloc_usable_size(p));
    most_held = std::max(most_held, held);
    return p;
}
__attribute__((noinline)) void operator delete(void* p) noexcept {
    if (p != nullptr) held -= static_cast<std::int64_t>(malloc_usable_size(p));
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

// Rows of numbers under their names.
struct Table {
    std::string name, says;
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;

    void add(std::vector<double> row) {
        if (rows.empty()) {
            std::printf("\n%s: %s\n", name.c_str(), says.c_str());
            for (const std::string& c : columns) std::printf("%*s", width_of(c), c.c_str());
            std::printf("\n");
        }
        for (std::size_t i = 0; i < row.size(); ++i) std::printf("%*.6g", width_of(columns[i]), row[i]);
        std::printf("\n");
        std::fflush(stdout);
        rows.push_back(std::move(row));
    }
    std::string json() const {
        std::string text = "  \"" + name + "\": [";
        for (std::size_t r = 0; r < rows.size(); ++r) {
            text += r == 0 ? "\n    {" : ",\n    {";
            for (std::size_t i = 0; i < columns.size(); ++i) {
                char number[32];
                std::snprintf(number, sizeof number, "%.10g", rows[r][i]);
                text += (i == 0 ? "\"" : ", \"") + columns[i] + "\": " + number;
            }
            text += "}";
        }
        return text + "\n  ]";
    }

private:
    static int width_of(const std::string& column) { return std::max<int>(13, static_cast<int>(column.size()) + 2); }
};

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Table against_bisection() {
    Table table{
        "against_bisection",
        "ghosts between nodes and, without accelerators, between the two CPUs of a node, against boxes by bisect()",
        {"slab", "accelerators", "nodes", "between_nodes", "of_boxes", "ratio", "between_cpus", "of_halves",
         "ratio_cpus", "ratio_both"},
        {}};
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
    return table;
}

Table level_one() {
    Table table{"level_one",
                "level 1 from the loads of blocks, those of the slabs on a coarser grid",
                {"cells", "nodes", "blocks", "seconds", "lbe_of_nodes"},
                {}};
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
    return table;
}

Table levels_two_and_three() {
    Table table{"levels_two_and_three",
                "one node of 2 CPUs of 12 cores and 3 accelerators, slabs",
                {"cells", "seconds", "ns_a_cell"},
                {}};
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
    return table;
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

Table many_processes() {
    Table table{
        "many_processes",
        "24 processes a node, 100 cells a process: one thread does what one process would, but for messages; the "
        "most memory that it holds at a time",
        {"processes", "level_one_s", "plan_s", "own_node_s", "boxes_a_node", "node_boxes_mib", "peak_mib",
         "other_bytes_a_process"},
        {}};
    for (const int processes : {4096, 16384, 65536, 262144, 1000000}) {
        const int nodes = (processes + 23) / 24, across = static_cast<int>(std::sqrt(processes * 50.0));
        const Grid grid{{2 * across, across, 1}, {true, true, false}};
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
            const Range here = block(nodes, team.rank(), processes);
            std::vector<Box> mine;
            for (std::int64_t n = here.begin; n < here.end; ++n)
                mine.insert(mine.end(), regions[n].begin(), regions[n].end());
            FieldPlan(team, homes, mine);
        });
        const NodeParts parts{std::vector<PartNeed>(2, {12, 12}), {}};
        const double own = seconds_of([&] {
            divide_node({grid, regions[nodes / 2], UniformLoads{}, parts, 1}, NestedAlgorithm::inner_outer);
        });
        const auto peak = static_cast<double>(most_held - before), of_boxes = static_cast<double>(bytes);
        table.add({double(processes), level_one, plan, own, double(boxes) / nodes, of_boxes / 1048576, peak / 1048576,
                   (peak - of_boxes) / processes});
    }
    return table;
}

}  // namespace

int main(int arguments, char** argument) {
    std::string text;
    for (const auto& measure : {level_one, levels_two_and_three, many_processes, against_bisection})
        text += (text.empty() ? "{\n" : ",\n") + measure().json();
    if (arguments > 1) std::ofstream(argument[1]) << text << "\n}\n";
}
