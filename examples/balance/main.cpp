// SPDX-License-Identifier: MIT
// Shares a grid of cells, in which those of a disc cost 50 times as much as the others, among 24 processes, and prints the
// load balance efficiency (mean over largest load) of each kind of partition.
#include <cstdio>

#include "balance/model/load_model.hpp"
#include "balance/partition/partition.hpp"

int main() {
    const balance::SerialTeam team;  // who balances together; an MPI program derives its own from balance::Team
    const balance::Grid grid{{100, 80, 1}};
    std::vector<std::int64_t> load;  // of each cell, column by column, in any unit: your measurement or estimate
    for (int x = 0; x < 100; ++x)
        for (int y = 0; y < 80; ++y) load.push_back((x - 30) * (x - 30) + (y - 50) * (y - 50) < 400 ? 50 : 1);

    const balance::SummedArea sums(grid.box(), load);
    for (const char* kind : {"none", "rcb", "chain"}) {
        const balance::PartitionOptions options{.kind = kind, .processes = 24};
        std::vector<balance::Split> memory;  // keep it from one balancing to the next, so that borders move little
        const balance::Partition cells = balance::make_partition({team, grid, load, {}}, options, memory);
        std::vector<double> of_process(24, 0.0);
        for (int p = 0; p < 24; ++p)
            for (auto b = cells.first[p]; b < cells.first[p + 1]; ++b) of_process[p] += sums.of(cells.boxes[b]);
        std::printf("%-5s  LBE %.3f\n", kind, balance::efficiency(of_process));
    }
}
