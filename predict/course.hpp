// SPDX-License-Identifier: MIT
// What balancing does as a run goes on: the rounds of a run (balance/round.hpp), on loads of some of its steps.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "balance/round.hpp"
#include "predict/decomposed.hpp"

namespace predict {

/// What the cells hold at a step.
struct Snapshot {
    std::int64_t step = 0;
    CellField field{};
    std::vector<balance::CellCounts> counts{};  ///< what load models see of each cell, in the order of the field
};

/// How a run balances, and what it costs.
struct Rules {
    std::string model = "exact";  ///< load model
    balance::ModelConstants constants{};
    balance::Policy policy{};      ///< its costs and limits are of the field's particles and loads
    std::vector<double> speeds{};  ///< of each rank, where they differ; known from the start but for SpeedSource::off
    /// Seconds of a balancing with a migration, in a run that begins with this partition; what runs by the wall clock
    /// decide by. Called once, whatever the clock. None: 0.
    std::function<double(const balance::Partition& first)> migration_seconds;
};

/// Steps with one partition, from one snapshot to the next; the last stretch has no end.
struct Stretch {
    std::size_t snapshot = 0;  ///< the first one
    balance::Partition partition{};
};

struct Course {
    std::vector<Stretch> stretches{};       ///< one from each snapshot on
    std::int64_t kept = 0;                  ///< opportunities at which the criterion asked for no balancing
    std::int64_t partitioned = 0;           ///< those that made a partition
    std::vector<std::size_t> migrations{};  ///< snapshots at which particles were moved to a new partition
};

/// A balancing at each snapshot, from an even partition on, with one process a rank; the first one, of which no time is
/// known, partitions by the policy's start and is not counted. snapshots: at least one. Throws balance::Infeasible
/// where a partition cannot keep the policy's limit, which ends a run, too.
Course follow(std::span<const Snapshot> snapshots, std::int64_t ranks, const Rules& rules);

/// A stretch, by its place in a course, and the part of a run's steps that it stands for.
struct Share {
    std::size_t stretch = 0;
    double of_steps = 1;
};
/// Which stretches of a course stand for a run of so many steps: at most `most` (at least 2), whose parts add up to 1.
/// stretches: at least one, and more than two only where the run has a balancing (run_steps > every).
/// last_step: of the last snapshot; from there on a stretch has steps only in a run that balances and goes on. every:
/// steps between balancings; 0: none. The partition of the first stretch was made before any times were known, so in a
/// run that balances it counts for its own steps alone; where these are next to nothing, it is left out.
std::vector<Share> shares_of_run(std::size_t stretches, std::int64_t last_step, std::int64_t run_steps,
                                 std::int64_t every, std::size_t most);

/// Halfway between two snapshots: the mean of each cell's.
CellField between(const Snapshot& a, const Snapshot& b);

}  // namespace predict
