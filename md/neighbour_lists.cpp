// SPDX-License-Identifier: MIT
// Lists are built cluster by cluster, up each column, so that neighbours in memory are neighbours in space: the cells
// in reach of a cluster follow from those of the one before it, and candidates are whole runs of slots.
#include "md/neighbour_lists.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "md/simulation_error.hpp"

namespace md {
namespace {

template <class T>
T* aligned(T* p) {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
}

class ListBuilder {
public:
    ListBuilder(NeighbourLists& lists, const SearchedTile& tile, const Kernels& kernels, double radius,
                TileScratch& scratch)
        : lists_(lists),
          tile_(tile),
          kernels_(kernels),
          scratch_(scratch),
          radius_(radius),
          reach_y_(to_edge_units(searched_radius(radius)) + 1),
          most_apart_(most_extent(tile.packed_bits, radius, tile.axis[1].cell_width())),
          slice_(tile.axis[1].length / tile.axis[1].cells / slices_of_cell + 16) {}

    void build();

private:
    struct Extent {
        std::int32_t size;
        std::int64_t lowest, highest;  // 2^-26
    };
    void begin_column(int x);
    Extent cluster_extent(std::int64_t own, std::int32_t left) const;
    std::size_t find_candidates(const Extent& cluster);
    RowsArgs rows_arguments(std::size_t candidates);
    std::int32_t append_cluster(std::int64_t own, std::int32_t slot, std::int32_t left);

