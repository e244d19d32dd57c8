// SPDX-License-Identifier: MIT
// Lists are built cluster by cluster, up each column, so neighbours in memory are neighbours in space. The cells in
// reach of a cluster follow from those of the cluster before it. Candidates are whole runs of slots.
#include "md/neighbour_lists.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "md/simulation_error.hpp"

namespace md {
namespace {

template <class T>
T* aligned(T* p) {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
}

template <int D>
class ListBuilder {
public:
    ListBuilder(NeighbourLists<D>& lists, const SearchedTile<D>& tile, const Kernels& kernels, double radius,
                TileScratch& scratch)
        : lists_(lists),
          tile_(tile),
          kernels_(kernels_of<D>(kernels)),
          scratch_(scratch),
          hoods_(scratch.hoods<D>()),
          rows_(scratch.rows<D>()),
          radius_(radius),
          reach_up_(to_edge_units(searched_radius(radius)) + 1) {}

    void build() {
        const balance::Box &box = tile_.cells.box, &seen = tile_.cells.seen;
        scratch_.edges.clear();
        for (int r = seen.lower[up]; r <= seen.upper[up]; ++r) scratch_.edges.push_back(tile_.axis[up].edge(r));
        lists_.clusters.clear();
        lists_.neighbourhoods.clear();
        lists_.rows.clear();
        if (radius_ < lists_.radius) lists_.rows.shrink_to_fit();  // they took more room
        lists_.radius = radius_;
        for_each_column<D>(box, [&](const CellIndex& low) { particles_ += tile_.cells.run(low, box.extent(up)).size; });
        make_coarse();
        std::int64_t own = 0;
        for_each_column<D>(box, [&](const CellIndex& lowest) {
            begin_column(lowest);
            const auto mine = tile_.cells.run(lowest, box.extent(up));
            for (std::int32_t done = 0; done < mine.size;) {
                const std::int32_t size = append_cluster(own, mine.begin + done, mine.size - done);
                done += size;
                own += size;
                if (rows_used_ - lists_.rows.size() >= rows_at_once) flush(own);
            }
        });
        trim(lists_.clusters);
        trim(lists_.neighbourhoods);
        flush(own);
        lists_.rows.insert(lists_.rows.end(), padding, Place<D>{0});  // kernels read ahead
    }

private:
    static constexpr int up = D - 1;
    static constexpr std::size_t rows_at_once = 1 << 16;
    struct Extent {
        std::int32_t size;
        std::int64_t lowest, highest;  // 2^-26
    };
    // Positions of all slots in 16 bits. The unit is the finest that allows clusters of twice this tile's average
    // length. A finer unit would cut more clusters short. In a liquid in the plane, that would leave 2 % of the rows'
    // lanes empty.
    void make_coarse() {
        double cell[D];
        for (int a = 0; a < D; ++a) cell[a] = tile_.axis[a].cell_width();
        double pairs = 0;  // of particles in one cell
        for_each_cell<D>(tile_.cells.box, [&](const CellIndex& c) {
            const double n = tile_.cells.counts[tile_.cells.cell(c)];
            pairs += n * n;
        });
        // A particle shares its cell with pairs / particles on average, itself among them.
        const double extent = pairs > 0 ? lanes * cell[up] * static_cast<double>(particles_) / pairs : 0;
        const CoarseSearch search = coarse_search(D, cell, tile_.packed_bits, radius_, 2 * extent);
        most_apart_ = most_extent(search.bits + 16, radius_, cell[up]);
        limit_ = search.limit;
        std::uint16_t* to[D];
        const auto slots = static_cast<std::size_t>(tile_.cells.first.back());
        for (int a = 0; a < D; ++a) {
            at_least(scratch_.coarse[a], slots + 3 * padding);
            to[a] = scratch_.coarse[a].data();
        }
        kernels_.coarse(tile_.packed, static_cast<std::int64_t>(slots), tile_.packed_bits - search.bits, to);
    }
    void begin_column(const CellIndex& lowest) {
        const CellTable<D>& cells = tile_.cells;
        Column& c = column_;
        balance::Box near = cells.seen;
        for (int a = 0; a < up; ++a) {
            const int reach = cells_within(radius_, tile_.axis[a].least_width());
            near.lower[a] = std::max(lowest[a] - reach, cells.seen.lower[a]);
            near.upper[a] = std::min(lowest[a] + reach + 1, cells.seen.upper[a]);
        }
        scratch_.columns.clear();
        for_each_column<D>(
            near, [&](const CellIndex& column) { scratch_.columns.push_back(&cells.first[cells.corner(column)]); });
        c.from = c.to = 0;
        c.base = *scratch_.columns.front();
        const std::int32_t end = scratch_.columns.back()[cells.rows()];
        if (end - c.base > UINT16_MAX - window * static_cast<int>(scratch_.columns.size()))
            throw SimulationError(std::to_string(end - c.base) +
                                      " particles from the first to the last neighbour of one " +
                                      "in a tile exceed 16-bit neighbour indices",
                                  "make grid.tile smaller");
        c.far_x = far_x(tile_.axis[0], lowest[0], tile_.packed_bits);
        c.far_place = cells.layer(lowest[0]) - c.base;
    }
    // Number of the next particles that make a cluster, and the heights between which they lie. A cluster has up to
    // `lanes` particles. It has fewer if packed distances to its candidates would be ambiguous.
    Extent cluster_extent(std::int64_t own, std::int32_t left) const {
        const auto height = [&](std::int32_t k) { return tile_.heights[own + k] >> edge_shift; };
        Extent c{std::min(std::int32_t{lanes}, left), height(0), height(0)};
        for (std::int32_t k = 1; k < c.size; ++k) {
            const std::int64_t lowest = std::min(c.lowest, height(k)), highest = std::max(c.highest, height(k));
            if (highest - lowest > most_apart_) {
                c.size = k;
                break;
            }
            c.lowest = lowest;
            c.highest = highest;
        }
        return c;
    }
    // Finds the *candidates* of a cluster: runs of slots that hold all its neighbours. Writes the runs to
    // scratch.ranges and returns the number of slots.
    std::size_t find_candidates(const Extent& cluster) {
        const int high = tile_.cells.rows();
        const std::int64_t* edge = scratch_.edges.data();
        int &from = column_.from, &to = column_.to;
        while (from > 0 && edge[from] > cluster.lowest - reach_up_) --from;
        while (from + 1 < high && edge[from + 1] <= cluster.lowest - reach_up_) ++from;
        while (to > 1 && edge[to - 1] > cluster.highest + reach_up_) --to;
        while (to < high && edge[to] <= cluster.highest + reach_up_) ++to;
        scratch_.ranges.clear();
        std::size_t candidates = 0;
        for (const std::int32_t* column : scratch_.columns) {
            const std::int32_t begin = column[from], end = column[to];
            if (begin == end) continue;
            scratch_.ranges.push_back(begin);
            scratch_.ranges.push_back(end);
            candidates += static_cast<std::size_t>(end - begin);
        }
        return candidates;
    }
    // Appends the rows of the last clusters to the rows of the tile. Memory for all of them is estimated from the first
    // ones. done: particles with rows.
    void flush(std::int64_t done) {
        std::vector<Place<D>>& rows = lists_.rows;
        if (const std::size_t needed = rows_used_ + padding; rows.capacity() < needed) {
            const double share = done > 0 ? static_cast<double>(done) / static_cast<double>(particles_) : 1;
            rows.reserve(static_cast<std::size_t>(1.05 * static_cast<double>(needed) / share));
        }
        rows.insert(rows.end(), rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(rows_used_ - rows.size()));
    }
    // Room for the rows of a cluster whose candidates are in scratch.ranges, and for what its search needs.
    RowsArgs<D> rows_arguments(std::size_t candidates) {
        TileScratch& s = scratch_;
        const std::size_t runs = s.ranges.size() / 2, room = (candidates + 5 * padding) / 32 * 32;
        RowsArgs<D> args{};
        for (int a = 0; a < D; ++a) {
            at_least(s.x[a], room + 32);
            args.x[a] = aligned(s.x[a].data());
            args.coarse[a] = s.coarse[a].data();
        }
        at_least(s.lane_rows, 16 * room + 64);
        at_least(s.place, room + 32);
        at_least(s.start, room);
        at_least(hoods_, most_neighbourhoods<D>(runs, candidates));
        at_least(rows_, rows_used_ - lists_.rows.size() + most_row_elements(candidates));
        args.limit = limit_;
        args.ranges = s.ranges.data();
        args.range_count = static_cast<std::int32_t>(runs);
        args.base = column_.base;
        args.far_place = column_.far_place;
        args.place = aligned(s.place.data());
        args.start = s.start.data();
        args.lane_rows = aligned(s.lane_rows.data());
        args.stride = static_cast<std::int32_t>(room);
        args.neighbourhoods = hoods_.data();
        args.neighbourhoods_room = static_cast<std::int32_t>(most_neighbourhoods<D>(runs, candidates));
        args.rows = rows_.data() + rows_used_ - lists_.rows.size();
        args.rows_room = static_cast<std::int64_t>(most_row_elements(candidates));
        return args;
    }
    // Builds the lists of the next cluster, which begins with particle `own` in `slot`; left: particles up to the end
    // of the column. Returns how many it took.
    std::int32_t append_cluster(std::int64_t own, std::int32_t slot, std::int32_t left) {
        const Extent cluster = cluster_extent(own, left);
        RowsArgs<D> args = rows_arguments(find_candidates(cluster));
        args.slot = slot;
        args.count = cluster.size;
        const std::int32_t hoods = kernels_.rows(args), first = static_cast<std::int32_t>(lists_.neighbourhoods.size());
        if (hoods < 0) throw std::logic_error("the neighbours of a cluster exceed the room that was made for them");
        for (std::int32_t h = 0; h < hoods; ++h) {
            Neighbourhood<D> hood = hoods_[h];
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

    NeighbourLists<D>& lists_;
    const SearchedTile<D>& tile_;
    const KernelsOf<D>& kernels_;
    TileScratch& scratch_;
    std::vector<Neighbourhood<D>>& hoods_;  // of a cluster
    std::vector<Place<D>>& rows_;           // of the last clusters: a part that stays in the cache
    const double radius_;
    const std::int64_t reach_up_;  // 2^-26 lengths: the reach of a search up and down the column
    std::int64_t most_apart_ = 0;  // 2^-26 lengths: the largest extent of a cluster
    std::int64_t particles_ = 0;
    std::uint16_t limit_ = 0;
    std::size_t rows_used_ = 0;  // Elements of all clusters so far.
    struct Column {              // The column that is being built.
        int from = 0, to = 0;  // Cells of a column in reach of the last cluster, counted from the column's lowest cell.
        std::int32_t base = 0;       // First slot of the columns in reach.
        std::uint32_t far_x = 0;     // Packed x out of reach.
        std::int32_t far_place = 0;  // Place of a slot out of reach, from the base (in three dimensions).
    } column_;
};

}  // namespace

CoarseSearch coarse_search(int dimensions, const double* cell, int packed_bits, double radius, double extent) {
    const auto allowed = [&](int bits) {
        for (int a = 0; a < dimensions; ++a)
            if (!fits_before_wrap(bits, radius, cell[a])) return false;
        return static_cast<double>(most_extent(bits, radius, cell[dimensions - 1])) >=
               static_cast<double>(to_edge_units(extent));
    };
    int bits = packed_bits;  // 32 bits in this unit wrap at the same length as the search's 16 bits
    while (bits < packed_bits + 16 && allowed(bits + 1)) ++bits;
    // Each coordinate is rounded down, so differences are less than a unit off: by sqrt(D) units in all. The square of
    // each is rounded to the nearest integer.
    const double reach = std::ldexp(radius, bits - 16) + std::sqrt(dimensions);
    return {bits - 16, static_cast<std::uint16_t>(std::ldexp(reach * reach, -15) + 0.5 * dimensions)};
}

std::uint32_t far_x(const Axis& axis, int x, int packed_bits) {
    const std::int64_t middle = (axis.edge(x) + axis.length / axis.cells / 2) << edge_shift;
    return static_cast<std::uint32_t>((middle >> (position_bits - packed_bits)) + (std::int64_t{1} << 31));
}

template <int D>
std::int64_t NeighbourLists<D>::length() const {
    std::int64_t n = 0;
    for (const Cluster& c : clusters)
        for (std::int32_t k = c.first; k < c.last; ++k) n += neighbourhoods[k].length;
    return n;
}

template <int D>
void build_lists(NeighbourLists<D>& lists, const SearchedTile<D>& tile, const Kernels& kernels, double radius,
                 TileScratch& scratch) {
    ListBuilder<D>(lists, tile, kernels, radius, scratch).build();
}

template struct NeighbourLists<2>;
template struct NeighbourLists<3>;
template void build_lists(NeighbourLists<2>&, const SearchedTile<2>&, const Kernels&, double, TileScratch&);
template void build_lists(NeighbourLists<3>&, const SearchedTile<3>&, const Kernels&, double, TileScratch&);

}  // namespace md
