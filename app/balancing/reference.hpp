// SPDX-License-Identifier: MIT
// The reference by which the speeds of processes are found: a fixed piece of work, the same on all ranks.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "app/engine/engine.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Force passes over a liquid of some thousand Lennard-Jones particles, in the dimensions, the precision and with the
/// kernels of the run. Each thread has a liquid of its own, which stays as it is. A pass takes tens of microseconds.
/// A run spends at most `part` of its time on passes.
class Reference {
public:
    static constexpr double part = 0.001;

    /// Makes the liquids and measures what a pass takes. Collective.
    Reference(const Setup& setup, const comm::Communicator& comm);

    /// Returns the seconds of a pass on this rank: the harmonic mean over threads of each thread's median. 0: less than
    /// a step of the clock. Returns nothing, on all ranks, if no pass can be afforded yet. elapsed: seconds at work
    /// since the last call, the same on all ranks.
    std::optional<double> measure(double elapsed);

private:
    double median_of(int passes) const;

    double (*clock_)();
    std::vector<std::function<void()>> passes_;  // by thread
    double pass_seconds_ = 0;                    // on the slowest rank, at the start
    double saved_ = 0;                           // seconds that may be spent
};

}  // namespace app
