// SPDX-License-Identifier: MIT
// Whether a search for slow processes could find anything, and among which, because the search takes far longer than
// this.
#include <algorithm>
#include <cmath>

#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {

namespace {

// The squares of 2 x 2 blocks, or cubes, in which blocks lie: by the line along the last axis on which a block lies.
class Squares {
public:
    explicit Squares(const std::array<int, 3>& blocks)
        : of_line_(blocks[2] > 1 ? blocks[2] : blocks[1]), lines_(1.0 / of_line_) {
        const int ny = blocks[2] > 1 ? blocks[1] : 1;
        for (int x = 0; x < blocks[0]; ++x)
            for (int y = 0; y < ny; ++y) first_.push_back((x / 2 * ((ny + 1) / 2) + y / 2) * ((of_line_ + 1) / 2));
        marked_.resize(std::size_t(first_.back()) + (of_line_ + 1) / 2);
    }
    void mark(std::int32_t block) { marked_[of(block)] = true; }
    bool marked(std::int32_t block) const { return marked_[of(block)]; }

private:
    // A product with the reciprocal takes a fraction of the time of a division; half a block more keeps it exact.
    std::size_t of(std::int32_t block) const {
        const auto line = static_cast<std::int32_t>((block + 0.5) * lines_);
        return static_cast<std::size_t>(first_[line]) + static_cast<std::uint32_t>(block - line * of_line_) / 2;
    }

    int of_line_;  // blocks
    double lines_;
    std::vector<std::int32_t> first_;  // of each line the square of its first block
    std::vector<bool> marked_;
};

}  // namespace

double noise_in(std::span<double> left) {
    constexpr double usual_noise = 0.03;
    constexpr std::size_t crowd = 16;  // fewer processes do not show their noise
    return left.size() < crowd ? 0 : std::min(1.4826 * median_in(left), usual_noise);
}

// Of each process what is left in the last record must be small, or no more than noise can do, there and in the mean of
// all records.
Unexplained unexplained(std::span<const std::vector<double>> excesses, std::span<const double> known, double noise,
                        std::int64_t all) {
    constexpr double small = 0.02;
    // About the largest that so many numbers with a normal distribution reach, with some room.
    const double reached = 1.2 * noise * std::sqrt(2 * std::log(static_cast<double>(all)));
    const auto records = static_cast<double>(excesses.size());
    Unexplained result;
    for (std::size_t p = 0; p < known.size(); ++p) {
        double sum = 0, square = 0;
        for (const std::vector<double>& excess : excesses) sum += excess[p];
        const double log_known = log_of(known[p]);
        const auto add_beyond = [&](double most, double left) {
            if (left > std::max(small, most)) square += left * left;
        };
        const double last = std::abs(excesses.back()[p] + log_known);
        add_beyond(reached, last);
        add_beyond(reached / std::sqrt(records), std::abs(sum / records + log_known));
        result.shows = result.shows || last > small;
        result.squares.push_back(square);
    }
    return result;
}

std::vector<bool> involved(std::span<const double> left, std::span<const SpeedRecord> records,
                           std::span<const double> known, const std::array<int, 3>& blocks) {
    const std::size_t processes = known.size();
    std::vector<bool> involved(records.size() * processes, processes < many_processes);
    if (processes < many_processes) return involved;
    Squares squares(blocks);  // marked where something shows in them
    for (std::size_t k = 0; k < records.size(); ++k) {
        std::vector<char> shows(processes);  // a deviation of at least half the root of what is left of a process
        for (std::size_t p = 0; p < processes; ++p) {
            if (left[p] == 0 && known[p] == 1) continue;
            involved[k * processes + p] = true;
            const double here = records[k].excess[p] + log_of(known[p]);
            shows[p] = left[p] > 0 && 4 * here * here >= left[p];
        }
        for (const BlockShare& s : records[k].shares)
            if (shows[s.process] != 0) squares.mark(s.block);
    }
    for (std::size_t k = 0; k < records.size(); ++k)
        for (const BlockShare& s : records[k].shares)
            if (squares.marked(s.block)) involved[k * processes + s.process] = true;
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

void Patience::tell(double left, bool nothing_found) {
    constexpr double longest = 8;
    if (processes_ < many_processes) return;
    wait_ = nothing_found ? std::clamp(2 * wait_, 1.0, longest) : 0;
    waited_ = 0;
    left_ = nothing_found ? left : 0;
}

void Patience::set_numbers(std::span<const double, count> numbers) {
    wait_ = numbers[0], waited_ = numbers[1], left_ = numbers[2];
}

}  // namespace balance
