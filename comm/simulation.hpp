// SPDX-License-Identifier: MIT
// What a run on a simulated cluster needs beyond MPI (docs/simulation.md). The simulator counts the time of messages by
// itself; the time of arithmetic is what the program says that it would take. Elsewhere nothing here does anything.
#pragma once
#include <string>

namespace comm {

#ifdef STEELYARD_SIMULATED
inline constexpr bool simulated = true;
/// The simulated clock of this rank goes on by so many seconds, >= 0.
void compute(double seconds);
/// What the launcher says of the simulated cluster and what is assumed of it, as JSON.
std::string simulated_platform();
#else
inline constexpr bool simulated = false;
inline void compute(double) {}
inline std::string simulated_platform() { return {}; }
#endif

}  // namespace comm
