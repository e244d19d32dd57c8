// SPDX-License-Identifier: MIT
// bench_nested [FILE]: what the nested partition is worth and what it costs, as tables and, in FILE, as JSON.
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>

#include "balance/partition/bisection.hpp"
#include "balance/partition/levels.hpp"
#include "paper_loads.hpp"

using namespace balance;

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

}  // namespace

int main() { std::printf("%.3f s\n", seconds_of(model_test)); }
