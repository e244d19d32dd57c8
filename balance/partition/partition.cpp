// SPDX-License-Identifier: MIT
// A chain of strips or cells balances better than the bisection alone, because its cuts do not depend on the boxes. The
// patches only give the order along which neighbours stay together.
#include "balance/partition/partition.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "balance/delivery.hpp"
#include "balance/partition/cell_graph.hpp"
#include "balance/partition/patches.hpp"

// One line for each kind of partition: the name `x` for decks, of which partition_x() does the work, and what differs
// from PartitionKind's defaults. Of those with add() the function makes the whole partition on every member, of those
// with hosted() only the processes that the member hosts.
// clang-format off
#define STEELYARD_PARTITIONS(add, hosted)                                                  \
    add(none, .follows_loads = false, .bisected_boxes = no_boxes)                          \
    hosted(rcb, .bisected_boxes = a_box_each)                                              \
    hosted(chain, .keeps_limit = true, .chained = true, .bisected_boxes = patch_count)     \
    add(nested, .bisected_boxes = no_boxes)                                                \
    add(compact, .looks_back = true, .bisected_boxes = no_boxes)                           \
    add(diffusion, .looks_back = true, .bisected_boxes = no_boxes)                         \
    add(metis, .bisected_boxes = no_boxes, .built = with_metis, .most_cells = graph_cells) \
    add(scotch, .bisected_boxes = no_boxes, .built = with_scotch, .most_cells = graph_cells)
// clang-format on

namespace balance {

using Whole = Partition(const PartitionInput&, const PartitionOptions&, Scattered<Split>& memory);
using Hosted = ProcessBoxes(const PartitionInput&, const PartitionOptions&, Scattered<Split>& memory);
#define STEELYARD_WHOLE(kind, ...) Whole partition_##kind;
#define STEELYARD_HOSTED(kind, ...) Hosted partition_##kind;
STEELYARD_PARTITIONS(STEELYARD_WHOLE, STEELYARD_HOSTED)
#undef STEELYARD_WHOLE
#undef STEELYARD_HOSTED

namespace {

constexpr std::int64_t graph_cells = most_cells_of_a_graph;
#ifdef STEELYARD_METIS
constexpr bool with_metis = true;
#else
constexpr bool with_metis = false;
#endif
#ifdef STEELYARD_SCOTCH
constexpr bool with_scotch = true;
#else
constexpr bool with_scotch = false;
#endif

// As many patches as wanted, or as fit.
std::int64_t patch_count(const Grid& grid, const PartitionOptions& options) {
    return std::min(options.processes * options.patches_per_process,
                    std::max(options.processes, capacity(grid.box(), options.min_width)));
}

// Names and kinds of the table above.
std::int64_t no_boxes(const Grid&, const PartitionOptions&) { return 0; }
std::int64_t a_box_each(const Grid&, const PartitionOptions& options) { return options.processes; }

// The parts that this member cuts.
Leaves bisected(const PartitionInput& in, const PartitionOptions& options, std::int64_t parts, Scattered<Split>& memory,
                std::span<const double> targets) {
    if (!options.sticky) memory = {};
    Leaves mine = bisect(in.team, in.grid, in.load, parts, options.min_width, memory, targets);
    if (!options.sticky) memory = {};  // nobody asks for it again
    return mine;
}

struct BoxOf {
    std::int64_t process;
    Box box;
};

// Takes boxes to the hosts of their processes. The boxes of all members, one member after the other, are in the order
// of their processes.
ProcessBoxes at_hosts(const PartitionInput& in, std::vector<BoxOf> boxes) {
    boxes = deliver_each(in.team, std::move(boxes), [&](const BoxOf& b) { return in.hosts.member_of(b.process); });
    const IndexRange mine = in.hosts.processes_of(in.team.rank());
    ProcessBoxes hosted;
    hosted.processes.reserve(mine.size());
    hosted.first.reserve(mine.size() + 1);
    hosted.boxes.reserve(boxes.size());
    std::vector<Box> owned;
    auto next = boxes.begin();
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
        for (owned.clear(); next != boxes.end() && next->process == p; ++next) owned.push_back(next->box);
        hosted.add(p, owned);
    }
    return hosted;
}

// This member's part of the chain.
ChainItems items_of(const PartitionInput& in, const PartitionOptions& options, std::span<const Patch> patches) {
    std::vector<Box> boxes;
    boxes.reserve(patches.size());
    for (const Patch& p : patches) boxes.push_back(p.box);
    const FieldPlan plan(in.team, Homes{in.grid, in.team.size()}, boxes);
    if (const std::int64_t values = plan.packed_values())
        in.meter.part(RoundPart::fields, 0, options.max_size > 0 ? 2 * values : values);
    const auto sums = [&](std::span<const std::int64_t> field) {
        const std::vector<std::int64_t> cells = plan.to_boxes(field);
        std::vector<std::int64_t> items;
        const std::int64_t* next = cells.data();
        for (const Box& b : boxes) {
            PatchRow(b, options.cut, in.grid.dimensions).add_items(next, items);
            next += b.cells();
        }
        return items;
    };
    return {sums(in.load), options.max_size > 0 ? sums(in.size) : std::vector<std::int64_t>{}};
}

}  // namespace

