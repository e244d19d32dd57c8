// SPDX-License-Identifier: MIT
#include "balance/over_all.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace balance {
namespace {

using Lists = std::span<const std::vector<double>>;

// By member 0, of what all have gathered there. Empty on the others.
std::vector<OverAll> added_up(const Team& team, std::int64_t processes, Lists lists) {
    std::vector<double> numbers;  // process by process
    for (std::size_t i = 0; !lists.empty() && i < lists.front().size(); ++i)
        for (const std::vector<double>& list : lists) numbers.push_back(list[i]);
    numbers = gather<double>(team, numbers);
    std::vector<OverAll> result;
    if (team.rank() != 0) return result;
    result.resize(lists.size());
    for (auto next = numbers.begin(); next != numbers.end();)
        for (OverAll& of : result) {
            const double v = *next++;
            of.sum += v;
            of.mean += v / static_cast<double>(processes);
            of.largest = std::max(of.largest, v);
        }
    return result;
}

// A sum of numbers as integers in two parts. The second part has the remainder of the first. Their unit follows from
// the largest number of all.
class SumInParts {
public:
    // largest: of all members.
    SumInParts(std::int64_t processes, double largest)
        : bits_(62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(processes)))),
          adds_up_(std::isfinite(largest) && largest > 0),
          unit_(adds_up_ ? std::ilogb(largest) + 1 - bits_ : 0),
          largest_(largest) {}
    // The two parts of the sum over what this member has.
    std::array<std::int64_t, 2> of(std::span<const double> list) const {
        std::array<std::int64_t, 2> parts{};
        for (const double v : list) {
            if (!adds_up_) break;
            const double units = std::ldexp(v, -unit_), whole = std::floor(units);
            parts[0] += static_cast<std::int64_t>(whole);
            parts[1] += static_cast<std::int64_t>(std::ldexp(units - whole, bits_));
        }
        return parts;
    }
    // From the parts of all members.
    double from(std::int64_t coarse, std::int64_t fine) const {
        if (!adds_up_) return largest_;
        return std::ldexp(static_cast<double>(coarse) + std::ldexp(static_cast<double>(fine), -bits_), unit_);
    }

private:
    int bits_;  // of each part of a number: sums have less than 63
    bool adds_up_;
    int unit_;  // of the first parts, as a power of two
    double largest_;
};

}  // namespace

std::vector<OverAll> over_all(const Team& team, std::int64_t processes, Lists lists, std::span<std::int64_t> also) {
    for (const std::vector<double>& list : lists)
        if (list.size() != lists.front().size()) throw std::logic_error("over_all: lists of different lengths");
    const bool few = processes <= most_known_to_one;
    std::vector<OverAll> result = few ? added_up(team, processes, lists) : std::vector<OverAll>();
    std::vector<std::int64_t> sums;
    std::vector<SumInParts> exact;
    if (few) {  // member 0 tells bits of doubles, to which the others add 0
        for (const OverAll& of : result)
            for (const double v : {of.sum, of.mean, of.largest}) sums.push_back(std::bit_cast<std::int64_t>(v));
        sums.resize(3 * lists.size());
    } else {
        std::vector<std::int64_t> largest(lists.size(), 0);
        for (std::size_t i = 0; i < lists.size(); ++i)
            for (const double v : lists[i])  // without a sign bits have the order of values, with NaN above all
                largest[i] = std::max(largest[i], std::bit_cast<std::int64_t>(std::abs(v)));
        team.max(largest);
        for (std::size_t i = 0; i < lists.size(); ++i) {
            result.push_back({0, 0, std::bit_cast<double>(largest[i])});
            exact.emplace_back(processes, result[i].largest);
            for (const std::int64_t part : exact[i].of(lists[i])) sums.push_back(part);
        }
    }
    const std::size_t of_lists = sums.size();
    sums.insert(sums.end(), also.begin(), also.end());
    team.sum(sums);
    std::copy(sums.begin() + static_cast<std::ptrdiff_t>(of_lists), sums.end(), also.begin());
    result.resize(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (few) {
            const auto result_at = [&](std::size_t k) { return std::bit_cast<double>(sums[3 * i + k]); };
            result[i] = {result_at(0), result_at(1), result_at(2)};
        } else {
            result[i].sum = exact[i].from(sums[2 * i], sums[2 * i + 1]);
            result[i].mean = result[i].sum / static_cast<double>(processes);
        }
    }
    return result;
}

}  // namespace balance
