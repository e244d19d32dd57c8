// SPDX-License-Identifier: MIT
// Time of a balancing's arithmetic on a simulated cluster, because the simulated clock cannot see arithmetic by itself.
#pragma once
#include <array>
#include <cstdint>

#include "balance/round.hpp"
#include "comm/clock.hpp"
#include "comm/simulation.hpp"

namespace app {

/// Seconds of a part of a balancing: some, and some more for each process of the job and each cell that the part goes
/// through.
struct PartCost {
    double once, process, cell;
};

/// Source: bench/bench_rates on one core of an AMD EPYC with AVX-512, of 2024 or later, rounded up. It covered 96 to
/// 2400 processes and 0.26 to 130 million cells. The sums of `quality` are those of over_all() by itself. On an Intel
/// Xeon of 2023 most costs were twice as large.
///
/// Cells are those of a rank's home, with three exceptions. `lines` counts lines of cells that ranks cut together.
/// `model` counts the cells of hosted processes, if the model is not additive. `chain` counts the items of a leader.
///
/// Processes are those of the job, with three exceptions. `chain` counts the parts that sweeps go through. `tiles`,
/// `fields` and `owners` count the processes that a rank knows around it. `bisection` counts those that a rank cuts
/// itself.
namespace cost {
inline constexpr PartCost tiles{3e-5, 7e-8, 1e-9};        ///< A rank's decomposition and the plan of its halo.
inline constexpr PartCost fields{5e-6, 6e-9, 7.5e-10};    ///< A plan between homes and boxes, and packing.
inline constexpr PartCost around{1e-5, 0, 4e-9};          ///< Counts of the cells around each cell.
inline constexpr PartCost owners{0, 9e-9, 4e-10};         ///< Owners of the cells at home.
inline constexpr PartCost quality{2e-6, 2.5e-9, 2.5e-9};  ///< Quality of a partition. Processes: numbers in sums.
inline constexpr PartCost sums{1.5e-6, 0, 4e-10};         ///< Sums over the pieces of processes in a home.
inline constexpr PartCost counted{0, 0, 4.5e-9};          ///< Counted work.
inline constexpr PartCost model{0, 1.9e-8, 8.5e-9};       ///< The model r1.
inline constexpr PartCost lines{0, 0, 2e-8};              ///< Lines of the bisection's first levels.
inline constexpr PartCost bisection{1e-4, 1.5e-5, 1e-8};  ///< Bisection into 8 patches a process.
inline constexpr PartCost chain{0, 1.2e-8, 1.4e-9};       ///< Chain of a leader, with unequal targets.
inline constexpr PartCost speeds{0, 4e-8, 0};             ///< Speeds of the hosted processes (estimated).
inline constexpr PartCost medians{0, 5e-8, 0};            ///< Medians on rank 0 over processes (estimated).
}  // namespace cost

/// Cost of each balance::RoundPart, in its order.
inline constexpr std::array part_costs{cost::fields,  cost::around, cost::counted,   cost::owners,
                                       cost::model,   cost::lines,  cost::bisection, cost::chain,
                                       cost::quality, cost::sums,   cost::speeds,    cost::medians};

/// Nothing where time is real.
inline void charge(const PartCost& part, std::int64_t processes, std::int64_t cells) {
    comm::compute(part.once + part.process * static_cast<double>(processes) + part.cell * static_cast<double>(cells));
}

/// Spends simulated time on the parts of a round, and reads the clock for it.
class RoundMeter final : public balance::Meter {
public:
    void part(balance::RoundPart part, std::int64_t processes, std::int64_t cells) const override {
        charge(part_costs[static_cast<int>(part)], processes, cells);
    }
    double now() const override { return comm::now(); }
};

}  // namespace app
