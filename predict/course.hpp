// SPDX-License-Identifier: MIT
// What balancing does as a run goes on: the same decisions that a run makes (balance/decision.hpp), on loads of some of
// its steps. Models are taken to know the loads exactly.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "balance/decision.hpp"
#include "balance/partition/partition.hpp"
#include "predict/decomposed.hpp"

namespace predict {

/// What the cells hold at a step.
struct Snapshot {
    std::int64_t step = 0;
    CellField field;
};

/// When a run balances, and by what it decides.
struct Rules {
    balance::Clock clock = balance::Clock::work;
    balance::Migrate migrate = balance::Migrate::gain;
    double move_seconds = 0;       ///< by counted work: for each particle of a mean process
    std::vector<double> speeds{};  ///< of each rank, where they differ
    double migration_seconds = 0;  ///< by the wall clock: a balancing with a migration
    /// The deck's partitioner. memory: see balance::make_partition().
    std::function<balance::Partition(const CellField&, std::vector<balance::Split>& memory)> partition;
};

/// Steps with one partition, from one snapshot to the next.
struct Stretch {
    std::size_t snapshot = 0;  ///< the first one
    balance::Partition partition{};
};

struct Course {
    std::vector<Stretch> stretches{};       ///< one between each two snapshots; of one snapshot: one
    std::int64_t kept = 0;                  ///< balancings at which the times said that a migration would not pay
    std::int64_t partitioned = 0;           ///< those that made a partition
    std::vector<std::size_t> migrations{};  ///< snapshots at which particles were moved to a new partition
};

/// A balancing at each snapshot, from an even partition on, with one process a rank; the first one, of which no time is
/// known, always takes its new partition and is not counted. snapshots: at least one.
Course follow(std::span<const Snapshot> snapshots, std::int64_t ranks, const Rules& rules);

/// Halfway between two snapshots: the mean of each cell's.
CellField between(const Snapshot& a, const Snapshot& b);

}  // namespace predict
