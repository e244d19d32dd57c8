// SPDX-License-Identifier: MIT
// From a load field to the cells of each process: bisection into patches, patches along a curve, the curve cut among
// processes. To add a partitioner: a file with a function partition_x() of the signature of partition_none(), a line in
// STEELYARD_PARTITIONS (partition.cpp), a test: docs/extend.md.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "balance/meter.hpp"
#include "balance/partition/bisection.hpp"
#include "balance/partition/chain.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/partition/hosts.hpp"
#include "balance/partition/part_targets.hpp"
#include "balance/partition/process_boxes.hpp"
#include "balance/words.hpp"

namespace balance {

enum class PatchOrder { morton, hilbert, tree };
constexpr auto words_of(PatchOrder) {
    return std::to_array<Word<PatchOrder>>(
        {{PatchOrder::morton, "morton"}, {PatchOrder::hilbert, "hilbert"}, {PatchOrder::tree, "tree"}});
}
/// Where the chain may be cut: between whole patches (Liu et al. 2015), between one-cell-wide strips of a patch,
/// anywhere.
enum class CutAt { patches, strips, cells };
constexpr auto words_of(CutAt) {
    return std::to_array<Word<CutAt>>(
        {{CutAt::patches, "patches"}, {CutAt::strips, "strips"}, {CutAt::cells, "cells"}});
}

struct PartitionOptions {
    std::string kind = "chain";
    std::int64_t processes = 1;
    PatchOrder order = PatchOrder::morton;
    CutAt cut = CutAt::strips;
    std::int64_t patches_per_process = 4;  ///< Fewer if patches would be narrower than min_width.
    int min_width = 1;                     ///< Smallest width of a patch, cells.
    bool sticky = true;                    ///< Only cuts of the bisection move.
    std::int64_t processes_per_node = 0;   ///< Nested: consecutive processes on a node; 0: all on one.
    int threads = 1;                       ///< Nested: threads of each process.
    std::int64_t max_size = 0;             ///< Limit of a process, in the units of `size` (particles); 0: none.
    friend bool operator==(const PartitionOptions&, const PartitionOptions&) = default;
};

/// Input of a partitioner: the loads and sizes of the cells of this member's home.
struct PartitionInput {
    const Team& team;
    const Grid& grid;
    const Hosts& hosts;  ///< of PartitionOptions::processes, on the members of the team
    std::span<const std::int64_t> load, size;
    PartTargets targets = {};  ///< what each process should get
    const Meter& meter = no_meter;
    const ProcessBoxes* in_use = nullptr;  ///< the processes that this member hosts now; null on all members: unknown
};

/// Returns the processes that this member hosts, with their cells. whole() makes one partition of them. Collective,
/// with the same cells for each process on any number of members.
/// load: loads of the cells of this member's home, integers in any unit.
/// size: particles of each cell (empty without a limit).
/// memory: see bisect(). Keep it from one balancing to the next.
/// Throws on all members alike. Infeasible: the limit can't be met (only kind chain has a limit).
/// std::invalid_argument: the kind is unknown or was not built, or targets are of another number of processes.
ProcessBoxes make_partition(const PartitionInput& input, const PartitionOptions& options, Scattered<Split>& memory);

/// A kind of partition: what the rest of the program must know of it. Its entry stands in partition.cpp.
struct PartitionKind {
    const char* name;  ///< partition.kind of a deck
    ProcessBoxes (*make)(const PartitionInput&, const PartitionOptions&, Scattered<Split>& memory);
    bool follows_loads = true;  ///< False: the boxes do not depend on the loads.
    bool keeps_limit = false;   ///< True: it keeps the limit PartitionOptions::max_size.
    bool chained = false;       ///< True: it cuts a chain of pieces.
    bool looks_back = false;    ///< True: the partition in use decides, too.
    /// Number of boxes of the bisection behind the partition. `memory` holds 2 n - 1 splits of n boxes, none of 0. Null
    /// for a kind with another memory.
    std::int64_t (*bisected_boxes)(const Grid&, const PartitionOptions&) = nullptr;
    bool built = true;  ///< false: by a library that was not there when this was built; make() throws
    std::int64_t most_cells = std::numeric_limits<std::int64_t>::max();  ///< that a grid may have
};
/// All kinds, in the order of the documentation.
std::span<const PartitionKind> partition_kinds();
/// That of these options. Throws std::invalid_argument when the name is unknown.
const PartitionKind& kind_of(const PartitionOptions& options);

/// Number of items of a chain on a grid of `cells` cells, if the patches are squares or cubes.
double expected_chain_items(const PartitionOptions& options, int dimensions, double cells);
/// Makes the blocks of members that partitions of this kind use again and again. Without it the first one makes them,
/// which on thousands of ranks takes longer than the partition. Collective.
void prepare_partitions(const Team& team, const Grid& grid, const PartitionOptions& options);

/// Names of `partition.kind`.
std::vector<std::string> partition_kind_names();

}  // namespace balance
