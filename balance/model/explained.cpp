// SPDX-License-Identifier: MIT
// Whether a search for slow processes could find anything. The search takes far longer than this.
#include <algorithm>
#include <cmath>

#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {

// Of each process what is left in the last record must be small, or no more than noise can do, there and in the mean of
// all records.
bool explained(std::span<const SpeedRecord> records, std::span<const double> known) {
    constexpr double small = 0.02;
    constexpr double usual_noise = 0.03;  // more may be many slow processes
    constexpr std::size_t crowd = 16;     // fewer processes do not show their noise
    const std::size_t processes = known.size();
    std::vector<double> last, mean;
    for (std::size_t p = 0; p < processes; ++p) {
        double sum = 0;
        for (const SpeedRecord& r : records) sum += r.excess[p];
        last.push_back(std::abs(records.back().excess[p] + std::log(known[p])));
        mean.push_back(std::abs(sum / static_cast<double>(records.size()) + std::log(known[p])));
    }
    const double noise = processes < crowd ? 0 : std::min(1.4826 * median(last), usual_noise);
    // About the largest that so many numbers with a normal distribution reach, with some room.
    const double reached = 1.2 * noise * std::sqrt(2 * std::log(static_cast<double>(processes)));
    const auto within = [&](const std::vector<double>& left, double most) {
        return std::ranges::all_of(left, [&](double v) { return v <= std::max(small, most); });
    };
    if (within(last, small)) return true;
    return within(last, reached) && within(mean, reached / std::sqrt(static_cast<double>(records.size())));
}

}  // namespace balance
