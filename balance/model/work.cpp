// SPDX-License-Identifier: MIT
#include "balance/model/work.hpp"

#include <limits>
#include <numeric>

namespace balance {
namespace {

using Int128 = __int128;

constexpr std::size_t prices = work_keys.size() - 1;  // keys that are seconds for something counted
constexpr std::size_t region = prices;

// How often a cell pays each price: 64 bits hold that, 128 its product with any price.
std::array<std::int64_t, prices> counts_of(const WorkCosts& costs, const CellCounts& c, std::int64_t neighbours) {
    const std::int64_t n = c.n, over = costs.capacity > 0 ? std::max<std::int64_t>(0, n - costs.capacity) : 0;
    return {1, n, n * std::max(0, c.n3 - 1), neighbours, over * n};
}

// Candidates and pairs are counted from both sides.
std::array<double, prices> prices_of(const WorkCosts& costs) {
    return {costs.cell, costs.particle, costs.candidate / 2, costs.pair / 2, costs.spill};
}

std::int64_t scaled(Int128 ticks, double factor) {
    const double all = ticks < most_ticks ? static_cast<double>(static_cast<std::int64_t>(ticks))  // the same, sooner
                                          : static_cast<double>(ticks);
    return all * factor < static_cast<double>(most_ticks) ? rounded(all * factor) : most_ticks;
}

}  // namespace

void cell_works(const WorkCosts& costs, bool in_region, std::span<const CellCounts> counts,
                std::span<const std::int64_t> neighbours, std::span<std::int64_t> work) {
    static_assert(prices == 5);
    std::array<std::int64_t, prices> price;
    std::ranges::transform(prices_of(costs), price.begin(), to_ticks);
    for (std::size_t i = 0; i < work.size(); ++i) {
        const auto count = counts_of(costs, counts[i], neighbours[i]);
        const auto part = [&](std::size_t k) { return static_cast<Int128>(count[k]) * price[k]; };
        const Int128 ticks = part(0) + part(1) + part(2) + part(3) + part(4);
        work[i] = in_region ? scaled(ticks, costs.region_factor)
                            : static_cast<std::int64_t>(std::min<Int128>(ticks, most_ticks));
    }
}

WorkByKey cell_work_by_key(const WorkCosts& costs, const CellCounts& c, std::int64_t neighbours, double x, double y) {
    const auto count = counts_of(costs, c, neighbours);
    const auto price = prices_of(costs);
    WorkByKey seconds{};
    for (std::size_t k = 0; k < prices; ++k) seconds[k] = static_cast<double>(count[k]) * price[k];
    const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    if (in_region(costs, x, y)) seconds[region] = all * (costs.region_factor - 1);
    return seconds;
}

MostExpensiveKey most_expensive_key(const WorkCosts& costs, const WorkByKey& sum) {
    const std::array<double, work_keys.size()> values{costs.cell, costs.particle, costs.candidate,
                                                      costs.pair, costs.spill,    costs.region_factor};
    const double all = std::accumulate(sum.begin(), sum.end(), 0.0);
    const std::size_t key =
        sum[region] > all / 2 ? region : std::max_element(sum.begin(), sum.begin() + prices) - sum.begin();
    return {work_keys[key], values[key]};
}

bool is_active(const ActiveSteps& steps, std::int64_t step) {
    if (step < steps.from_step || (steps.to_step && step >= *steps.to_step)) return false;
    return !steps.period || (step - steps.from_step) / *steps.period % 2 == 0;
}

WorkCosts costs_at(WorkCosts costs, std::int64_t step) {
    if (!is_active(costs.region_active, step)) costs.region_factor = 1;
    return costs;
}

double speed_of(const Slowdown& slow, std::int64_t process, std::int64_t step) {
    if (!is_active(slow.active, step)) return 1;
    constexpr double rounding = 1e-9;
    const auto slow_ones_before = [&](std::int64_t p) {
        return std::floor(static_cast<double>(p) * slow.fraction + rounding);
    };
    return slow_ones_before(process + 1) > slow_ones_before(process) ? slow.speed : 1;
}

double load_scale(double largest, std::int64_t cells) {
    if (!(largest > 0)) return 0;
    return std::min(std::ldexp(1.0, 61) / static_cast<double>(cells) / largest, std::numeric_limits<double>::max());
}

}  // namespace balance
