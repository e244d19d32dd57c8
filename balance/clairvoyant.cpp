// SPDX-License-Identifier: MIT
#include "balance/clairvoyant.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace balance {
namespace {

Setting always(const Setting& setting) {
    Policy policy = setting.policy;
    policy.criterion = {"every"};
    return {setting.team, setting.grid, setting.hosts, policy, setting.meter};
}

}  // namespace

Clairvoyant::Clairvoyant(const Setting& setting, const ModelConstants& constants, const std::string& model)
    : setting_(always(setting)), every_(make_balancing(setting_, constants, model)) {}

std::optional<Infeasible> Clairvoyant::see(std::int64_t step, HomeCells cells) {
    Measured measured;
    measured.first = steps_.empty();
    measured.moment = {step, measured.first ? step : steps_.back(), {}};
    cells.bytes.reset();  // no cost, and all cells stay in memory
    RoundOutcome outcome = rebalance(setting_, std::move(cells), measured, every_);
    steps_.push_back(step);
    cells_.push_back(std::move(outcome.cells));
    owners_.emplace_back(setting_.grid, setting_.home(),
                         outcome.next ? outcome.next->around_home
                                      : around_home(setting_.team, setting_.grid, every_.models.front().partition));
    return outcome.dead_end;
}

std::vector<std::int64_t> Clairvoyant::sums_of(std::int64_t i, std::int64_t begin, std::int64_t end) const {
    const std::int64_t processes = setting_.hosts.processes();
    std::vector<std::int64_t> sums((end - begin) * (processes + 1), 0);
    std::vector<std::int64_t> particles;
    for (std::int64_t j = begin; j < end; ++j) {
        std::int64_t* at_entry = &sums[(j - begin) * (processes + 1)];
        owners_[i].for_each([&](std::size_t cell, std::int32_t owner) { at_entry[owner] += cells_[j].work[cell]; });
        particles.clear();
        for (const CellCounts& c : cells_[j].counts) particles.push_back(c.n);
        const Moved moved = moved_between(owners_[i], owners_[j], particles);
        at_entry[processes] = setting_.policy.counting.cells_move ? moved.cells : moved.particles;
    }
    setting_.team.sum(sums);
    return sums;
}

std::vector<ScheduleCosts::Step> Clairvoyant::costs_from(std::int64_t i) const {
    // So many opportunities are summed together that messages are long, and memory does not grow with their number.
    constexpr std::int64_t most_numbers = 1 << 14;
    const std::int64_t processes = setting_.hosts.processes(), all = std::ssize(steps_),
                       together = std::max<std::int64_t>(1, most_numbers / (processes + 1));
    const WorkCosts& prices = setting_.policy.counting.work;
    std::vector<ScheduleCosts::Step> costs;
    for (std::int64_t begin = i + 1; begin < all; begin += together) {
        const std::int64_t end = std::min(begin + together, all);
        const std::vector<std::int64_t> sums = sums_of(i, begin, end);
        for (std::int64_t j = begin; j < end; ++j) {
            const auto at_entry = std::span(sums).subspan((j - begin) * (processes + 1), processes + 1);
            const double slowest = to_seconds(*std::max_element(at_entry.begin(), at_entry.end() - 1));
            costs.push_back({slowest * static_cast<double>(steps_[j] - steps_[j - 1]),
                             prices.balancing +
                                 prices.move * static_cast<double>(at_entry.back()) / static_cast<double>(processes)});
        }
    }
    return costs;
}

double Clairvoyant::bytes(std::int64_t opportunities, std::int64_t cells, std::int64_t processes, int ranks) {
    constexpr double cell = sizeof(std::int64_t) + sizeof(CellCounts) + sizeof(std::int32_t);
    return static_cast<double>(opportunities) *
           (cell * static_cast<double>(cells) / ranks + sizeof(std::int64_t) * static_cast<double>(processes + 1));
}

Schedule Clairvoyant::best(const std::function<void()>& between) const {
    return best_schedule({std::ssize(steps_) - 1, [&](std::int64_t i) {
                              between();
                              return costs_from(i);
                          }});
}

}  // namespace balance