    NeighbourLists& lists_;
    const SearchedTile& tile_;
    const Kernels& kernels_;
    TileScratch& scratch_;
    const double radius_;
    const std::int64_t reach_y_, most_apart_;  // 2^-26: of a neighbour up and down; of the particles of one cluster
    const std::int64_t slice_;                 // 2^-26: particles are sorted by slices of this height
    std::size_t rows_used_ = 0;                // elements of scratch.rows
    struct Column {                            // the one that is being built
        int x0 = 0, x1 = 0;                    // columns of cells in reach
        int y0 = 0, y1 = 0;                    // cells in reach of the last cluster
        std::int32_t base = 0;                 // first slot of these columns
        std::uint32_t far_x = 0;               // packed, out of reach
    } column_;
};

void ListBuilder::build() {
    const int low = tile_.cells.lowest()[1], high = tile_.cells.highest()[1];
    scratch_.edges.clear();
    for (int r = low; r <= high; ++r) scratch_.edges.push_back(tile_.axis[1].edge(r));
    lists_.clusters.clear();
    lists_.neighbourhoods.clear();
    const balance::Box& box = tile_.cells.box;
    std::int64_t own = 0;
    for (int x = box.lower[0]; x < box.upper[0]; ++x) {
        begin_column(x);
        const CellTable::Run mine = tile_.cells.run(x, box.lower[1], box.upper[1]);
        for (std::int32_t done = 0; done < mine.size;) {
            const std::int32_t size = append_cluster(own, mine.begin + done, mine.size - done);
            done += size;
            own += size;
        }
    }
    fit(lists_.rows, rows_used_ + padding);
    std::copy_n(scratch_.rows.begin(), rows_used_, lists_.rows.begin());
}

void ListBuilder::begin_column(int x) {
    const CellTable& cells = tile_.cells;
    const Axis& axis = tile_.axis[0];
    const int reach = cells_within(radius_, axis.least_width());
    const int low = cells.lowest()[1], high = cells.highest()[1];
    Column& c = column_;
    c.x0 = std::max(x - reach, cells.lowest()[0]);
    c.x1 = std::min(x + reach + 1, cells.highest()[0]);
    c.y0 = c.y1 = low;
    c.base = cells.first[cells.corner(c.x0, low)];
    const std::int32_t end = cells.first[cells.corner(c.x1 - 1, high)];
    if (end - c.base > UINT16_MAX)
        throw SimulationError(std::to_string(end - c.base) + " particles in " + std::to_string(c.x1 - c.x0) +
                                  " columns of a tile exceed 16-bit neighbour indices",
                              "make grid.tile smaller");
    const std::int64_t middle = (axis.edge(x) + axis.length / axis.cells / 2) << edge_shift;
    c.far_x = static_cast<std::uint32_t>((middle >> (position_bits - tile_.packed_bits)) +
                                         (std::int64_t{1} << 31));  // half way round
}

// How many of the next particles make a cluster, and between which heights they lie: as many as fit, unless they are so
// far apart that packed distances to their candidates would be ambiguous.
ListBuilder::Extent ListBuilder::cluster_extent(std::int64_t own, std::int32_t left) const {
    const auto y = [&](std::int32_t k) { return tile_.y[own + k] >> edge_shift; };
    Extent c{std::min(std::int32_t{lanes}, left), 0, 0};
    c.lowest = y(0) - slice_;
    c.highest = y(c.size - 1) + slice_;
    if (c.highest - c.lowest <= most_apart_) return c;
    c.lowest = c.highest = y(0);
    for (std::int32_t k = 1; k < c.size; ++k) {
        const std::int64_t down = std::min(c.lowest, y(k)), up = std::max(c.highest, y(k));
        if (up - down > most_apart_) {
            c.size = k;
            break;
        }
        c.lowest = down;
        c.highest = up;
    }
    return c;
}

// The runs of slots that hold all neighbours of a cluster, into scratch.ranges; the number of slots.
std::size_t ListBuilder::find_candidates(const Extent& cluster) {
    const int low = tile_.cells.lowest()[1], high = tile_.cells.highest()[1];
    const std::int64_t* edge = scratch_.edges.data() - low;
    Column& c = column_;
    while (c.y0 > low && edge[c.y0] > cluster.lowest - reach_y_) --c.y0;
    while (c.y0 + 1 < high && edge[c.y0 + 1] <= cluster.lowest - reach_y_) ++c.y0;
    while (c.y1 > low + 1 && edge[c.y1 - 1] > cluster.highest + reach_y_) --c.y1;
    while (c.y1 < high && edge[c.y1] <= cluster.highest + reach_y_) ++c.y1;
    scratch_.ranges.clear();
    std::size_t candidates = 0;
    for (int cx = c.x0; cx < c.x1; ++cx) {
        const CellTable::Run r = tile_.cells.run(cx, c.y0, c.y1);
        if (r.size == 0) continue;
        scratch_.ranges.push_back(r.begin);
        scratch_.ranges.push_back(r.begin + r.size);
        candidates += r.size;
    }
    return candidates;
}

// Room for the rows of a cluster whose candidates are in scratch.ranges.
RowsArgs ListBuilder::rows_arguments(std::size_t candidates) {
    TileScratch& s = scratch_;
    const std::size_t runs = s.ranges.size() / 2, room = (candidates + 3 * padding) / 16 * 16;
    at_least(s.x, room + 16);
    at_least(s.y, room + 16);
    at_least(s.lane_rows, 16 * room + 32);
    at_least(s.place, room + 16);
    at_least(s.start, room);
    at_least(s.hoods, most_neighbourhoods(runs, candidates));
    at_least(s.rows, rows_used_ + most_row_elements(candidates));
    RowsArgs args{};
    args.packed = tile_.packed;
    args.ranges = s.ranges.data();
    args.range_count = static_cast<std::int32_t>(runs);
    args.base = column_.base;
    args.radius = radius_;
    args.packed_bits = tile_.packed_bits;
    args.x = aligned(s.x.data());
    args.y = aligned(s.y.data());
    args.place = aligned(s.place.data());
    args.start = s.start.data();
    args.lane_rows = aligned(s.lane_rows.data());
    args.stride = static_cast<std::int32_t>(room);
    args.neighbourhoods = s.hoods.data();
    args.neighbourhoods_room = static_cast<std::int32_t>(most_neighbourhoods(runs, candidates));
    args.rows = s.rows.data() + rows_used_;
    args.rows_room = static_cast<std::int64_t>(most_row_elements(candidates));
    return args;
}

// Builds the lists of the next cluster, which begins with particle `own` in `slot`; left: particles up to the end of
// the column. Returns how many it took.
std::int32_t ListBuilder::append_cluster(std::int64_t own, std::int32_t slot, std::int32_t left) {
    const Extent cluster = cluster_extent(own, left);
    RowsArgs args = rows_arguments(find_candidates(cluster));
    args.slot = slot;
    args.count = cluster.size;
    const std::int32_t hoods = kernels_.rows(args), first = static_cast<std::int32_t>(lists_.neighbourhoods.size());
    if (hoods < 0) throw std::logic_error("the neighbours of a cluster exceed the room that was made for them");
    for (std::int32_t h = 0; h < hoods; ++h) {
        Neighbourhood hood = scratch_.hoods[h];
        hood.row = static_cast<std::int32_t>(rows_used_);
        lists_.neighbourhoods.push_back(hood);
        rows_used_ += static_cast<std::size_t>(hood.length) * lanes;
    }
    lists_.clusters.push_back(
        {static_cast<std::int32_t>(own), slot, column_.base, cluster.size, first, first + hoods, column_.far_x});
    if (rows_used_ > INT32_MAX)
        throw SimulationError("the neighbour lists of a tile exceed 2^31 entries", "make grid.tile smaller");
    return cluster.size;
}

}  // namespace

std::int64_t NeighbourLists::length() const {
    std::int64_t n = 0;
    for (const Cluster& c : clusters)
        for (std::int32_t k = c.first; k < c.last; ++k) n += neighbourhoods[k].length;
    return n;
}

void build_lists(NeighbourLists& lists, const SearchedTile& tile, const Kernels& kernels, double radius,
                 TileScratch& scratch) {
    ListBuilder(lists, tile, kernels, radius, scratch).build();
}

}  // namespace md
