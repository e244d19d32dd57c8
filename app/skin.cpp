// SPDX-License-Identifier: MIT
#include "app/skin.hpp"

#include <algorithm>

namespace app {
namespace {

// Measured: one rebuild (sort, ghosts, rows) costs about as much as this many force passes without skin.
constexpr double rebuild_cost = 5.0;

constexpr double factor = 1.2;      // from one skin to the next
constexpr double narrowest = 0.05;  // lengths
constexpr int trials = 3;           // of each; the cheapest one counts, other work disturbs
constexpr int most_pause = 256;     // rebuilds between two searches

}  // namespace

double guess_skin(double cutoff, double dt, double speed) {
    double best = 0.1, lowest = 1e300;
    for (double skin = 0.1; skin <= 1.0; skin += 0.02) {
        const double ratio = 1 + skin / cutoff;
        const double cost = ratio * ratio * (1 + rebuild_cost * std::min(1.0, 2 * speed * dt / skin));
        if (cost < lowest) lowest = cost, best = skin;
    }
    return best;
}

void SkinSearch::turn_to(double skin) {
    now_ = skin;
    cost_ = 0;
    trials_ = 0;
}

void SkinSearch::settle() {
    turn_to(best_);
    direction_ = 0;
    rebuilds_ = 1;
    pause_ = std::min(2 * pause_, most_pause);
}

void SkinSearch::add(double cost) {
    if (!searching()) {
        if (++rebuilds_ > pause_) rebuilds_ = 0;
        return;
    }
    cost_ = trials_ == 0 ? cost : std::min(cost, cost_);
    if (++trials_ < trials) return;
    const bool better = direction_ == 0 || cost_ < best_cost_;
    if (better) {
        best_ = now_;
        best_cost_ = cost_;
    }
    if (direction_ == 0) {
        direction_ = -1;
        paid_ = false;
    } else if (better) {
        paid_ = true;
    } else if (direction_ < 0 && !paid_) {
        direction_ = 1;
    } else {
        return settle();
    }
    double next = best_ / factor;
    if (direction_ < 0 && next < narrowest && !paid_) direction_ = 1;
    if (direction_ > 0) next = std::min(best_ * factor, widest_);
    if (next < narrowest || next == best_) return settle();
    turn_to(next);
}

}  // namespace app
