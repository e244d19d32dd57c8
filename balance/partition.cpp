// SPDX-License-Identifier: MIT
#include "balance/partition.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "balance/curve.hpp"

// One line a partitioner: the name `x` for decks, of which partition_x() does the work.
#define STEELYARD_PARTITIONS(add) \
    add(none)                     \
    add(rcb)                      \
    add(chain)

namespace balance {

#define STEELYARD_DECLARED(name) Partition partition_##name(const PartitionInput&, const PartitionOptions&, std::vector<Split>& memory);
STEELYARD_PARTITIONS(STEELYARD_DECLARED)
#undef STEELYARD_DECLARED

namespace {

using Load = std::span<const std::int64_t>;

// Patches along the curve through their centres.
std::vector<Box> in_order(std::vector<Box> patches, Order order) {
    if (order == Order::tree) return patches;
    std::vector<std::pair<std::uint64_t, std::size_t>> keys(patches.size());
    for (std::size_t i = 0; i < patches.size(); ++i) {
        const auto x = static_cast<std::uint32_t>(patches[i].lower[0] + patches[i].upper[0]), y = static_cast<std::uint32_t>(patches[i].lower[1] + patches[i].upper[1]);
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
            for (int y = 0; y < ny; ++y) items[begin + (cut == CutAt::strips ? y : std::int64_t{y} * nx + x)] += *cells++;
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
    return std::min(options.processes * options.patches_per_process, std::max(options.processes, capacity(grid.box(), options.min_width)));
}

}  // namespace

// Bisection into patches, the patches along a curve, the curve cut into chains (Liu et al. 2015, with finer cuts).
Partition partition_chain(const PartitionInput& f, const PartitionOptions& options, std::vector<Split>& memory) {
    const Slabs slabs{f.grid, f.team.size()};
    const Box slab = slabs.of(f.team.rank());
    const std::int64_t parts = patch_count(f.grid, options);
    if (!options.sticky) memory.clear();
    const std::vector<Box> patches = in_order(bisect(f.team, f.grid, SummedArea(slab, f.load), parts, options.min_width, memory), options.order);

    BoxList sequence{patches, {}};
    for (int r = 0; r <= f.team.size(); ++r) sequence.first.push_back(parts * r / f.team.size());
    const auto items_of = [&](Load field) {
        const std::vector<std::int64_t> cells = to_boxes(f.team, slabs, sequence, field);
        std::vector<std::int64_t> items;
        const std::int64_t* next = cells.data();
        for (std::int64_t b = sequence.first[f.team.rank()]; b < sequence.first[f.team.rank() + 1]; next += patches[b++].cells()) add_items(patches[b], options.cut, next, items);
        return items;
    };
    const ChainItems items{items_of(f.load), options.max_size > 0 ? items_of(f.size) : std::vector<std::int64_t>{}};
    const std::vector<std::int64_t> cuts = chain_partition(f.team, items, options.processes, options.max_size);

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
Partition partition_rcb(const PartitionInput& f, const PartitionOptions& options, std::vector<Split>& memory) {
    if (!options.sticky) memory.clear();
    const Slabs slabs{f.grid, f.team.size()};
    return one_box_each(bisect(f.team, f.grid, SummedArea(slabs.of(f.team.rank()), f.load), options.processes, options.min_width, memory));
}

// Even and fixed.
Partition partition_none(const PartitionInput& f, const PartitionOptions& options, std::vector<Split>&) { return one_box_each(even_partition(f.grid, options.processes)); }

namespace {

using Partitioner = Partition (*)(const PartitionInput&, const PartitionOptions&, std::vector<Split>&);
const std::pair<const char*, Partitioner> partition_kinds[] = {
#define STEELYARD_NAMED(name) {#name, partition_##name},
    STEELYARD_PARTITIONS(STEELYARD_NAMED)
#undef STEELYARD_NAMED
};

}  // namespace

Partition make_partition(const Team& team, const Grid& grid, Load load, Load size, const PartitionOptions& options, std::vector<Split>& memory) {
    for (const auto& [name, partitioner] : partition_kinds)
        if (options.kind == name) return partitioner({team, grid, load, size}, options, memory);
    throw std::invalid_argument("there is no partition of kind " + options.kind);
}

std::optional<std::int64_t> bisected_boxes(const Grid& grid, const PartitionOptions& options) {
    if (options.kind == "none") return 0;
    if (options.kind == "rcb") return options.processes;
    if (options.kind == "chain") return patch_count(grid, options);
    return std::nullopt;
}

std::vector<std::string> partition_kind_names() {
    std::vector<std::string> names;
    for (const auto& [name, partitioner] : partition_kinds) names.push_back(name);
    return names;
}

BoxList boxes_by_process(const Partition& partition, int members) {
    BoxList list{partition.boxes, {}};
    for (int r = 0; r <= members; ++r) list.first.push_back(partition.first[partition.processes() * r / members]);
    return list;
}

}  // namespace balance
