// SPDX-License-Identifier: MIT
// Candidates see nothing but the driver's times and the cells, so a trial measures nothing of its own. By counted work
// the true costs of the cells rate partitions. By the wall clock nobody knows these, so the driver's loads stand for
// them.
#include "balance/trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace balance {
namespace {

std::span<BalancedModel> models_of(const Setting& s, Balancing& all) {
    return std::span(all.candidates).first(std::min(all.candidates.size(), s.policy.candidates.models.size()));
}

// A look at some candidates. excess: of each.
void look(std::span<BalancedModel> candidates, std::int64_t in_use, std::span<const double> excess) {
    for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].rating.add(excess[i], excess[in_use]);
}

}  // namespace

void rate_models(const Setting& s, const std::vector<double>& times, Balancing& all) {
    if (all.choice.round == 0) return;
    const std::span<BalancedModel> models = models_of(s, all);
    const std::int64_t processes = s.hosts.processes(), first = s.hosts.processes_of(s.team.rank()).begin;
    std::vector<std::vector<double>> lists{all.speeds.at_mean_speed(times, first)}, longer;
    for (const BalancedModel& m : models) lists.push_back(m.watch.spent);
    for (std::vector<double>& list : lists) list.resize(times.size(), 0.0);  // nothing was foretold since the last look
    const std::vector<OverAll> all_times = over_all(s.team, processes, lists);
    const OverAll& seen = all_times.front();
    for (std::size_t m = 1; m < lists.size(); ++m) {  // all that a model foretold may be too much, or too little
        const double scale = all_times[m].sum > 0 ? seen.sum / all_times[m].sum : 0;
        for (std::size_t p = 0; p < times.size(); ++p) lists[m][p] = std::max(0.0, lists[0][p] - scale * lists[m][p]);
        longer.push_back(std::move(lists[m]));
    }
    std::vector<double> excess;
    for (const OverAll& error : over_all(s.team, processes, longer)) excess.push_back(error.largest / seen.mean);
    for (BalancedModel& m : models) m.watch.spent.clear();
    if (all_times.back().sum > 0 && seen.sum > 0) look(models, all.choice.model, excess);
}

void become(const Setting& s, std::int64_t model, std::int64_t partition, Balancing& all) {
    const std::span<BalancedModel> models = models_of(s, all);
    BalancedModel& driver = all.models.front();
    if (model != all.choice.model)
        for (const std::int64_t m : {all.choice.model, model}) {  // the driver's goes back to its place
            std::swap(driver.model, models[m].model);
            std::swap(driver.state, models[m].state);
        }
    driver.contender.model = s.policy.candidates.models[model].model;
    driver.contender.partition = s.policy.candidates.partitions[partition].partition;
    all.choice.model = model, all.choice.partition = partition;
}

Trial::Trial(const Setting& setting, const Measured& measured, const HomeCells& cells, Balancing& all,
             CandidateSteps steps)
    : s_(setting),
      measured_(measured),
      cells_(cells),
      all_(all),
      choice_(all.choice),
      driver_(all.models.front()),
      steps_(std::move(steps)),
      models_(models_of(setting, all)),
      partitions_(std::span(all.candidates).subspan(models_.size())) {}

double Trial::longest(double seconds) const {
    return static_cast<double>(s_.team.max_of(std::llround(seconds * 1e9))) * 1e-9;
}

void Trial::rate(const Observation& seen) {
    if (choice_.round == 0) return;
    rate_models(s_, seen.times, all_);
    rate_partitions(seen.row.mean_seconds, static_cast<double>(measured_.moment.step - measured_.moment.last),
                    cells_.work, s_.policy.counting.work.ghost / static_cast<double>(s_.hosts.processes()));
}

