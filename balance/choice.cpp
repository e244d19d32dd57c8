// SPDX-License-Identifier: MIT
#include "balance/choice.hpp"

#include <algorithm>
#include <cmath>

#include "balance/round.hpp"

namespace balance {

std::vector<std::string> Candidates::names() const {
    std::vector<std::string> names;
    for (const auto* list : {&models, &partitions})
        for (const Contender& c : *list) names.push_back(c.name);
    return names;
}

bool Choice::restore(std::span<const std::int64_t> n, const Candidates& candidates) {
    const bool good = n.size() == numbers && n[0] >= 0 && n[0] < std::ssize(candidates.models) && n[1] >= 0 &&
                      n[1] < std::ssize(candidates.partitions) && n[2] >= 0 && n[2] < rounds && n[3] >= 1;
    if (good) model = n[0], partition = n[1], round = n[2], next = n[3];
    return good;
}

bool Choice::tries(double updates, std::optional<double> left) const {
    return round > 0 || (updates >= static_cast<double>(next) && left.value_or(0) >= 0);
}

std::optional<Rating> Rating::from_numbers(std::span<const double> n) {
    const auto sensible = [](double v) { return std::abs(v) <= 1e30; };
    if (n.size() != numbers || !std::ranges::all_of(n, sensible) || n[0] < 0) return std::nullopt;
    return Rating{n[0], n[1], n[2], n[3], n[4]};
}

void Rating::add(double seen, double of_the_one_in_use) {
    const double d = seen - of_the_one_in_use;
    looks += 1, excess += seen, difference += d, squares += d * d;
}

bool Rating::better(double margin) const {
    if (looks < 3) return false;
    const double d = difference / looks, variance = std::max(0.0, squares / looks - d * d) / (looks - 1);
    return -d > std::max(margin, 2 * std::sqrt(variance));
}

std::int64_t best_of(std::span<const BalancedModel> candidates, std::int64_t in_use, double margin) {
    std::int64_t best = in_use;
    for (std::int64_t i = 0; i < std::ssize(candidates); ++i)
        if (candidates[i].rating.better(margin) && candidates[i].rating.mean() < candidates[best].rating.mean())
            best = i;
    return best;
}

}  // namespace balance
