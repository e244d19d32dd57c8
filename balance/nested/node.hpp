// SPDX-License-Identifier: MIT
// Levels 2 and 3 of the nested partition, inside one node: its region over its CPUs and accelerators, each CPU's region
// over its cores.
#pragma once
#include <cstdint>
#include <vector>

#include "balance/nested/nested.hpp"
#include "balance/nested/split.hpp"

namespace balance {

/// The CPUs and accelerators of a node. PartNeed::cells of a CPU is the number of its cores.
struct NodeParts {
    std::vector<PartNeed> cpus;
    std::vector<double> accelerators;  ///< their speeds
};

double speed_of(const NodeParts& parts);

inline constexpr double cut_tolerance = 1e-3;  ///< of a part's load: nearer to its target no cut is looked for

/// A node and the region that it got at level 1. loads: at least of its cells.
struct NodeProblem {
    const Grid& grid;
    const Region& region;
    const Loads& loads;
    const NodeParts& parts;
    int ghost_width;
};

/// Level 2: one region for each CPU and each accelerator; an accelerator's hangs together.
struct NodeSplit {
    std::vector<Region> cpus, accelerators;
};

/// Algorithm 1: the resource with the most capacity left cuts its share off the largest region that is left. An
/// accelerator does so once.
NodeSplit split_greedily(const NodeProblem& node);

/// Algorithm 2: accelerators first, from the inner part of what is left; then the CPUs share the rest.
NodeSplit split_inner_outer(const NodeProblem& node);

/// A connected region inside `region` with a load as near to `target` as possible. It is a box and perhaps a part of
/// one more line of cells. If no single box is large enough, it is several boxes. It has at least one cell and at most
/// `most_cells` (>= 1). region: not empty, not necessarily connected.
Region block_of(const Region& region, const Loads& loads, double target, std::int64_t most_cells);

/// The part of each accelerator's target, by speed, that it did not get; 0 if it got enough.
std::vector<double> shortfall_of(const NodeProblem& node, const NodeSplit& split);

}  // namespace balance