bool Trial::balance(const Observation& seen, CellLoads& loads) {
    const bool wall = s_.policy.clock == BalanceClock::wall;
    std::optional<double> left;  // seconds that a trial may take
    begun_ = s_.meter.now();
    const auto balancings = static_cast<double>(Choice::rounds * std::ssize(all_.candidates));
    const double price = s_.policy.counting.work.balancing;  // by counted work
    if (wall)
        left = longest(Choice::most_spent * (begun_ - choice_.begun)) - choice_.spent -
               balancings * longest(seen.row.model_seconds + choice_.partition_seconds);
    else if (price > 0)
        left =
            Choice::most_spent * static_cast<double>(measured_.moment.step) * seen.row.max_seconds - balancings * price;
    if (!choice_.tries(driver_.history.updates, left)) return false;
    for (BalancedModel& m : models_)
        loads_.push_back(&m == &models_[choice_.model] ? loads : steps_.learn(m, seen.times));
    if (choice_.round == 0) begin();
    else if (wall)
        rate_partitions(seen.row.mean_seconds, static_cast<double>(measured_.moment.step) - driver_.history.load_step,
                        loads.load, measured_.ghost_seconds / std::max(1.0, driver_.history.ghost_cells));
    if (choice_.round + 1 == Choice::rounds) choose(loads);
    seconds_ = s_.meter.now() - begun_;
    return true;
}

void Trial::begin() {
    const std::vector<double> memory = driver_.model->memory();
    for (BalancedModel& m : models_)  // r1 and r1_ahead learn the same
        if (!memory.empty() && &m != &models_[choice_.model] && m.model->memory().size() == memory.size()) {
            m.model->set_memory(memory);
            m.state = driver_.state;
        }
    for (BalancedModel& c : all_.candidates) {
        c.rating = {};
        c.partition = driver_.partition;
        c.splits = {};
    }
}

// ghost_seconds: of a ghost cell, a step.
void Trial::rate_partitions(double mean_seconds, double steps, std::span<const std::int64_t> cost,
                            double ghost_seconds) {
    std::vector<double> excess;
    for (BalancedModel& c : partitions_) {
        BalancedModel& its = &c == &partitions_[choice_.partition] ? driver_ : c;
        const double seconds = ghost_seconds * its.history.ghost_cells + std::exchange(c.rating.seconds, 0.0) / steps;
        excess.push_back(1 / steps_.efficiency(its, cost) - 1 + (mean_seconds > 0 ? seconds / mean_seconds : 0));
    }
    look(partitions_, choice_.partition, excess);
}

void Trial::choose(CellLoads& loads) {
    const double margin = s_.policy.clock == BalanceClock::wall ? 0.01 : 0.002;
    const std::int64_t model = best_of(models_, choice_.model, margin),
                       partition = best_of(partitions_, choice_.partition, margin);
    const double before =
                     (1 + models_[choice_.model].rating.mean()) * (1 + partitions_[choice_.partition].rating.mean()),
                 saves = 1 - (1 + models_[model].rating.mean()) * (1 + partitions_[partition].rating.mean()) / before;
    if (model == choice_.model && partition == choice_.partition) return;
    choice_.made.push_back(
        {measured_.moment.step, models_[model].contender.name, partitions_[partition].contender.name, saves});
    if (model != choice_.model) loads = loads_[model];
    if (partition != choice_.partition) driver_.splits = partitions_[partition].splits;
    become(s_, model, partition, all_);
}

void Trial::go_on(const BalanceRow& driver) {
    begun_ = s_.meter.now();
    if (choice_.round + 1 == Choice::rounds) {
        choice_.round = 0;
        choice_.next = static_cast<std::int64_t>(4 * driver_.history.updates);
        for (BalancedModel& m : models_) m.watch.spent.clear();
    } else if (choice_.round > 0 || driver.decision == Decision::moved) {  // all begin with a new partition
        for (BalancedModel& c : partitions_) {
            const bool in_use = &c == &partitions_[choice_.partition];
            if (driver.decision != Decision::moved) continue;
            const double start = s_.meter.now();
            const Moved moved = in_use ? driver.moved : steps_.repartition(c, *all_.load);
            if (choice_.round == 0) continue;
            c.rating.seconds += s_.policy.counting.moving_seconds(moved, s_.hosts.processes());
            if (s_.policy.clock == BalanceClock::wall)
                c.rating.seconds += longest(in_use ? driver.partition_seconds : s_.meter.now() - start);
        }
        for (BalancedModel& m : models_) {
            m.partition = driver_.partition;
            m.watch.spent =
                steps_.foretell(m, &m == &models_[choice_.model] ? *all_.load : loads_[&m - models_.data()]);
        }
        ++choice_.round;
    }
    choice_.spent += longest(seconds_ + s_.meter.now() - begun_);
}

}  // namespace balance
