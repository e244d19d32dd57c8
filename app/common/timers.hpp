// SPDX-License-Identifier: MIT
// Where a step's wall time goes, by phase.
#pragma once
#include <array>
#include <string_view>
#include <utility>

#include "comm/clock.hpp"
#include "comm/simulation.hpp"

namespace app {

enum class Phase { forces, neighbours, ghosts, accelerator, migration, balancing, output, count };
inline constexpr std::array<std::string_view, static_cast<int>(Phase::count)> phase_names{
    "forces", "neighbours", "ghosts", "accelerator", "migration", "balancing", "output"};

/// At any time one phase is open, or none (Phase::count): so no time is counted twice, and the phases add up to no more
/// than the run.
class Timers {
public:
    /// Closes the open phase and opens another one. Returns the one that was open.
    Phase enter(Phase next) {
        const double now = comm::now();
        const comm::SimulatedTraffic traffic = comm::simulated_traffic();
        if (open_ != Phase::count) {
            const int i = static_cast<int>(open_);
            seconds_[i] += now - since_;
            traffic_[i].messages += traffic.messages - before_.messages;
            traffic_[i].bytes += traffic.bytes - before_.bytes;
        }
        since_ = now;
        before_ = traffic;
        return std::exchange(open_, next);
    }
    double seconds(Phase phase) const { return seconds_[static_cast<int>(phase)]; }
    const auto& all() const { return seconds_; }
    /// Traffic of all ranks of a simulated cluster while this rank was in a phase; nothing on real machines.
    comm::SimulatedTraffic traffic(Phase phase) const { return traffic_[static_cast<int>(phase)]; }

private:
    std::array<comm::SimulatedTraffic, static_cast<int>(Phase::count)> traffic_{};
    std::array<double, static_cast<int>(Phase::count)> seconds_{};
    Phase open_ = Phase::count;
    double since_ = 0;
    comm::SimulatedTraffic before_{};
};

/// Opens a phase for its own life; what was open before goes on after it.
class Timed {
public:
    Timed(Timers& timers, Phase phase) : timers_(timers), outer_(timers.enter(phase)) {}
    ~Timed() { timers_.enter(outer_); }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    Timers& timers_;
    Phase outer_;
};

}  // namespace app
