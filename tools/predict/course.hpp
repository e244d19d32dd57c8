// SPDX-License-Identifier: MIT
// The course of a run's balancing: the rounds of a run (balance/round.hpp), on loads of some of its steps.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "balance/round.hpp"
#include "tools/predict/decomposed.hpp"

namespace predict {

/// Content of the cells at a step.
struct Snapshot {
    std::int64_t step = 0;
    CellField field{};
    std::vector<balance::CellCounts> counts{};  ///< what load models see of each cell, in the order of the field
};

/// How a run balances, and what it costs.
struct Rules {
    std::string model = "exact";  ///< load model
    balance::ModelConstants constants{};
    int parts = 1;             ///< Parts of each cell along each axis.
    balance::Policy policy{};  ///< Its costs and limits are for the field's particles and loads.
    /// Speed of each rank, if they differ. Known from the start, except with SpeedSource::off.
    std::vector<double> speeds{};
    /// Seconds of a balancing with a migration, in a run that begins with this partition. Runs by the wall clock decide
    /// by it. Called once with any clock. None: 0.
    std::function<double(const balance::Partition& first)> migration_seconds;
};

/// Steps with one partition, from one snapshot to the next; the last stretch has no end.
struct Stretch {
    std::size_t snapshot = 0;  ///< the first one
    balance::Partition partition{};
};

struct Course {
    std::vector<Stretch> stretches{};       ///< One from each snapshot on.
    std::int64_t kept = 0;                  ///< Opportunities without a balancing, by the criterion.
    std::int64_t partitioned = 0;           ///< Opportunities with a new partition.
    std::vector<std::size_t> migrations{};  ///< Snapshots with a migration.
};

/// A balancing at each snapshot, from an even partition on, with one process a rank. The first one knows no times. It
/// partitions by the policy's start and is not counted. snapshots: at least one. Throws balance::Infeasible if a
/// partition cannot keep the policy's limit, which ends a run, too.
Course follow(std::span<const Snapshot> snapshots, std::int64_t ranks, const Rules& rules);

/// A stretch, by its place in a course, and the part of a run's steps that it stands for.
struct StretchShare {
    std::size_t stretch = 0;
    double of_steps = 1;
};
/// The stretches of a course that stand for a run of `steps` steps: at most `most` (at least 2), with parts that add up
/// to 1. The partition of the first stretch was made before any times were known. So in a run with balancings it counts
/// for its own steps alone, and is left out if these are next to nothing.
///
/// stretches: at least one, and more than two only if the run has a balancing (run_steps > every).
///
/// last_step: step of the last snapshot. From there on a stretch has steps only if the run balances and goes on.
///
/// every: steps between balancings; 0: none.
std::vector<StretchShare> shares_of_run(std::size_t stretches, std::int64_t last_step, std::int64_t run_steps,
                                        std::int64_t every, std::size_t most);

/// Halfway between two snapshots: the mean of each cell's.
CellField between(const Snapshot& a, const Snapshot& b);

}  // namespace predict
