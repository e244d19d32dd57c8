// SPDX-License-Identifier: MIT
#include "balance/cost.hpp"

#include <algorithm>
#include <cmath>

#include "balance/round.hpp"

namespace balance {
namespace {

// Standard error of the difference of two contenders' seconds.
std::optional<double> error_of(const ContenderCost& a, const ContenderCost& b) {
    const std::size_t n = std::min(a.each.size(), b.each.size()), blocks = std::min<std::size_t>(n, 16);
    if (blocks < 4) return std::nullopt;
    const auto number = static_cast<double>(blocks);
    std::vector<double> differences(blocks, 0);
    for (std::size_t i = 0; i < n; ++i) differences[i * blocks / n] += a.each[i] - b.each[i];
    double mean = 0, squares = 0;
    for (const double d : differences) mean += d / number;
    for (const double d : differences) squares += (d - mean) * (d - mean);
    return std::sqrt(squares * number / (number - 1));
}

}  // namespace

void ContenderCost::add(const BalanceRow& row, std::int64_t steps, const Counting& counting, std::int64_t processes,
                        double ghosts, std::int64_t beside) {
    if (each.empty()) from_step = row.step - steps;
    const bool balanced = row.load_step == row.step;  // else the partition was kept without new loads
    const double ghost_seconds = counting.work.ghost * ghosts / static_cast<double>(processes),
                 computing = (row.max_seconds + ghost_seconds) * static_cast<double>(steps),
                 balancing = static_cast<double>(balanced + beside) * counting.work.balancing +
                             counting.moving_seconds(row.moved, processes);
    computing_seconds += computing, balancing_seconds += balancing;
    balancings += balanced;
    migrations += row.decision == Decision::moved;
    constexpr std::size_t most = 1024;  // so memory does not grow with the run
    if (opportunities % together == 0) {
        if (each.size() == most) {
            for (std::size_t i = 0; i < most / 2; ++i) each[i] = each[2 * i] + each[2 * i + 1];
            each.resize(most / 2);
            together *= 2;
        }
        each.push_back(0);
    }
    each.back() += computing + balancing;
    ++opportunities;
    ghost_cells += (static_cast<double>(row.ghost_cells) - ghost_cells) / static_cast<double>(opportunities);
    ghost_bytes += (static_cast<double>(row.ghost_bytes) - ghost_bytes) / static_cast<double>(opportunities);
}

std::vector<Excess> ranking(std::span<const ContenderCost> costs) {
    std::vector<Excess> found;
    for (std::size_t i = 0; i < costs.size(); ++i) found.push_back({i});
    std::ranges::stable_sort(found, {}, [&](const Excess& e) { return costs[e.contender].seconds(); });
    for (Excess& e : found) {
        const ContenderCost &cost = costs[e.contender], &least = costs[found.front().contender];
        if (!(least.seconds() > 0)) return {};  // nothing to be a part of
        e.part = cost.seconds() / least.seconds() - 1;
        if (const auto error = error_of(cost, least)) e.error = *error / least.seconds();
    }
    return found;
}

}  // namespace balance
