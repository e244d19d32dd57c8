// SPDX-License-Identifier: MIT
// The border moves by the load of the CPU, as in Andrianov et al. (2020), towards a band in which the load is to lie.
#include <algorithm>
#include <cmath>

#include "balance/zone/controller.hpp"

namespace balance {
namespace {

// Its own numbers, by their places.
enum Number {
    wanted,     // share, in parts of strips
    gain,       // 1, less after the direction changed
    direction,  // of the last correction: 1 to larger shares, -1, 0: none
    corrected,  // the share that it met
};

bool accepts(std::span<const double> m) {
    const auto is_share = [](double share) { return share >= 0 && share <= 1; };
    return is_share(m[wanted]) && m[gain] > 0 && m[gain] <= 1 && std::abs(m[direction]) <= 1 && is_share(m[corrected]);
}

// The CPU's load is to lie between these.
constexpr double band_begin = 0.85, band_end = 0.95;

// How far the border moves, by the deviation of the load from the band relative to the largest possible, and by the
// sizes of the zones. Above the band the deviation shows hardly more than the direction, so the shift is small near
// both ends. Below the band it shows the distance to go. The exception is a CPU without work, because its speed is
// unknown.
double shift_of(double load, double share) {
    const double both = share * (1 - share);
    if (load > band_end) return (load - band_end) / (1 - band_end) * (1.3e-4 + 0.94 * both * both);
    return (band_begin - load) / band_begin * (0.035 + 0.8 * both);
}

BorderStep step_by_load(const ZoneTimes& t, RelativeSpeed&, bool, std::span<double> m) {
    if (!(t.cpu_load < band_begin || t.cpu_load > band_end)) return kept(t);
    const double load = std::clamp(t.cpu_load, 0.0, 1.0), towards = load > band_end ? 1 : -1;
    const bool turns = towards * m[direction] < 0;
    if (turns) m[gain] = std::max(m[gain] / 2, 1.0 / 32);
    else if (t.share != m[corrected]) m[gain] = std::min(1.3 * m[gain], 1.0);  // it has moved and has not arrived
    // Parts of a strip add up while the border stays where it is, but not those of the other direction. An empty zone
    // does not shrink.
    const double shrinking = towards > 0 ? 1 - t.share : t.share;
    const bool adds_up = shrinking > 0 && towards == m[direction] && std::abs(m[wanted] - t.share) <= t.grain;
    const double from = adds_up ? m[wanted] : t.share;
    const double shift = std::min(m[gain] * shift_of(load, from), shrinking / 2);
    m[wanted] = std::clamp(from + towards * shift, t.least, t.most);
    m[direction] = towards;
    m[corrected] = t.share;
    if (m[wanted] == t.share) return kept(t);
    return {m[wanted], towards > 0 ? BorderDecision::grow_accelerator : BorderDecision::grow_cpu};
}

}  // namespace

Controller make_cpu_load() { return {step_by_load, {0, 1, 0, 0}, accepts}; }

}  // namespace balance
