// SPDX-License-Identifier: MIT
// Computing time of a balancing on a simulated cluster. The simulated clock counts messages alone, so the time of
// arithmetic is added from a table.
#pragma once
#include <array>
#include <cstdint>

#include "balance/round.hpp"
#include "comm/clock.hpp"
#include "comm/simulation.hpp"

namespace app {

/// Cost of one phase of a balancing (balance::RoundPart) on one rank, in seconds.
///
/// once: for each call.
///
/// process: for each process that the phase goes through.
///
/// cell: for each cell that the phase goes through.
struct PartCost {
    double once, process, cell;
};

/// The costs were measured by bench/bench_rates and rounded up. The processor was one core of an AMD EPYC with AVX-512,
/// of 2024 or later. There were 96 to 2400 processes and 0.26 to 130 million cells. The sums of `quality` were measured
/// with over_all() alone. On an Intel Xeon of 2023 most costs were twice as large.
///
/// Most phases go through the cells of a rank's home. There are three exceptions. The phase `lines` goes through lines
/// of cells that ranks cut together. The phase `model` goes through the cells of the hosted processes, if the model is
/// not additive. The phase `chain` goes through the items of a leader.
///
/// Most phases go through all processes of the job. There are three exceptions. The phase `chain` counts a process each
/// time that a sweep reaches its piece. The phases `tiles`, `fields` and `owners` go through the processes around the
/// rank. The phase `bisection` goes through the processes whose patches the rank cuts alone.
namespace cost {
inline constexpr PartCost tiles{3e-5, 7e-8, 1e-9};        ///< A rank's decomposition and the plan of its halo.
inline constexpr PartCost fields{5e-6, 6e-9, 7.5e-10};    ///< A plan between homes and boxes, and packing.
inline constexpr PartCost around{1e-5, 0, 4e-9};          ///< Counts of the cells around each cell.
inline constexpr PartCost owners{0, 9e-9, 4e-10};         ///< Owners of the cells at home.
inline constexpr PartCost quality{2e-6, 2.5e-9, 2.5e-9};  ///< Quality of a partition. Processes: numbers in sums.
inline constexpr PartCost sums{1.5e-6, 0, 4e-10};         ///< Sums over the cells that a process has in a home.
inline constexpr PartCost counted{0, 0, 4.5e-9};          ///< Counted work.
inline constexpr PartCost model{0, 1.9e-8, 8.5e-9};       ///< The model r1.
inline constexpr PartCost lines{0, 0, 2e-8};              ///< Lines of the bisection's first levels.
inline constexpr PartCost bisection{1e-4, 1.5e-5, 1e-8};  ///< Bisection into 8 patches a process.
inline constexpr PartCost chain{0, 1.2e-8, 1.4e-9};       ///< Cuts found by a leader, with unequal targets.
inline constexpr PartCost speeds{0, 4e-8, 0};             ///< Speeds of the hosted processes (estimated).
inline constexpr PartCost medians{0, 5e-8, 0};            ///< Medians on rank 0 over processes (estimated).
/// Partitions that one rank makes. The mean of `compact` and `nested`, which took a fifth to five times as long.
inline constexpr PartCost whole{0, 2e-5, 1e-7};
}  // namespace cost

/// Cost of each balance::RoundPart, in its order.
inline constexpr std::array part_costs{cost::fields, cost::around,    cost::counted, cost::owners,  cost::model,
                                       cost::lines,  cost::bisection, cost::chain,   cost::quality, cost::sums,
                                       cost::speeds, cost::medians,   cost::whole};

/// Spends the simulated time of a phase. Does nothing if the cluster is not simulated.
inline void charge(const PartCost& part, std::int64_t processes, std::int64_t cells) {
    comm::compute(part.once + part.process * static_cast<double>(processes) + part.cell * static_cast<double>(cells));
}

/// Spends the simulated time of each phase of a balancing, and reads the simulated clock.
class RoundMeter final : public balance::Meter {
public:
    void part(balance::RoundPart part, std::int64_t processes, std::int64_t cells) const override {
        charge(part_costs[static_cast<int>(part)], processes, cells);
    }
    double now() const override { return comm::now(); }
};

}  // namespace app
