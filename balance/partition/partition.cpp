// SPDX-License-Identifier: MIT
// A chain of strips or cells balances better than the bisection alone, because its cuts are independent of the boxes:
// the patches only give the order along which neighbours stay together.
#include "balance/partition/partition.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "balance/grid/curve.hpp"
#include "balance/partition/cell_graph.hpp"
#include "balance/partition/region.hpp"

// One line for each kind of partition: the name `x` for decks, of which partition_x() does the work, and what differs
// from PartitionKind's defaults.
// clang-format off
#define STEELYARD_PARTITIONS(add)                                                         \
    add(none, .follows_loads = false, .bisected_boxes = no_boxes)                         \
    add(rcb, .bisected_boxes = a_box_each)                                                \
    add(chain, .keeps_limit = true, .chained = true, .bisected_boxes = patch_count)       \
    add(nested, .bisected_boxes = no_boxes)                                               \
    add(metis, .bisected_boxes = no_boxes, .built = with_metis, .most_cells = graph_cells) \
    add(scotch, .bisected_boxes = no_boxes, .built = with_scotch, .most_cells = graph_cells)
// clang-format on

namespace balance {

#define STEELYARD_DECLARED(name, ...) \
    Partition partition_##name(const PartitionInput&, const PartitionOptions&, Scattered<Split>& memory);
STEELYARD_PARTITIONS(STEELYARD_DECLARED)
#undef STEELYARD_DECLARED

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

using Load = std::span<const std::int64_t>;

// The places of keys in ascending order, equal ones in their order: sorted digit by digit, the lowest first, in a time
// that grows with their number.
std::vector<std::uint32_t> ascending(std::span<const std::uint64_t> keys) {
    constexpr int bits = 11;
    const std::uint64_t largest = *std::max_element(keys.begin(), keys.end());
    std::vector<std::uint32_t> order(keys.size()), next(keys.size());
    std::iota(order.begin(), order.end(), 0);
    for (int shift = 0; shift < 64 && largest >> shift > 0; shift += bits) {
        const auto digit = [&](std::uint32_t i) { return keys[i] >> shift & ((1U << bits) - 1); };
        std::array<std::uint32_t, (1 << bits) + 1> first{};
        for (const std::uint32_t i : order) ++first[digit(i) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        for (const std::uint32_t i : order) next[first[digit(i)]++] = i;
        order.swap(next);
    }
    return order;
}

// Patches along the curve through their centres.
std::vector<Box> in_order(std::vector<Box> patches, Order order, int dimensions) {
    if (order == Order::tree) return patches;
    std::vector<std::uint64_t> keys;
    keys.reserve(patches.size());
    for (const Box& patch : patches) {
        std::array<std::uint32_t, 3> at;
        for (int a = 0; a < 3; ++a) at[a] = static_cast<std::uint32_t>(patch.lower[a] + patch.upper[a]);
        if (dimensions == 3) keys.push_back(order == Order::morton ? morton_key(at) : hilbert_key(at));
        else keys.push_back(order == Order::morton ? morton_key(at[0], at[1]) : hilbert_key(at[0], at[1]));
    }
    std::vector<Box> sorted;
    sorted.reserve(patches.size());
    for (const std::uint32_t i : ascending(keys)) sorted.push_back(patches[i]);
    return sorted;
}

// A patch as a row of items. Cells are taken in the order of its sides, along the shortest one fastest; strips are the
// lines of cells along that one. In two dimensions they go across the longer side; in three they are pencils.
class Row {
public:
    Row(const Box& patch, CutAt cut, int dimensions)
        : patch_(patch), cut_(cut), axes_(axes_by_length(patch)), line_(patch.extent(axes_[dimensions - 1])) {}

    std::int64_t items() const {
        return cut_ == CutAt::patches ? 1 : cut_ == CutAt::strips ? patch_.cells() / line_ : patch_.cells();
    }
    // Adds sums of the patch's cells over its items.
    void add_items(const std::int64_t* cells, std::vector<std::int64_t>& items) const {
        const std::size_t begin = items.size();
        items.resize(begin + this->items(), 0);
        std::array<std::int64_t, 3> step{};  // places of a cell in the row, along each axis
        step[axes_[2]] = 1;
        step[axes_[1]] = patch_.extent(axes_[2]);
        step[axes_[0]] = step[axes_[1]] * patch_.extent(axes_[1]);
        const std::int64_t each = patch_.cells() / this->items();
        for (int x = 0; x < patch_.extent(0); ++x)
            for (int y = 0; y < patch_.extent(1); ++y)
                for (int z = 0; z < patch_.extent(2); ++z)
                    items[begin + (x * step[0] + y * step[1] + z * step[2]) / each] += *cells++;
    }
    // The boxes that hold items [begin, end).
    void add_boxes(std::int64_t begin, std::int64_t end, std::vector<Box>& boxes) const {
        const std::int64_t each = patch_.cells() / items();
        add_cells(patch_, axes_, begin * each, end * each, boxes);
    }

private:
    Box patch_;
    CutAt cut_;
    std::array<int, 3> axes_;
    std::int64_t line_;  // cells of a strip
};

// As many patches as wanted, or as fit.
std::int64_t patch_count(const Grid& grid, const PartitionOptions& options) {
    return std::min(options.processes * options.patches_per_process,
                    std::max(options.processes, capacity(grid.box(), options.min_width)));
}

// Of the table above.
std::int64_t no_boxes(const Grid&, const PartitionOptions&) { return 0; }
std::int64_t a_box_each(const Grid&, const PartitionOptions& options) { return options.processes; }

std::vector<Box> bisected(const PartitionInput& in, const PartitionOptions& options, std::int64_t parts,
                          Scattered<Split>& memory, std::span<const double> targets) {
    if (!options.sticky) memory = {};
    const Leaves mine = bisect(in.team, in.grid, in.load, parts, options.min_width, memory, targets);
    if (!options.sticky) memory = {};  // nobody asks for it again
    return all_gather<Box>(in.team, mine.boxes);
}

// Deals patches to members so that each has about as many items, since a member with more would be waited for.
// items_before: of each patch and of the end.
std::vector<std::int64_t> deal(std::span<const std::int64_t> items_before, int members) {
    std::vector<std::int64_t> first(members + 1, 0);
    for (std::size_t p = 0; p + 1 < items_before.size(); ++p) {
        const std::int64_t twice_middle = items_before[p] + items_before[p + 1];
        ++first[twice_middle * members / (2 * items_before.back()) + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
}

// This member's part of the chain: the items of the patches that it is dealt.
ChainItems items_of_member(const PartitionInput& in, const PartitionOptions& options, const std::vector<Box>& patches,
                           std::span<const std::int64_t> items_before) {
    const BoxList sequence{patches, deal(items_before, in.team.size())};
    const FieldPlan plan(in.team, Homes{in.grid, in.team.size()}, sequence);
    const auto items_of = [&](Load field) {
        const std::vector<std::int64_t> cells = plan.to_boxes(field);
        std::vector<std::int64_t> items;
        const std::int64_t* next = cells.data();
        for (std::int64_t b = sequence.first[in.team.rank()]; b < sequence.first[in.team.rank() + 1]; ++b) {
            Row(patches[b], options.cut, in.grid.dimensions).add_items(next, items);
            next += patches[b].cells();
        }
        return items;
    };
    return {items_of(in.load), options.max_size > 0 ? items_of(in.size) : std::vector<std::int64_t>{}};
}

}  // namespace

// Bisection into patches, the patches along a curve, the curve cut into chains (Liu et al. 2015, with finer cuts).
Partition partition_chain(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>& memory) {
    const std::vector<Box> patches =
        in_order(bisected(in, options, patch_count(in.grid, options), memory, {}), options.order, in.grid.dimensions);
    std::vector<std::int64_t> before{0};  // items before each patch
    before.reserve(patches.size() + 1);
    for (const Box& p : patches) before.push_back(before.back() + Row(p, options.cut, in.grid.dimensions).items());
    const std::vector<std::int64_t> cuts =
        chain_partition(in.team, items_of_member(in, options, patches, before), options.processes, options.max_size,
                        in.targets, chain_leaders(before.back(), options.processes, in.team.size()), in.meter);

    Partition result;
    std::size_t patch = 0;
    for (std::int64_t p = 0; p < options.processes; ++p) {
        result.first.push_back(static_cast<std::int64_t>(result.boxes.size()));
        for (std::int64_t at = cuts[p]; at < cuts[p + 1];) {
            while (at >= before[patch + 1]) ++patch;
            const std::int64_t end = std::min(cuts[p + 1], before[patch + 1]);
            Row(patches[patch], options.cut, in.grid.dimensions)
                .add_boxes(at - before[patch], end - before[patch], result.boxes);
            at = end;
        }
    }
    result.first.push_back(static_cast<std::int64_t>(result.boxes.size()));
    return result;
}

// Recursive coordinate bisection: as many boxes as processes (Berger & Bokhari 1987).
Partition partition_rcb(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>& memory) {
    const std::vector<double> targets(in.targets.begin(), in.targets.end());
    return one_box_each(bisected(in, options, options.processes, memory, targets));
}

// Even and fixed.
Partition partition_none(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    return one_box_each(even_partition(in.grid, options.processes));
}

std::span<const PartitionKind> partition_kinds() {
    static constexpr PartitionKind kinds[] = {
#define STEELYARD_NAMED(kind, ...) {.name = #kind, .make = partition_##kind, __VA_ARGS__},
        STEELYARD_PARTITIONS(STEELYARD_NAMED)
#undef STEELYARD_NAMED
    };
    return kinds;
}

const PartitionKind& kind_of(const PartitionOptions& options) {
    for (const PartitionKind& kind : partition_kinds())
        if (options.kind == kind.name) return kind;
    throw std::invalid_argument("there is no partition of kind " + options.kind);
}

Partition make_partition(const PartitionInput& input, const PartitionOptions& options, Scattered<Split>& memory) {
    return kind_of(options).make(input, options, memory);
}

std::vector<std::string> partition_kind_names() {
    std::vector<std::string> names;
    for (const PartitionKind& kind : partition_kinds()) names.emplace_back(kind.name);
    return names;
}

BoxList boxes_by_process(const Partition& partition, const Hosts& hosts) {
    BoxList list{partition.boxes, {0}};
    for (int m = 0; m < hosts.members(); ++m) list.first.push_back(partition.first[hosts.processes_of(m).end]);
    return list;
}

}  // namespace balance
