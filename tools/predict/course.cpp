// SPDX-License-Identifier: MIT
#include "tools/predict/course.hpp"

#include <algorithm>

namespace predict {
namespace {

using balance::BalanceClock;

// Result of a balancing.
struct Balanced {
    bool partitioned, moved;
};

// A run that balances: its partition, and what it remembers.
class Follower {
public:
    Follower(std::int64_t ranks, const Rules& rules, const balance::Grid& grid)
        : rules_(rules),
          setting_{alone_, grid, {ranks, 1}, rules.policy, quiet_},
          state_(balance::make_balancing(setting_, rules.constants, rules.model)),
          partition_(balance::one_box_each(balance::even_partition(grid, ranks))) {
        if (!rules.speeds.empty() && rules.policy.speeds != balance::SpeedSource::off) state_.speeds.set(rules.speeds);
    }

    const balance::Partition& partition() const { return partition_; }

    void start(const Snapshot& s) {
        balance::Measured nothing;
        nothing.moment = {s.step, s.step};
        nothing.first = true;
        take(balance::rebalance(setting_, cells_of(s), nothing, state_));
        if (rules_.migration_seconds) migration_seconds_ = rules_.migration_seconds(partition_);
    }

    Balanced balance(const Snapshot& s, std::int64_t last_step) {
        balance::Measured measured;
        measured.moment = {s.step, last_step};
        if (setting_.policy.clock == BalanceClock::work) measured.driver_times = times_of(s.field);
        else
            measured.observed =
                balance::observe(setting_, measured.moment, balance::MeasuredTimes{times_of(s.field), {}}, state_);
        if (measured.observed && measured.observed->row.decision != balance::Decision::none) return {false, false};
        const double updates = driver().history.updates;
        const bool moved = take(balance::rebalance(setting_, cells_of(s), measured, state_));
        if (moved && setting_.policy.clock == BalanceClock::wall) driver().history.move_seconds = migration_seconds_;
        return {driver().history.updates > updates, moved};
    }

private:
    balance::BalancedModel& driver() { return state_.models.front(); }

    bool take(balance::RoundOutcome outcome) {
        if (outcome.dead_end) throw *outcome.dead_end;
        if (!outcome.next) return false;
        partition_ = balance::whole(alone_, outcome.next->hosted);
        return true;
    }

    static balance::HomeCells cells_of(const Snapshot& s) { return {s.counts, s.field.load}; }

    // Seconds a step of each process.
    std::vector<double> times_of(const CellField& field) const {
        const balance::Owners owners(field.grid, field.grid.box(), all_of(partition_));
        std::vector<double> times = balance::counted_times(alone_, owners, field.load, setting_.hosts.processes());
        for (std::size_t p = 0; p < times.size(); ++p) {
            times[p] *= field.content();
            if (!rules_.speeds.empty()) times[p] /= rules_.speeds[p];
        }
        return times;
    }

    balance::SerialTeam alone_;
    balance::Meter quiet_;
    const Rules& rules_;
    balance::Setting setting_;
    balance::Balancing state_;
    balance::Partition partition_;
    double migration_seconds_ = 0;
};

}  // namespace

Course follow(std::span<const Snapshot> snapshots, std::int64_t ranks, const Rules& rules) {
    Course course;
    const auto cut = [&](const Snapshot& s) {
        return Snapshot{s.step, cut_cells(s.field, rules.parts), cut_cells(s.counts, s.field.grid, rules.parts)};
    };
    Follower run(ranks, rules, cut_cells(snapshots.front().field.grid, rules.parts));
    run.start(cut(snapshots.front()));
    course.stretches.push_back({0, run.partition()});
    for (std::size_t k = 1; k < snapshots.size(); ++k) {
        const Balanced done = run.balance(cut(snapshots[k]), snapshots[k - 1].step);
        ++(done.partitioned ? course.partitioned : course.kept);
        if (done.moved) course.migrations.push_back(k);
        course.stretches.push_back({k, run.partition()});
    }
    return course;
}

std::vector<StretchShare> shares_of_run(std::size_t stretches, std::int64_t last_step, std::int64_t run_steps,
                                        std::int64_t every, std::size_t most) {
    const bool goes_on = every > 0 && run_steps > std::max(last_step, every);
    if (!goes_on && stretches > 1) --stretches;
    constexpr double least = 0.01;
    const std::size_t begin = every > 0 && stretches > 1 ? 1 : 0;
    const double of_first = begin > 0 ? static_cast<double>(every) / static_cast<double>(run_steps) : 0;
    std::vector<StretchShare> shares;
    if (of_first >= least) shares.push_back({0, of_first});
    const std::size_t others = stretches - begin, taken = std::min(others, most - shares.size());
    const double of_each = (1 - (shares.empty() ? 0 : of_first)) / static_cast<double>(taken);
    for (std::size_t i = 0; i < taken; ++i)  // evenly among them
        shares.push_back({begin + (2 * i + 1) * others / (2 * taken), of_each});
    return shares;
}

CellField between(const Snapshot& a, const Snapshot& b) {
    CellField field = a.field;
    for (std::size_t i = 0; i < field.load.size(); ++i) field.load[i] = (field.load[i] + b.field.load[i]) / 2;
    for (std::size_t i = 0; i < field.items.size(); ++i) field.items[i] = (field.items[i] + b.field.items[i] + 1) / 2;
    return field;
}

}  // namespace predict
