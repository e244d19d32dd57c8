// SPDX-License-Identifier: MIT
// A chain of strips or cells balances better than the bisection alone, because its cuts are independent of the boxes:
// the patches only give the order along which neighbours stay together.
#include "balance/partition/partition.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "balance/grid/curve.hpp"

// One line for each kind of partition: the name `x` for decks, of which partition_x() does the work, and what differs
// from PartitionKind's defaults.
// clang-format off
#define STEELYARD_PARTITIONS(add)                                                         \
    add(none, .follows_loads = false, .bisected_boxes = no_boxes)                         \
    add(rcb, .bisected_boxes = a_box_each)                                                \
    add(chain, .keeps_limit = true, .chained = true, .bisected_boxes = patch_count)       \
    add(nested, .bisected_boxes = no_boxes)
// clang-format on

namespace balance {

#define STEELYARD_DECLARED(name, ...) \
    Partition partition_##name(const PartitionInput&, const PartitionOptions&, std::vector<Split>& memory);
STEELYARD_PARTITIONS(STEELYARD_DECLARED)
#undef STEELYARD_DECLARED

namespace {

using Load = std::span<const std::int64_t>;

// Patches along the curve through their centres.
std::vector<Box> in_order(std::vector<Box> patches, Order order) {
    if (order == Order::tree) return patches;
    std::vector<std::pair<std::uint64_t, std::size_t>> keys(patches.size());
    for (std::size_t i = 0; i < patches.size(); ++i) {
        const auto x = static_cast<std::uint32_t>(patches[i].lower[0] + patches[i].upper[0]),
                   y = static_cast<std::uint32_t>(patches[i].lower[1] + patches[i].upper[1]);
        keys[i] = {order == Order::morton ? morton_key(x, y) : hilbert_key(x, y), i};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<Box> sorted(patches.size());
    for (std::size_t i = 0; i < patches.size(); ++i) sorted[i] = patches[keys[i].second];
    return sorted;
}

// A patch as a row of items: strips go across its longer side, cells run strip by strip.
int long_axis(const Box& patch) { return patch.extent(1) > patch.extent(0) ? 1 : 0; }
std::int64_t items_in(const Box& patch, CutAt cut) {
    return cut == CutAt::patches ? 1 : cut == CutAt::strips ? patch.extent(long_axis(patch)) : patch.cells();
}

// Sums of a patch's cells (ordered by column) over its items.
void add_items(const Box& patch, CutAt cut, const std::int64_t* cells, std::vector<std::int64_t>& items) {
    const int nx = patch.extent(0), ny = patch.extent(1);
    if (cut == CutAt::patches) {
        items.push_back(std::accumulate(cells, cells + patch.cells(), std::int64_t{0}));
    } else if (long_axis(patch) == 0) {
        for (int x = 0; x < nx; ++x, cells += ny) {
            if (cut == CutAt::strips) items.push_back(std::accumulate(cells, cells + ny, std::int64_t{0}));
            else items.insert(items.end(), cells, cells + ny);
        }
    } else {
        const std::size_t begin = items.size();
        items.resize(begin + items_in(patch, cut), 0);
        for (int x = 0; x < nx; ++x)
            for (int y = 0; y < ny; ++y)
                items[begin + (cut == CutAt::strips ? y : std::int64_t{y} * nx + x)] += *cells++;
    }
}

// The boxes that hold items [begin, end) of a patch: one for strips, up to three for cells.
void add_boxes(const Box& patch, CutAt cut, std::int64_t begin, std::int64_t end, std::vector<Box>& boxes) {
    const int axis = long_axis(patch), across = 1 - axis;
    const std::int64_t width = cut == CutAt::cells ? patch.extent(across) : 1;
    const auto add = [&](std::int64_t strip, std::int64_t strips, std::int64_t lower, std::int64_t upper) {
        if (strips <= 0 || lower >= upper) return;
        Box b = patch;
        b.lower[axis] = patch.lower[axis] + static_cast<int>(strip);
        b.upper[axis] = b.lower[axis] + static_cast<int>(strips);
        if (cut == CutAt::cells) {
            b.lower[across] = patch.lower[across] + static_cast<int>(lower);
            b.upper[across] = patch.lower[across] + static_cast<int>(upper);
        }
        boxes.push_back(b);
    };
    if (cut == CutAt::patches) {
        boxes.push_back(patch);
        return;
    }
    const std::int64_t first = begin / width, last = end / width;
    if (begin % width == 0) {
        add(first, last - first, 0, width);
    } else if (first == last) {
        add(first, 1, begin % width, end % width);
        return;
    } else {
        add(first, 1, begin % width, width);
        add(first + 1, last - first - 1, 0, width);
    }
    add(last, 1, 0, end % width);
}

// As many patches as wanted, or as fit.
std::int64_t patch_count(const Grid& grid, const PartitionOptions& options) {
    return std::min(options.processes * options.patches_per_process,
                    std::max(options.processes, capacity(grid.box(), options.min_width)));
}

// Of the table above.
std::int64_t no_boxes(const Grid&, const PartitionOptions&) { return 0; }
std::int64_t a_box_each(const Grid&, const PartitionOptions& options) { return options.processes; }

std::vector<Box> bisected(const PartitionInput& in, const PartitionOptions& options, std::int64_t parts,
                          std::vector<Split>& memory, std::span<const double> targets) {
    if (!options.sticky) memory.clear();
    return bisect(in.team, in.grid, in.load, parts, options.min_width, memory, targets);
}

// This member's part of the chain: the items of its block of the patches.
ChainItems items_of_member(const PartitionInput& in, const PartitionOptions& options, const std::vector<Box>& patches) {
    BoxList sequence{patches, {}};
    for (int m = 0; m <= in.team.size(); ++m)
        sequence.first.push_back(static_cast<std::int64_t>(patches.size()) * m / in.team.size());
    const FieldPlan plan(in.team, Homes{in.grid, in.team.size()}, sequence);
    const auto items_of = [&](Load field) {
        const std::vector<std::int64_t> cells = plan.to_boxes(field);
        std::vector<std::int64_t> items;
        const std::int64_t* next = cells.data();
        for (std::int64_t b = sequence.first[in.team.rank()]; b < sequence.first[in.team.rank() + 1]; ++b) {
            add_items(patches[b], options.cut, next, items);
            next += patches[b].cells();
        }
        return items;
    };
    return {items_of(in.load), options.max_size > 0 ? items_of(in.size) : std::vector<std::int64_t>{}};
}

// The cuts of the whole chain, on all members. One member finds them: it takes 8 bytes an item there for a moment, and
// a number of messages that grows with the logarithm of the members, where a search along a distributed chain would
// hand each of its probes from member to member.
std::vector<std::int64_t> cut_together(const PartitionInput& in, const PartitionOptions& options,
                                       const ChainItems& mine) {
    const ChainItems all{gather<std::int64_t>(in.team, mine.load), gather<std::int64_t>(in.team, mine.size)};
    std::vector<std::int64_t> cuts(options.processes + 1, 0);
    std::int64_t smallest_limit = 0;  // 0: the limit can be met
    if (in.team.rank() == 0) {
        try {
            cuts = chain_partition(all, options.processes, options.max_size, in.targets);
        } catch (const Infeasible& e) {
            smallest_limit = e.smallest;
        }
    }
    in.team.broadcast(std::as_writable_bytes(std::span(&smallest_limit, 1)));
    if (smallest_limit > 0) throw Infeasible(options.processes, options.max_size, smallest_limit);
    in.team.broadcast(std::as_writable_bytes(std::span(cuts)));
    return cuts;
}

}  // namespace

// Bisection into patches, the patches along a curve, the curve cut into chains (Liu et al. 2015, with finer cuts).
Partition partition_chain(const PartitionInput& in, const PartitionOptions& options, std::vector<Split>& memory) {
    const std::vector<Box> patches =
        in_order(bisected(in, options, patch_count(in.grid, options), memory, {}), options.order);
    const std::vector<std::int64_t> cuts = cut_together(in, options, items_of_member(in, options, patches));

    Partition result;
    std::int64_t patch = 0, patch_begin = 0;  // items before this patch
    for (std::int64_t p = 0; p < options.processes; ++p) {
        result.first.push_back(static_cast<std::int64_t>(result.boxes.size()));
        for (std::int64_t at = cuts[p]; at < cuts[p + 1];) {
            std::int64_t n = items_in(patches[patch], options.cut);
            while (at >= patch_begin + n) patch_begin += n, n = items_in(patches[++patch], options.cut);
            const std::int64_t end = std::min(cuts[p + 1], patch_begin + n);
            add_boxes(patches[patch], options.cut, at - patch_begin, end - patch_begin, result.boxes);
            at = end;
        }
    }
    result.first.push_back(static_cast<std::int64_t>(result.boxes.size()));
    return result;
}

// Recursive coordinate bisection: as many boxes as processes (Berger & Bokhari 1987).
Partition partition_rcb(const PartitionInput& in, const PartitionOptions& options, std::vector<Split>& memory) {
    const std::vector<double> targets(in.targets.begin(), in.targets.end());
    return one_box_each(bisected(in, options, options.processes, memory, targets));
}

// Even and fixed.
Partition partition_none(const PartitionInput& in, const PartitionOptions& options, std::vector<Split>&) {
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

Partition make_partition(const PartitionInput& input, const PartitionOptions& options, std::vector<Split>& memory) {
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
