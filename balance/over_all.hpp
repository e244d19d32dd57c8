// SPDX-License-Identifier: MIT
// Sums, means and maxima over all processes. Each member knows the numbers of the processes that it hosts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/team.hpp"

namespace balance {

/// Largest number of other members' processes, roughly, whose numbers are sent to one member. So the memory of a member
/// does not grow with the team.
inline constexpr std::int64_t most_known_to_one = 4096;

/// Results for one number of each process.
struct OverAll {
    double sum = 0, mean = 0, largest = 0;
};

/// The sum, the mean and the largest number of each list, over all members. Collective. Throws std::logic_error for
/// lists of different lengths.
/// processes: number of processes of the whole team.
/// lists: each has one number (>= 0) for each process that this member hosts. All members give the same number of
/// lists, and host consecutive processes.
/// also: numbers that are added up over all members at the same time.
///
/// Up to `most_known_to_one` processes, member 0 adds the numbers up in the order of the processes. With more processes
/// two reductions add them up as integers. Each number then loses less than 2^-80 of the largest one (with up to 2^20
/// processes) before the sum is rounded to a double. Both ways the result is the same on any number of members. If a
/// number is not finite, the sum is not finite either.
std::vector<OverAll> over_all(const Team& team, std::int64_t processes, std::span<const std::vector<double>> lists,
                              std::span<std::int64_t> also = {});

}  // namespace balance
