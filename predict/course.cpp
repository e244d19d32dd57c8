// SPDX-License-Identifier: MIT
#include "predict/course.hpp"

#include <utility>

#include "balance/model/work.hpp"
#include "balance/partition/quality.hpp"

namespace predict {
namespace {

const balance::SerialTeam alone;

// Seconds a step of each process.
std::vector<double> times_of(const CellField& field, const balance::Owners& owners, std::int64_t ranks,
                             std::span<const double> speeds) {
    std::vector<double> times;
    for (const std::int64_t ticks : balance::sums_by_process(alone, owners, field.load, ranks))
        times.push_back(balance::to_seconds(ticks) * field.length * field.length);
    for (std::size_t p = 0; p < speeds.size(); ++p) times[p] /= speeds[p];
    return times;
}

// A run that balances: its partition, and what it remembers.
class Follower {
public:
    Follower(std::int64_t ranks, const Rules& rules, const CellField& first)
        : ranks_(ranks), rules_(rules), partition_(balance::one_box_each(balance::even_partition(first.grid, ranks))) {}

    const balance::Partition& partition() const { return partition_; }

    void start(const CellField& field) {
        partition_ = rules_.partition(field, memory_);
        history_.lbe_reachable = balance::efficiency(
            times_of(field, balance::Owners(field.grid, field.grid.box(), partition_), ranks_, rules_.speeds));
    }

    // One balancing: kept at once, kept after a partition was made, or moved.
    balance::Decision balance(const CellField& field, double steps) {
        const balance::Owners before(field.grid, field.grid.box(), partition_);
        const std::vector<double> times = times_of(field, before, ranks_, rules_.speeds);
        balance::account(history_, spent_, times, steps, rules_.clock, rules_.migrate);
        if (rules_.migrate == balance::Migrate::gain && !history_.migration_pays()) return balance::Decision::none;
        history_.updates += 1;
        balance::Partition next = rules_.partition(field, memory_);
        const balance::Owners after(field.grid, field.grid.box(), next);
        const balance::Moved moved = balance::moved_between(before, after, field.items);
        history_.lbe_reachable = balance::efficiency(times_of(field, after, ranks_, rules_.speeds));
        if (rules_.clock == balance::Clock::work)
            history_.move_seconds = rules_.move_seconds * static_cast<double>(moved.particles) * field.length *
                                    field.length / static_cast<double>(ranks_);
        const balance::Decision decision = balance::decide(history_, rules_.migrate, true, moved);
        if (decision == balance::Decision::kept_gain) return decision;
        history_.lost_seconds = 0;
        spent_.clear();
        if (decision == balance::Decision::moved) partition_ = std::move(next);
        if (rules_.clock == balance::Clock::wall) history_.move_seconds = rules_.migration_seconds;
        return decision;
    }

private:
    std::int64_t ranks_;
    const Rules& rules_;
    balance::Partition partition_;
    std::vector<balance::Split> memory_;
    std::vector<double> spent_;
    balance::History history_;
};

}  // namespace

Course follow(std::span<const Snapshot> snapshots, std::int64_t ranks, const Rules& rules) {
    Course course;
    Follower run(ranks, rules, snapshots.front().field);
    run.start(snapshots.front().field);
    course.stretches.push_back({0, run.partition()});
    for (std::size_t k = 1; k < snapshots.size(); ++k) {
        const Snapshot& s = snapshots[k];
        const balance::Decision decision = run.balance(s.field, static_cast<double>(s.step - snapshots[k - 1].step));
        ++(decision == balance::Decision::none ? course.kept : course.partitioned);
        if (decision == balance::Decision::moved) course.migrations.push_back(k);
        if (k + 1 < snapshots.size()) course.stretches.push_back({k, run.partition()});
    }
    return course;
}

CellField between(const Snapshot& a, const Snapshot& b) {
    CellField field = a.field;
    for (std::size_t i = 0; i < field.load.size(); ++i) field.load[i] = (field.load[i] + b.field.load[i]) / 2;
    for (std::size_t i = 0; i < field.items.size(); ++i) field.items[i] = (field.items[i] + b.field.items[i] + 1) / 2;
    return field;
}

}  // namespace predict
