// SPDX-License-Identifier: MIT
// Where a step's wall time goes, by phase.
#pragma once
#include <array>
#include <string_view>

#include "comm/clock.hpp"
#include "comm/simulation.hpp"

namespace app {

enum class Phase { forces, neighbours, ghosts, accelerator, migration, balancing, output, count };
inline constexpr std::array<std::string_view, static_cast<int>(Phase::count)> phase_names{
    "forces", "neighbours", "ghosts", "accelerator", "migration", "balancing", "output"};

class Timers {
public:
    void add(Phase phase, double seconds) { seconds_[static_cast<int>(phase)] += seconds; }
    void add(Phase phase, const comm::SimulatedTraffic& before, const comm::SimulatedTraffic& after) {
        traffic_[static_cast<int>(phase)].messages += after.messages - before.messages;
        traffic_[static_cast<int>(phase)].bytes += after.bytes - before.bytes;
    }
    double seconds(Phase phase) const { return seconds_[static_cast<int>(phase)]; }
    const auto& all() const { return seconds_; }
    /// What all ranks of a simulated cluster have sent while this one was in a phase; nothing elsewhere.
    comm::SimulatedTraffic traffic(Phase phase) const { return traffic_[static_cast<int>(phase)]; }

private:
    std::array<comm::SimulatedTraffic, static_cast<int>(Phase::count)> traffic_{};
    std::array<double, static_cast<int>(Phase::count)> seconds_{};
};

/// Adds the time of its own life to a phase.
class Timed {
public:
    Timed(Timers& timers, Phase phase)
        : timers_(timers), phase_(phase), start_(comm::now()), before_(comm::simulated_traffic()) {}
    ~Timed() {
        timers_.add(phase_, comm::now() - start_);
        timers_.add(phase_, before_, comm::simulated_traffic());
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

private:
    Timers& timers_;
    Phase phase_;
    double start_;
    comm::SimulatedTraffic before_;
};

}  // namespace app
