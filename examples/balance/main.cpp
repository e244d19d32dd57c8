// SPDX-License-Identifier: MIT
// Shares a grid of cells, in which those of a disc cost 50 times as much as the others, among 24 processes. Prints the
// load balance efficiency (mean over largest load): of each kind of partition when the costs are known; then of whole
// rounds of balancing, in which a load model has to find them, because only the time of each process can be measured.
#include <cstdio>

#include "balance/partition/partition.hpp"
#include "balance/partition/quality.hpp"
#include "balance/round.hpp"

int main() {
    const balance::SerialTeam team;  // who balances together; a program with MPI: examples/mpi
    const balance::Grid grid{{100, 80, 1}};
    constexpr int processes = 24;
    std::vector<std::int64_t> cost;           // of each cell, column by column: integers, in any unit
    std::vector<balance::CellCounts> counts;  // what a model sees: particles in the cell, in 3 x 3, in 5 x 5 cells
    for (int x = 0; x < 100; ++x)
        for (int y = 0; y < 80; ++y) {
            const bool in_disc = (x - 30) * (x - 30) + (y - 50) * (y - 50) < 400;
            cost.push_back(in_disc ? 50 : 1);
            const int n = in_disc ? 7 : 1;
            counts.push_back({n, 9 * n, 25 * n});
        }
    const balance::SummedArea sums(grid.box(), cost);
    const auto times_of = [&](const balance::Partition& cells) {
        std::vector<double> times(processes, 0.0);
        for (int p = 0; p < processes; ++p)
            for (auto b = cells.first[p]; b < cells.first[p + 1]; ++b) times[p] += 1e-6 * sums.of(cells.boxes[b]);
        return times;
    };

    for (const char* kind : {"none", "rcb", "chain"}) {
        balance::Scattered<balance::Split>
            memory;  // keep it from one balancing to the next, so that borders move little
        const balance::PartitionOptions options{.kind = kind, .processes = processes};
        const balance::Partition cells =
            balance::whole(team, balance::make_partition({team, grid, {processes, 1}, cost, {}}, options, memory));
        std::printf("%-5s  LBE %.3f\n", kind, balance::efficiency(times_of(cells)));
    }

    const balance::Meter meter;
    balance::Policy policy;
    policy.criterion.name = "every";
    policy.speeds = balance::SpeedSource::off;
    policy.partition.processes = processes;
    const balance::Setting setting{team, grid, {processes, team.size()}, policy, meter};
    balance::Balancing balancing = balance::make_balancing(setting, {}, "r1");
    balance::Partition cells = balance::one_box_each(balance::even_partition(grid, processes));
    for (int step = 0; step < 4; ++step) {
        const std::vector<double> times = times_of(cells);  // measure them in your program, a step
        std::printf("r1     LBE %.3f after %d balancings\n", balance::efficiency(times), step);
        balance::Measured measured;
        measured.moment = {step + 1, step, {}};
        measured.observed = balance::observe(setting, measured.moment, balance::MeasuredTimes{times, {}}, balancing);
        if (measured.observed->row.decision != balance::Decision::none) continue;  // a migration would not pay
        balance::RoundOutcome outcome = balance::rebalance(setting, {counts, {}}, measured, balancing);
        if (outcome.next) cells = balance::whole(team, outcome.next->hosted);
    }
}
