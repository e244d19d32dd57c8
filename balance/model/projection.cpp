// SPDX-License-Identifier: MIT
#include "balance/model/projection.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace balance {
namespace {

struct Sums {
    double sum = 0, smallest = 0;
};

// Eight partial sums: independent additions, and an error that grows with N/8. A non-finite value makes the sum so.
Sums sums_of(std::span<const double> v) {
    double part[8] = {}, low[8];
    std::fill_n(low, 8, v.empty() ? 0.0 : v[0]);
    std::size_t i = 0;
    for (; i + 8 <= v.size(); i += 8)
        for (int k = 0; k < 8; ++k) part[k] += v[i + k], low[k] = v[i + k] < low[k] ? v[i + k] : low[k];
    for (; i < v.size(); ++i) part[0] += v[i], low[0] = v[i] < low[0] ? v[i] : low[0];
    Sums s{0, *std::min_element(low, low + 8)};
    for (double p : part) s.sum += p;
    return s;
}

// The constant `shift` for which sum of max(0, v + shift) over all v is `time`, 0 < time < sum of v.
double shift_of(std::span<const double> previous, double time, double sum) {
    std::vector<double> active(previous.begin(), previous.end());
    for (;;) {
        const double shift = (time - sum) / static_cast<double>(active.size());
        // Cells that the shift makes negative end at 0 and leave; the rest has to be shifted further.
        const std::size_t before = active.size();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < before; ++i) {
            active[kept] = active[i];
            kept += active[i] + shift > 0;
        }
        if (kept == before || kept == 0) return shift;
        active.resize(kept);
        sum = sums_of(active).sum;
    }
}

}  // namespace

std::vector<double> project_to_sum(std::span<const double> previous, double time) {
    const auto [sum, smallest] = sums_of(previous);
    if (!(time >= 0) || !std::isfinite(time))
        throw std::invalid_argument("a measured time must be finite and not negative");
    if (!(smallest >= 0) || !std::isfinite(sum)) throw std::invalid_argument("loads must be finite and not negative");
    std::vector<double> load(previous.size(), 0.0);
    if (previous.empty() || time == 0) return load;
    double shift = (time - sum) / static_cast<double>(previous.size());
    if (smallest + shift < 0) shift = shift_of(previous, time, sum);
    for (std::size_t i = 0; i < load.size(); ++i) {
        const double l = previous[i] + shift;
        load[i] = l > 0 ? l : 0.0;
    }
    // The rounding error is shared in proportion, so the sum is `time` to the last digits.
    const double got = sums_of(load).sum;
    if (got > 0) {
        const double factor = time / got;
        for (double& l : load) l *= factor;
    } else {
        // time is so small beside the loads that adding it rounds away: the largest cells share it.
        const double largest = *std::max_element(previous.begin(), previous.end());
        const auto count = static_cast<double>(std::count(previous.begin(), previous.end(), largest));
        for (std::size_t i = 0; i < load.size(); ++i) load[i] = previous[i] == largest ? time / count : 0.0;
    }
    return load;
}

}  // namespace balance
