// SPDX-License-Identifier: MIT
// The three-level nested partition for machines of unequal nodes, CPUs, cores and accelerators (Liu, Yang & Yang 2018).
// Level 1 divides the grid over nodes, level 2 each node's region over its CPUs and accelerators, and level 3 each
// CPU's region over its cores.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/nested/machine.hpp"
#include "balance/team.hpp"
#include "balance/words.hpp"

namespace balance {

enum class NestedAlgorithm {
    greedy,       ///< Algorithm 1: accelerators are resources like others, but get one region only
    inner_outer,  ///< Algorithm 2: accelerators get inner regions, away from other nodes and from each other
};
constexpr auto words_of(NestedAlgorithm) {
    return std::to_array<Word<NestedAlgorithm>>(
        {{NestedAlgorithm::greedy, "greedy"}, {NestedAlgorithm::inner_outer, "inner_outer"}});
}

struct NestedOptions {
    NestedAlgorithm algorithm = NestedAlgorithm::inner_outer;
    int ghost_width = 1;  ///< cells
};

/// Cells of each resource of resources_of(machine): boxes[first[r]] .. boxes[first[r + 1]], disjoint; all cover the
/// grid.
struct NestedPartition {
    std::vector<Box> boxes;
    std::vector<std::int64_t> first;
    std::vector<double> shortfall;  ///< of each resource: the part of its target that it could not be given, 0 to 1
    friend bool operator==(const NestedPartition&, const NestedPartition&) = default;
};

/// load: of the cells of this member's home, integers >= 0; empty on all members: every cell's is 1, which takes no
/// memory. Level 1 is computed alike on all members from loads of coarse blocks; the nodes are then dealt to the
/// members, which compute levels 2 and 3. Collective; the same on all members, whatever their number. Throws
/// std::invalid_argument for a machine that resources_of() refuses, or for more nodes than cells.
NestedPartition nested_partition(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                                 const MachineSpec& machine, const NestedOptions& options);

/// An upper bound on the heterogeneous LBE_m of any partition of whole cells. It knows three obstacles:
/// - One resource takes the heaviest cell, so the step takes at least the fastest resource's time for it.
/// - If all loads are multiples of one number (equal cells above all), so is the load of each resource.
/// - With Algorithm 2, the CPUs of a node must at least take its rim, the cells within the ghost width of other nodes.
///   Accelerators cannot help there.
///
/// The third bound assumes the thinnest rim of so many cells. It is the rim of a box (free at the ends of the grid), of
/// a slab across the grid, or of all but a box. All its cells are as light as the lightest cell. The node has as few
/// cells as the heaviest cell allows.
///
/// Partitions can also miss the bound because regions have to be compact, or because unequal cells do not fill a core.
/// load: as in nested_partition(). Collective; the same on all members.
double lbe_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const MachineSpec& machine,
                 const NestedOptions& options);

/// Quality of a nested partition. Ghost cells lie within the ghost width of a resource's cells. They count once for
/// each unit that sees them. Between nodes the unit is the node, between CPUs the CPU or accelerator, inside the core.
struct NestedQuality {
    double lbe_model = 1;                   ///< Heterogeneous LBE_m: (sum l / sum s) / max (l / s).
    std::vector<std::int64_t> load, cells;  ///< Of each resource.
    /// Ghost cells of each resource that it receives from remote regions. Another node owns them or, for an
    /// accelerator, another accelerator.
    std::vector<std::int64_t> remote_cells;
    /// Cells of accelerators that see a core of another CPU of their node than the one that owns most of their ghosts.
    std::int64_t other_cpu_contacts = 0;
    std::int64_t ghosts_between_nodes = 0;  ///< owned by another node
    std::int64_t ghosts_between_cpus = 0;   ///< owned by another CPU or accelerator of the same node
    std::int64_t ghosts_inside = 0;         ///< owned by another core of the same CPU
    double node_distance = 0;               ///< mean of |node - node'| over the ghosts between nodes
    friend bool operator==(const NestedQuality&, const NestedQuality&) = default;
};
/// load: as in nested_partition(). Collective; the same on all members.
NestedQuality quality_of(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                         const MachineSpec& machine, const NestedPartition& partition, int ghost_width);

/// The same ghosts, each counted by its weight: the amount that has to be sent.
struct NestedTraffic {
    std::int64_t between_nodes = 0, between_cpus = 0, inside = 0;
    double node_distance = 0;  ///< mean of |node - node'| over what is sent between nodes
};
/// weight: of the cells of this member's home; empty on all members: 1 each. Collective; the same on all members.
NestedTraffic traffic_of(const Team& team, const Grid& grid, std::span<const std::int64_t> weight,
                         const MachineSpec& machine, const NestedPartition& partition, int ghost_width);

}  // namespace balance