// Bisection into patches, the patches along a curve, the curve cut into chains (Liu et al. 2015, with finer cuts).
ProcessBoxes partition_chain(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>& memory) {
    const std::int64_t all = patch_count(in.grid, options);
    const Patches patches =
        patches_in_order(in.team, in.grid, bisected(in, options, all, memory, {}), all, options.order, options.cut);
    auto patch = patches.mine.begin();
    std::int64_t at = patches.mine.empty() ? 0 : patch->before;
    const ChainCuts cuts =
        chain_partition(in.team, items_of(in, options, patches.mine), at, options.processes, options.max_size,
                        in.targets, chain_leaders(patches.items, options.processes, in.team.size()), in.meter);

    std::vector<BoxOf> made;
    std::vector<Box> boxes;
    std::int64_t process = cuts.first_part;
    for (const std::int64_t end : cuts.at) {
        for (boxes.clear(); at < end;) {
            const PatchRow row(patch->box, options.cut, in.grid.dimensions);
            const std::int64_t upto = std::min(end, patch->before + row.items());
            row.add_boxes(at - patch->before, upto - patch->before, boxes);
            at = upto;
            if (at == patch->before + row.items()) ++patch;
        }
        for (const Box& b : boxes) made.push_back({process, b});
        ++process;
    }
    return at_hosts(in, std::move(made));
}

// Recursive coordinate bisection: as many boxes as processes (Berger & Bokhari 1987).
ProcessBoxes partition_rcb(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>& memory) {
    std::vector<double> targets;
    for (const std::int64_t t : in.targets.each()) targets.push_back(static_cast<double>(t));
    const Leaves leaves = bisected(in, options, options.processes, memory, targets);
    std::vector<BoxOf> made;
    made.reserve(leaves.boxes.size());
    for (const Box& b : leaves.boxes) made.push_back({leaves.first + std::ssize(made), b});
    return at_hosts(in, std::move(made));
}

// Even and fixed.
Partition partition_none(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    return one_box_each(even_partition(in.grid, options.processes));
}

// The part of a whole partition that this member hosts.
template <Whole make>
ProcessBoxes hosted_part(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>& memory) {
    return hosted_of(make(in, options, memory), in.hosts, in.team.rank());
}

std::span<const PartitionKind> partition_kinds() {
    static constexpr PartitionKind kinds[] = {
#define STEELYARD_WHOLE(kind, ...) {.name = #kind, .make = hosted_part<partition_##kind>, __VA_ARGS__},
#define STEELYARD_HOSTED(kind, ...) {.name = #kind, .make = partition_##kind, __VA_ARGS__},
        STEELYARD_PARTITIONS(STEELYARD_WHOLE, STEELYARD_HOSTED)
#undef STEELYARD_WHOLE
#undef STEELYARD_HOSTED
    };
    return kinds;
}

const PartitionKind& kind_of(const PartitionOptions& options) {
    for (const PartitionKind& kind : partition_kinds())
        if (options.kind == kind.name) return kind;
    throw std::invalid_argument("there is no partition of kind " + options.kind);
}

double expected_chain_items(const PartitionOptions& options, int dimensions, double cells) {
    const double patches = static_cast<double>(options.patches_per_process * options.processes);
    if (options.cut == CutAt::patches) return patches;
    if (options.cut == CutAt::cells) return cells;
    // Strips: of squares of n cells those along one side, n^(1/2); of cubes n^(2/3).
    double product = patches;
    for (int a = 1; a < dimensions; ++a) product *= cells;
    return std::pow(product, 1.0 / dimensions);
}

void prepare_partitions(const Team& team, const Grid& grid, const PartitionOptions& options) {
    const PartitionKind& kind = kind_of(options);
    if (kind.follows_loads) prepare_bisections(team);
    if (!kind.chained) return;
    const double items = expected_chain_items(options, grid.dimensions, static_cast<double>(grid.box().cells()));
    const int leaders = chain_leaders(static_cast<std::int64_t>(items), options.processes, team.size());
    if (leaders > 1) team.blocks(leaders);
}

ProcessBoxes make_partition(const PartitionInput& input, const PartitionOptions& options, Scattered<Split>& memory) {
    input.targets.require(options.processes);
    return kind_of(options).make(input, options, memory);
}

std::vector<std::string> partition_kind_names() {
    std::vector<std::string> names;
    for (const PartitionKind& kind : partition_kinds()) names.emplace_back(kind.name);
    return names;
}

}  // namespace balance
