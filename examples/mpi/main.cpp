// SPDX-License-Identifier: MIT
// Shares a grid of cells, in which those of a disc cost 50 times as much as the others, among 24 processes, by as many
// MPI ranks as there are. Each rank knows the costs of its home alone. Prints the load balance efficiency, which does
// not depend on the number of ranks.
#include <mpi.h>

#include <cstdio>

#include "balance/partition/partition.hpp"
#include "balance/partition/quality.hpp"
#include "comm/mpi/from_mpi.hpp"
#include "comm/team.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {  // what holds an MPI communicator ends before MPI_Finalize
        const comm::Ranks team(comm::from_mpi(MPI_COMM_WORLD));
        const balance::Grid grid{{100, 80, 1}};
        constexpr int processes = 24;
        const balance::Box home = balance::Homes{grid, team.size()}.of(team.rank());
        std::vector<std::int64_t> cost;  // of each cell of the home, column by column: integers, in any unit
        for (int x = home.lower[0]; x < home.upper[0]; ++x)
            for (int y = home.lower[1]; y < home.upper[1]; ++y)
                cost.push_back((x - 30) * (x - 30) + (y - 50) * (y - 50) < 400 ? 50 : 1);
        balance::Scattered<balance::Split>
            memory;  // keep it from one balancing to the next, so that borders move little
        const balance::Hosts hosts(processes, team.size());  // which rank has which processes
        const balance::ProcessBoxes hosted =                 // the cells of the processes of this rank
            balance::make_partition({team, grid, hosts, cost, {}}, {.processes = processes}, memory);
        const balance::Partition cells = balance::whole(team, hosted);  // of all processes
        const double lbe = balance::efficiency(sums_by_process(team, {grid, home, all_of(cells)}, cost, processes));
        if (team.rank() == 0) std::printf("LBE %.3f\n", lbe);
    }
    MPI_Finalize();
}
