// SPDX-License-Identifier: MIT
// Whether a search for slow processes could find anything, and among which, because the search takes far longer than
// this.
#include <algorithm>
#include <cmath>

#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {

// Of each process what is left in the last record must be small, or no more than noise can do, there and in the mean of
// all records.
std::vector<double> unexplained(std::span<const SpeedRecord> records, std::span<const double> known) {
    constexpr double small = 0.02;
    constexpr double usual_noise = 0.03;  // more may be many slow processes
    constexpr std::size_t crowd = 16;     // fewer processes do not show their noise
    const std::size_t processes = known.size();
    std::vector<double> last, mean, squares(processes, 0.0);
    last.reserve(processes), mean.reserve(processes);
    for (std::size_t p = 0; p < processes; ++p) {
        double sum = 0;
        for (const SpeedRecord& r : records) sum += r.excess[p];
        const double log_known = known[p] == 1 ? 0.0 : std::log(known[p]);
        last.push_back(std::abs(records.back().excess[p] + log_known));
        mean.push_back(std::abs(sum / static_cast<double>(records.size()) + log_known));
    }
    if (std::ranges::none_of(last, [](double left) { return left > small; })) return squares;
    const double noise = processes < crowd ? 0 : std::min(1.4826 * median(last), usual_noise);
    // About the largest that so many numbers with a normal distribution reach, with some room.
    const double reached = 1.2 * noise * std::sqrt(2 * std::log(static_cast<double>(processes)));
    const auto add_beyond = [&](double most, const std::vector<double>& left) {
        for (std::size_t p = 0; p < processes; ++p)
            if (left[p] > std::max(small, most)) squares[p] += left[p] * left[p];
    };
    add_beyond(reached, last);
    add_beyond(reached / std::sqrt(static_cast<double>(records.size())), mean);
    return squares;
}

std::vector<bool> involved(std::span<const double> left, std::span<const SpeedRecord> records,
                           std::span<const double> known, const std::array<int, 3>& blocks) {
    const std::size_t processes = known.size();
    std::vector<bool> involved(records.size() * processes, processes < many_processes);
    if (processes < many_processes) return involved;
    std::vector<std::int32_t> square_of;  // of each block
    square_of.reserve(std::size_t(blocks[0]) * blocks[1] * blocks[2]);
    for (int x = 0; x < blocks[0]; ++x)
        for (int y = 0; y < blocks[1]; ++y)
            for (int z = 0; z < blocks[2]; ++z)
                square_of.push_back((x / 2 * ((blocks[1] + 1) / 2) + y / 2) * ((blocks[2] + 1) / 2) + z / 2);
    std::vector<char> squares(square_of.back() + 1);  // whether something shows in them
    for (std::size_t k = 0; k < records.size(); ++k) {
        std::vector<char> shows(processes);  // a deviation of at least half the root of what is left of a process
        for (std::size_t p = 0; p < processes; ++p) {
            if (left[p] == 0 && known[p] == 1) continue;
            involved[k * processes + p] = true;
            const double here = records[k].excess[p] + (known[p] == 1 ? 0.0 : std::log(known[p]));
            shows[p] = left[p] > 0 && 4 * here * here >= left[p];
        }
        for (const BlockShare& s : records[k].shares)
            if (shows[s.process] != 0) squares[square_of[s.block]] = 1;
    }
    for (std::size_t k = 0; k < records.size(); ++k)
        for (const BlockShare& s : records[k].shares)
            if (squares[square_of[s.block]] != 0) involved[k * processes + s.process] = true;
    return involved;
}

std::vector<std::uint32_t> processes_in(const std::vector<bool>& involved, std::size_t all) {
    std::vector<std::uint32_t> processes;
    for (std::size_t p = 0; p < all; ++p) {
        std::size_t i = p;
        while (i < involved.size() && !involved[i]) i += all;
        if (i < involved.size()) processes.push_back(static_cast<std::uint32_t>(p));
    }
    return processes;
}

bool Patience::over(double left) {
    if (left > 2 * left_ || waited_ >= wait_) return true;
    ++waited_;
    return false;
}

void Patience::tell(double left, std::span<const double> before, std::span<const double> found) {
    constexpr double same = 0.02, longest = 8;
    if (processes_ < many_processes) return;
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
