// SPDX-License-Identifier: MIT
// The skin in use. The time between two rebuilds shows the cost of a step with it, if the second rebuild was due.
#pragma once
#include <array>
#include <cstdint>

#include "app/common/timers.hpp"
#include "app/engine/setup.hpp"
#include "comm/communicator.hpp"
#include "md/skin.hpp"

namespace app {

class SkinTuning {
public:
    SkinTuning(const Setup& setup, const comm::Communicator& comm, const Timers& timers)
        : on_(setup.tune_skin),
          comm_(comm),
          timers_(timers),
          search_(setup.domain.dimensions, setup.potential.cutoff, setup.skin, setup.widest_skin) {}

    /// In use, lengths.
    double skin() const { return search_.skin(); }
    /// After a pass that moved particles.
    void stepped() { ++steps_since_; }
    /// Before a rebuild; due: it was the skin that asked for it. Collective where the setup tunes the skin.
    void rebuilding(bool due) {
        if (!on_) return;
        const double passes =
            timers_.seconds(Phase::forces) + timers_.seconds(Phase::accelerator) + timers_.seconds(Phase::ghosts);
        const double rebuilds = timers_.seconds(Phase::neighbours) + timers_.seconds(Phase::migration);
        if (due && steps_since_ > 0) {
            std::array<std::int64_t, 2> cost{
                static_cast<std::int64_t>((passes - passes_before_) / steps_since_ * 1e9),
                static_cast<std::int64_t>((rebuilds - rebuilds_before_) / steps_since_ * 1e9)};
            if (search_.searching()) comm_.max(cost);
            search_.add(static_cast<double>(cost[0]), static_cast<double>(cost[1]));
        }
        passes_before_ = passes;
        rebuilds_before_ = rebuilds;
        steps_since_ = 0;
    }

private:
    const bool on_;
    const comm::Communicator& comm_;
    const Timers& timers_;
    md::SkinSearch search_;
    double passes_before_ = 0, rebuilds_before_ = 0;  // seconds of phases at the last rebuild
    int steps_since_ = 0;                             // the last rebuild
};

}  // namespace app
