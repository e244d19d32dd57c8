// SPDX-License-Identifier: MIT
#include "app/engine/skin_tuning.hpp"

#include <array>
#include <cstdint>

namespace app {

void SkinTuning::rebuilding(bool due) {
    if (!on_) return;
    const double passes =
        timers_.seconds(Phase::forces) + timers_.seconds(Phase::accelerator) + timers_.seconds(Phase::ghosts);
    const double rebuilds = timers_.seconds(Phase::neighbours) + timers_.seconds(Phase::migration);
    if (due && steps_since_ > 0) {
        std::array<std::int64_t, 2> cost{static_cast<std::int64_t>((passes - passes_before_) / steps_since_ * 1e9),
                                         static_cast<std::int64_t>((rebuilds - rebuilds_before_) / steps_since_ * 1e9)};
        if (search_.searching()) comm_.max(cost);
        search_.add(static_cast<double>(cost[0]), static_cast<double>(cost[1]));
    }
    passes_before_ = passes;
    rebuilds_before_ = rebuilds;
    steps_since_ = 0;
}

}  // namespace app
