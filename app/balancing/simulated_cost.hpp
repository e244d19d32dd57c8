// SPDX-License-Identifier: MIT
// What the arithmetic of a balancing takes on a simulated cluster: time that its clock cannot see by itself.
#pragma once
#include <cstdint>

#include "comm/simulation.hpp"

namespace app {

/// Seconds of a part of a balancing: some, and some more for each process of the job and each cell that the part goes
/// through.
struct PartCost {
    double once, process, cell;
};

/// Measured on one core of an Intel Xeon with AVX-512, of 2023 or later, for 96 to 2400 processes and 0.26 to 2.1
/// million cells by tests/balance/bench_rates, rounded up. Cells: of the grid for tiles, bisection and chain, else of a
/// rank's home.
namespace cost {
inline constexpr PartCost tiles{0, 3.2e-6, 2e-10};          ///< of all processes: a decomposition
inline constexpr PartCost gathered{0, 3e-7, 0};             ///< a whole partition from its parts
inline constexpr PartCost fields{0, 6.5e-7, 0};             ///< a plan between homes and boxes
inline constexpr PartCost owners{0, 3e-7, 1e-9};            ///< of the cells at home
inline constexpr PartCost quality{0, 0, 9e-9};              ///< of a partition
inline constexpr PartCost counted{0, 0, 5.2e-8};            ///< counted work
inline constexpr PartCost model{0, 7e-7, 6.5e-8};           ///< r1, with its plan of fields
inline constexpr PartCost bisection{1e-3, 2.8e-6, 1.5e-9};  ///< into 8 patches a process
inline constexpr PartCost chain{0, 1.4e-6, 7e-9};           ///< cut between cells, on rank 0 alone
}  // namespace cost

/// Nothing where time is real.
inline void charge(const PartCost& part, std::int64_t processes, std::int64_t cells) {
    comm::compute(part.once + part.process * static_cast<double>(processes) + part.cell * static_cast<double>(cells));
}

}  // namespace app
