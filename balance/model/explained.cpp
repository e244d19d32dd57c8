// SPDX-License-Identifier: MIT
// Whether a search for slow processes could find anything, because the search takes far longer than this.
#include <algorithm>
#include <cmath>

#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {

// Of each process what is left in the last record must be small, or no more than noise can do, there and in the mean of
// all records.
double unexplained(std::span<const SpeedRecord> records, std::span<const double> known) {
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
    const auto beyond = [&](const std::vector<double>& left, double most) {
        double sum = 0;
        for (const double v : left)
            if (v > std::max(small, most)) sum += v * v;
        return sum;
    };
    if (beyond(last, small) == 0) return 0;
    return beyond(last, reached) + beyond(mean, reached / std::sqrt(static_cast<double>(records.size())));
}

bool Patience::over(double left) {
    if (left > 2 * left_ || waited_ >= wait_) return true;
    ++waited_;
    return false;
}

void Patience::tell(double left, std::span<const double> before, std::span<const double> found) {
    constexpr std::size_t many = 100;  // a search among fewer takes less than 5 ms
    constexpr double same = 0.02, longest = 8;
    if (processes_ < many) return;
    const bool nothing =
        std::ranges::equal(before, found, [](double a, double b) { return std::abs(std::log(b / a)) <= same; });
    wait_ = nothing ? std::clamp(2 * wait_, 1.0, longest) : 0;
    waited_ = 0;
    left_ = nothing ? left : 0;
}

void Patience::set_numbers(std::span<const double, count> numbers) {
    wait_ = numbers[0], waited_ = numbers[1], left_ = numbers[2];
}

}  // namespace balance
