// SPDX-License-Identifier: MIT
// The needs of a run on a simulated cluster beyond MPI (docs/simulation.md). The simulator counts the time of messages
// by itself. The program tells it the time of arithmetic. On real machines these functions do nothing.
#pragma once
#include <string>

namespace comm {

/// Messages and bytes of all ranks together, those inside collective calls among them.
struct SimulatedTraffic {
    double messages = 0, bytes = 0;
};

#ifdef STEELYARD_SIMULATED
inline constexpr bool simulated = true;
/// The simulated clock of this rank goes on by `seconds`, >= 0.
void compute(double seconds);
/// Since the start, up to now.
SimulatedTraffic simulated_traffic();
/// The simulated cluster as the launcher describes it, with the assumptions about it, as JSON.
std::string simulated_platform();
/// This rank has freed much, of which others may make use: all ranks have one heap, and memory is what limits a
/// simulation. Now and then its free pages are given back, which arrays of other sizes could not use.
void give_back_pages();
#else
inline constexpr bool simulated = false;
inline void compute(double) {}
inline SimulatedTraffic simulated_traffic() { return {}; }
inline std::string simulated_platform() { return {}; }
inline void give_back_pages() {}
#endif

}  // namespace comm
