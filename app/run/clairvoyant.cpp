// SPDX-License-Identifier: MIT
#include "app/run/clairvoyant.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace app {
namespace {

balance::Setting always(const balance::Setting& setting) {
    balance::Policy policy = setting.policy;
    policy.criterion = {"every"};
    return {setting.team, setting.grid, setting.hosts, policy, setting.meter};
}

}  // namespace

Clairvoyant::Clairvoyant(const balance::Setting& setting, const balance::ModelConstants& constants,
                         const std::string& model)
    : setting_(always(setting)), every_(balance::make_balancing(setting_, constants, model)) {}

void Clairvoyant::see(std::int64_t step, balance::HomeCells cells) {
    balance::Measured measured;
    measured.first = steps_.empty();
    measured.moment = {step, measured.first ? step : steps_.back(), {}};
    const balance::Partition before = every_.models.front().partition.whole(setting_.team);
    balance::Outcome outcome = balance::rebalance(setting_, before, std::move(cells), measured, every_);
    steps_.push_back(step);
    cells_.push_back(std::move(outcome.cells));
    owners_.emplace_back(setting_.grid, setting_.home(), outcome.next ? *outcome.next : before);
}

balance::Schedule Clairvoyant::best() const {
    const std::int64_t processes = setting_.hosts.processes();
    const balance::WorkCosts& costs = setting_.policy.counting.work;
    balance::ScheduleCosts schedule;
    schedule.opportunities = std::ssize(steps_) - 1;
    schedule.interval = [&](std::int64_t i, std::int64_t j) {
        std::vector<double> times = balance::counted_times(setting_.team, owners_[i], cells_[j].work, processes);
        for (std::int64_t p = 0; p < processes; ++p) times[p] /= balance::speed_of(costs.slow, p, steps_[j]);
        return *std::max_element(times.begin(), times.end()) * static_cast<double>(steps_[j] - steps_[j - 1]);
    };
    schedule.balancing = [&](std::int64_t i, std::int64_t j) {
        std::vector<std::int64_t> particles;
        for (const balance::CellCounts& c : cells_[j].counts) particles.push_back(c.n);
        std::array<std::int64_t, 1> moved{balance::moved_between(owners_[i], owners_[j], particles).particles};
        setting_.team.sum(moved);
        return costs.balancing + costs.move * static_cast<double>(moved[0]) / static_cast<double>(processes);
    };
    return balance::best_schedule(schedule);
}

}  // namespace app
