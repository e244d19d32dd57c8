// SPDX-License-Identifier: MIT
// What the arithmetic of a balancing takes on a simulated cluster: time that its clock cannot see by itself.
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

/// Measured on one core of an AMD EPYC with AVX-512, of 2024 or later, for 96 to 2400 processes and 0.26 to 130 million
/// cells by bench/bench_rates, rounded up (numbers that are added up: over_all() by itself); on an
/// Intel Xeon of 2023 most were twice as long. Cells: of a rank's home, but lines of cells that ranks cut together for
/// lines, and of hosted processes for a model that is not additive. For the chain, processes are the parts that sweeps
/// go through, and cells the items that a leader collects; for tiles, fields and owners they are those that a rank
/// knows around it, for the bisection those that it cuts itself.
namespace cost {
inline constexpr PartCost tiles{3e-5, 7e-8, 1e-9};        ///< around a rank: a decomposition and a plan of its halo
inline constexpr PartCost fields{5e-6, 6e-9, 7.5e-10};    ///< a plan between homes and boxes; a number that is packed
inline constexpr PartCost around{1e-5, 0, 4e-9};          ///< what is in the cells around each
inline constexpr PartCost owners{0, 9e-9, 4e-10};         ///< of the cells at home
inline constexpr PartCost quality{2e-6, 2.5e-9, 2.5e-9};  ///< of a partition; processes: numbers that are added up
inline constexpr PartCost sums{1.5e-6, 0, 4e-10};         ///< of what processes have in a home
inline constexpr PartCost counted{0, 0, 4.5e-9};          ///< counted work
inline constexpr PartCost model{0, 1.9e-8, 8.5e-9};       ///< r1
inline constexpr PartCost lines{0, 0, 2e-8};              ///< of the bisection's first levels
inline constexpr PartCost bisection{1e-4, 1.5e-5, 1e-8};  ///< into 8 patches a process
inline constexpr PartCost chain{0, 1.2e-8, 1.4e-9};       ///< by a leader, with unequal targets
inline constexpr PartCost speeds{0, 4e-8, 0};             ///< of the hosted processes; estimated, as medians are
inline constexpr PartCost medians{0, 5e-8, 0};            ///< on rank 0, of all processes or of some of many
}  // namespace cost

/// Of each balance::RoundPart, in its order.
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
