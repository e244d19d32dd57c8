// SPDX-License-Identifier: MIT
// What a run on a simulated cluster needs beyond MPI (docs/simulation.md). The simulator counts the time of messages by
// itself; the time of arithmetic is what the program says that it would take. Elsewhere nothing here does anything.
#pragma once
#include <string>

namespace comm {

/// What all ranks together have sent, the messages inside collective calls among it.
struct SimulatedTraffic {
    double messages = 0, bytes = 0;
};

#ifdef STEELYARD_SIMULATED
inline constexpr bool simulated = true;
/// The simulated clock of this rank goes on by so many seconds, >= 0.
void compute(double seconds);
/// Since the start, up to now.
SimulatedTraffic simulated_traffic();
/// What the launcher says of the simulated cluster and what is assumed of it, as JSON.
std::string simulated_platform();
#else
inline constexpr bool simulated = false;
inline void compute(double) {}
inline SimulatedTraffic simulated_traffic() { return {}; }
inline std::string simulated_platform() { return {}; }
#endif

}  // namespace comm
