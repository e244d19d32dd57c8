// SPDX-License-Identifier: MIT
// The border moves to where both zones take the same time, by the relative speed that their times show.
#include <algorithm>
#include <cmath>

#include "balance/zone/controller.hpp"

namespace balance {
namespace {

constexpr double probe = 0.05;        // Share of a zone of unknown speed.
constexpr double trust = 20;          // A zone grows or shrinks at most by this factor.
constexpr double significance = 2.5;  // Standard errors of the mean.
constexpr double worth_having = 1.1;  // A zone is given up if the rank is faster by this factor without it.

// The share wanted for the zone that would get less than a strip: one strip, or none if the other zone alone is faster.
// share: the share of this zone now.
// ratio: ratio of its speed to the other one's, and its error, as logarithms.
double smallest_zone(double share, double ratio, double error, double grain) {
    if (share <= 0) return 0;
    const bool alone = share <= 1.5 * grain && log_odds(share) - ratio - error > std::log(worth_having / (1 - share));
    return alone ? 0 : grain;
}

// The share at which both zones take the same time, by the speeds measured so far. A border lies between strips, so one
// zone gets up to half a strip too many. That costs the smaller zone a larger part of its time. So the share leans
// towards the larger zone.
double best_share(const ZoneTimes& t, const RelativeSpeed& speed, double error) {
    const double best = share_of(speed.ratio);
    if (best < t.grain) return smallest_zone(t.share, speed.ratio, error, t.grain);
    if (1 - best < t.grain) return 1 - smallest_zone(1 - t.share, -speed.ratio, error, t.grain);
    return best + t.grain * (best - 0.5);
}

double within_trust(double share, double present) {
    if (present <= 0 || present >= 1) return share;
    const double cpu = 1 - present;
    return std::clamp(share, std::max(present / trust, 1 - trust * cpu), std::min(trust * present, 1 - cpu / trust));
}

// Whether a share is off by more than the error. An excess costs a small zone a larger part of its time than a large
// zone. So the limit is lower for shrinking the smaller zone than for growing it.
bool worth_moving(double share, double ratio, double error) {
    const double missing = ratio - log_odds(share);
    return std::abs(missing) >= error * (1.5 - (missing > 0 ? share : 1 - share));
}

BorderStep step_by_speed(const ZoneTimes& t, RelativeSpeed& speed, bool observed, std::span<double>) {
    const bool one_zone = t.share <= 0 || t.share >= 1;
    if (!observed && !one_zone) return kept(t);
    const double error = speed.weight > 0 ? significance * std::sqrt(speed.variance / speed.weight) : 0;
    double share = t.share;
    if (speed.weight == 0) {
        const double small = std::max(probe, t.grain);
        share = t.share <= 0 ? small : 1 - small;
    } else {
        const double best = best_share(t, speed, error);
        share = best > 0 && best < 1 ? within_trust(best, t.share) : best;
        if (!one_zone && !worth_moving(t.share, speed.ratio, error)) return kept(t);
    }
    share = std::clamp(share, t.least, t.most);
    // A move of less than 0.6 strips is not made, so the border does not go back and forth between two strips. A zone
    // that is to become empty moves anyway, because its last strip may be much lighter than `grain`.
    const bool empties = !one_zone && (share <= 0 || share >= 1);
    if (!empties && std::abs(share - t.share) <= 0.6 * t.grain) return kept(t);
    // Measurements at another share count less here, because times are not proportional to loads.
    if (!one_zone && share > 0 && share < 1)
        speed.weight *= std::exp(-std::abs(log_odds(share) - log_odds(t.share)) / 0.3);
    return moved_to(share, t);
}

}  // namespace

Controller make_measured_speed() { return {step_by_speed}; }

}  // namespace balance
