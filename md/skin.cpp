// SPDX-License-Identifier: MIT
#include "md/skin.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace md {
namespace {

// Measured: one rebuild (sort, ghosts, rows) costs about as much as this many force passes without skin. In space it is
// nearer to 4, but a melt is as fast with a skin of 0.2 as with 0.34, and shorter rows need less memory.
constexpr double rebuild_cost(int dimensions) { return dimensions == 2 ? 5.0 : 2.5; }

constexpr double factor = 1.2;       // From one skin to the next.
constexpr double narrowest = 0.05;   // Lengths.
constexpr int trials = 3;            // Of each skin. The cheapest one counts, because other work disturbs.
constexpr double wider_pays = 1.25;  // More than 1, because rows grow in steps and narrower skins are tried cheaply.
constexpr double equal = 1.01;       // Ratio of costs up to which the narrower skin is taken: it needs less memory.
constexpr double hopeless = 1.15;    // Ratio to the cheapest cost from which on a skin gets no other trials.
constexpr int most_pause = 256;      // Rebuilds between two searches.

}  // namespace

double guess_skin(int dimensions, double cutoff, double dt, double speed) {
    double best = 0.1, lowest = 1e300;
    for (double skin = 0.1; skin <= 1.0; skin += 0.02) {
        const double pairs = std::pow(1 + skin / cutoff, dimensions);
        const double cost = pairs * (1 + rebuild_cost(dimensions) * std::min(1.0, 2 * speed * dt / skin));
        if (cost < lowest) lowest = cost, best = skin;
    }
    return best;
}

// A disturbance slows down both parts of a trial's cost. A better skin makes one of them cheaper.
bool SkinSearch::far_dearer() const {
    const bool of_itself = rebuild_ <= best_rebuild_ || cost_ - rebuild_ <= best_cost_ - best_rebuild_;
    return direction_ != 0 && of_itself && cost_ > hopeless * best_cost_;
}

void SkinSearch::add(double pass, double rebuild) {
    if (!searching()) {
        if (++rebuilds_ > pause_) rebuilds_ = 0;
        return;
    }
    if (trials_ == 0 || pass + rebuild < cost_) cost_ = pass + rebuild, rebuild_ = rebuild;
    if (++trials_ < trials && !far_dearer()) return;
    const bool better = direction_ == 0 || cost_ < best_cost_ * (direction_ < 0 ? equal : 1 / equal);
    // Pairs grow with the square (in three dimensions the cube) of cutoff + skin, rebuilds come as often as the skin is
    // thin: of both, what a wider skin changes.
    if (direction_ == 0) {
        direction_ = rebuild_ / now_ > wider_pays * dimensions_ * (cost_ - rebuild_) / (cutoff_ + now_) ? 1 : -1;
        other_way_ = true;
    } else if (better) {
        other_way_ = false;
    }
    if (better) best_ = now_, best_cost_ = cost_, best_rebuild_ = rebuild_;
    const auto next = [this] { return direction_ < 0 ? best_ / factor : std::min(best_ * factor, widest_); };
    const auto possible = [&] { return next() >= narrowest && next() != best_; };
    if (better && possible()) return turn_to(next());
    if (std::exchange(other_way_, false)) {
        direction_ = -direction_;
        if (possible()) return turn_to(next());
    }
    turn_to(best_);
    direction_ = 0;
    rebuilds_ = 1;
    pause_ = std::min(2 * pause_, most_pause);
}

}  // namespace md
