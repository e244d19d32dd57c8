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

/// Measured on one core of an Intel Xeon with AVX-512, of 2023 or later, for 96 to 2400 processes and 0.26 to 2.1
/// million cells by bench/bench_rates, rounded up. Cells: of the grid for tiles, lines of cells that ranks cut together
/// for lines, else of a rank's home. For the chain, processes are the parts that sweeps go through, and cells the items
/// that a leader collects.
namespace cost {
inline constexpr PartCost tiles{1e-4, 2.5e-7, 5e-11};       ///< around a rank: a decomposition and a plan of its halo
inline constexpr PartCost gathered{0, 2.5e-7, 0};           ///< a whole partition from its parts
inline constexpr PartCost fields{1e-5, 2.2e-8, 0};          ///< a plan between homes and boxes
inline constexpr PartCost owners{0, 2e-8, 1e-9};            ///< of the cells at home
inline constexpr PartCost even{0, 6e-8, 0};                 ///< the even partition
inline constexpr PartCost quality{0, 0, 9e-9};              ///< of a partition
inline constexpr PartCost counted{0, 0, 5.2e-8};            ///< counted work
inline constexpr PartCost model{0, 7e-8, 6.5e-8};           ///< r1, with its plan of fields
inline constexpr PartCost lines{0, 0, 1.1e-8};              ///< of the bisection's first levels
inline constexpr PartCost bisection{1.5e-4, 2.5e-7, 7e-9};  ///< into 8 patches a process, sorted along the curve
inline constexpr PartCost chain{0, 2e-8, 1.5e-9};         ///< by a leader, with unequal targets
}  // namespace cost

/// Of each balance::RoundPart, in its order.
inline constexpr std::array part_costs{cost::gathered, cost::fields, cost::counted,   cost::owners, cost::even,
                                       cost::model,    cost::lines,  cost::bisection, cost::chain,  cost::quality};

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
