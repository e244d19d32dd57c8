// SPDX-License-Identifier: MIT
// Sorting by cells makes everything else runs of consecutive particles: ghosts, messages, candidates of a cluster.
// Lists are built cluster by cluster, up each column, so that neighbours in memory are neighbours in space.
#include "md/tile.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <string>

namespace md {
namespace {

constexpr int padding = 16;  // kernels read whole vectors
constexpr int sub_rows =
    4;  // slices of a cell's height by which its particles are sorted: shorter clusters, fewer candidates

// Grows with little slack: a vector's doubling would cost more memory than everything else.
template <class T>
void fit(std::vector<T>& v, std::size_t n) {
    if (n > v.capacity()) v.reserve(n + n / 32 + 16);
    v.resize(n);
}

template <class T>
void at_least(std::vector<T>& v, std::size_t n) {
    if (v.size() < n) v.resize(n + n / 4);
}

template <class T>
T* aligned(T* p) {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
}

template <class T>
std::int64_t bytes_of(const std::vector<T>& v) {
    return static_cast<std::int64_t>(v.capacity() * sizeof(T));
}

}  // namespace

Tile::Tile(const Domain& domain, balance::Box box, int halo)
    : axis_(domain.axis),
      packed_bits_(domain.packed_bits),
      box_(box),
      halo_(halo),
      columns_(box.extent(0) + 2 * halo),
      rows_(box.extent(1) + 2 * halo),
      counts_(static_cast<std::size_t>(columns_) * rows_, 0),
      slot_(static_cast<std::size_t>(columns_) * (rows_ + 1), 0) {
    for (int a = 0; a < 2; ++a)
        for (int c = box.lower[a]; c <= box.upper[a]; ++c) edges_[a].push_back(axis_[a].edge(c));
    resize(0);
}

std::int64_t Tile::bytes() const {
    return 5 * bytes_of(id_) + bytes_of(reference_) + 2 * bytes_of(packed_[0]) + bytes_of(counts_) + bytes_of(slot_) +
           bytes_of(clusters_) + bytes_of(neighbourhoods_) + bytes_of(rows_list_);
}

void Tile::resize(std::int64_t n) {
    size_ = n;
    for (auto* v : {&id_, &x_, &y_, &vx_, &vy_}) fit(*v, n + padding);
}

void Tile::insert(std::span<const Particle> particles) {
    sorted_ = false;
    std::int64_t i = size_;
    resize(size_ + static_cast<std::int64_t>(particles.size()));
    for (const Particle& p : particles) {
        id_[i] = p.id;
        x_[i] = p.x;
        y_[i] = p.y;
        vx_[i] = p.vx;
        vy_[i] = p.vy;
        ++i;
    }
}

int holder_of(const Particle& p, std::span<const HaloBox> boxes, const std::array<Axis, 2>& axis) {
    const std::array<int, 3> cell{axis[0].cell_of(p.x), axis[1].cell_of(p.y), 0};
    for (std::size_t k = 0; k < boxes.size(); ++k)
        if (boxes[k].box.contains(cell)) return static_cast<int>(k);
    char text[120];
    std::snprintf(text, sizeof text, "particle %" PRId64 " at (%.6g, %.6g) is lost: it left the cells around its own",
                  p.id, static_cast<double>(p.x) * position_unit, static_cast<double>(p.y) * position_unit);
    throw SimulationError(text);
}

void Tile::sort(const Kernels& kernels, TileScratch& scratch) {
    if (sorted_) return;
    sorted_ = true;
    const auto n = static_cast<std::size_t>(size_);
    const int height = box_.extent(1);
    const std::size_t bins = static_cast<std::size_t>(box_.extent(0)) * height * sub_rows;
    at_least(scratch.key, n);
    at_least(scratch.order, n);
    at_least(scratch.values, n);
    scratch.bin.assign(bins + 1, 0);
    KeysArgs args{x_.data(), y_.data(), size_, {}, {}, {}, sub_rows, scratch.key.data(), scratch.bin.data()};
    for (int a = 0; a < 2; ++a) {
        args.edges[a] = edges_[a].data();
        args.cells[a] = box_.extent(a);
        args.per_cell[a] = axis_[a].cells / static_cast<double>(axis_[a].length);
    }
    kernels.keys(args);
    for (std::size_t b = 0; b < bins; ++b) scratch.bin[b + 1] += scratch.bin[b];
    std::size_t b = 0;
    for (int x = box_.lower[0]; x < box_.upper[0]; ++x)
        for (int y = box_.lower[1]; y < box_.upper[1]; ++y, b += sub_rows)
            count(x, y) = static_cast<std::int32_t>(scratch.bin[b + sub_rows] - scratch.bin[b]);
    for (std::size_t i = 0; i < n; ++i) scratch.order[scratch.bin[scratch.key[i]]++] = static_cast<std::uint32_t>(i);
    for (auto* v : {&id_, &x_, &y_, &vx_, &vy_}) {
        for (std::size_t i = 0; i < n; ++i) scratch.values[i] = (*v)[scratch.order[i]];
        std::copy_n(scratch.values.begin(), n, v->begin());
    }
}

void Tile::lay_slots() {
    std::int64_t next = 0;
    for (int c = 0; c < columns_; ++c) {
        std::int32_t* slot = &slot_[static_cast<std::size_t>(c) * (rows_ + 1)];
        for (int r = 0; r < rows_; ++r) {
            slot[r] = static_cast<std::int32_t>(next);
            next += counts_[static_cast<std::size_t>(c) * rows_ + r];
        }
        slot[rows_] = static_cast<std::int32_t>(next);
    }
    if (next > INT32_MAX / 2)
        throw SimulationError("a tile holds over 2^30 particles", false, "make grid.tile smaller");
    slots_ = static_cast<std::int32_t>(next);
    for (auto& p : packed_) fit(p, slots_ + padding);
    fit(reference_, size_ + padding);
    const int shift = position_bits - packed_bits_;
    std::int64_t own = 0;
    for (int x = box_.lower[0]; x < box_.upper[0]; ++x) {
        const Run mine = run(x, box_.lower[1], box_.upper[1]);
        for (std::int32_t k = 0; k < mine.size; ++k, ++own)
            packed_[current_][mine.begin + k] = reference_[own] = pack(x_[own], y_[own], shift);
    }
}

// Where the clusters of one column of cells look for neighbours.
struct Tile::ListBuild {
    const Kernels& kernels;
    TileScratch& scratch;
    double radius;
    std::int64_t reach_y, most_apart;  // 2^-26: of a neighbour up and down; of the particles of one cluster
    std::int64_t slice;                // 2^-26: particles are sorted by slices of this height
    std::size_t rows_used = 0;         // elements of scratch.rows
    // Of the column that is being built:
    int x0 = 0, x1 = 0;     // columns of cells in reach
    int y0 = 0, y1 = 0;     // cells in reach of the last cluster
    std::int32_t base = 0;  // first slot of these columns
    std::uint32_t far_x = 0;
};

void Tile::build_neighbour_lists(const Kernels& kernels, double radius, TileScratch& scratch) {
    const int low = box_.lower[1] - halo_, high = box_.upper[1] + halo_;
    scratch.edges.clear();
    for (int r = low; r <= high; ++r) scratch.edges.push_back(axis_[1].edge(r));
    clusters_.clear();
    neighbourhoods_.clear();
    ListBuild b{.kernels = kernels,
                .scratch = scratch,
                .radius = radius,
                .reach_y = to_edge_units(radius * (1 + 1e-5)) + 1,
                .most_apart = most_extent(packed_bits_, radius, axis_[1].cell_width()),
                .slice = axis_[1].length / axis_[1].cells / sub_rows + 16};
    const int reach = cells_within(radius, axis_[0].least_width());
    std::int64_t own = 0;
    for (int x = box_.lower[0]; x < box_.upper[0]; ++x) {
        b.x0 = std::max(x - reach, box_.lower[0] - halo_);
        b.x1 = std::min(x + reach + 1, box_.upper[0] + halo_);
        b.y0 = b.y1 = low;
        b.base = slot_[slot_index(b.x0, low)];
        const std::int32_t end = slot_[slot_index(b.x1 - 1, high)];
        if (end - b.base > UINT16_MAX)
            throw SimulationError(std::to_string(end - b.base) + " particles in " + std::to_string(b.x1 - b.x0) +
                                      " columns of a tile exceed 16-bit neighbour indices",
                                  false, "make grid.tile smaller");
        const std::int64_t middle = (axis_[0].edge(x) + axis_[0].length / axis_[0].cells / 2) << edge_shift;
        b.far_x = static_cast<std::uint32_t>((middle >> (position_bits - packed_bits_)) +
                                             (std::int64_t{1} << 31));  // half way round
        const Run mine = run(x, box_.lower[1], box_.upper[1]);
        for (std::int32_t done = 0; done < mine.size;) {
            const std::int32_t size = append_cluster(b, own, mine.begin + done, mine.size - done);
            done += size;
            own += size;
        }
    }
    fit(rows_list_, b.rows_used + padding);
    std::copy_n(scratch.rows.begin(), b.rows_used, rows_list_.begin());
}

// How many of the next particles make a cluster, and between which heights they lie: as many as fit, unless they are so
// far apart that packed distances to their candidates would be ambiguous.
Tile::ClusterExtent Tile::cluster_extent(const ListBuild& b, std::int64_t own, std::int32_t left) const {
    const auto y = [&](std::int32_t k) { return y_[own + k] >> edge_shift; };
    ClusterExtent c{std::min(std::int32_t{lanes}, left), 0, 0};
    c.lowest = y(0) - b.slice;
    c.highest = y(c.size - 1) + b.slice;
    if (c.highest - c.lowest <= b.most_apart) return c;
    c.lowest = c.highest = y(0);
    for (std::int32_t k = 1; k < c.size; ++k) {
        const std::int64_t down = std::min(c.lowest, y(k)), up = std::max(c.highest, y(k));
        if (up - down > b.most_apart) {
            c.size = k;
            break;
        }
        c.lowest = down;
        c.highest = up;
    }
    return c;
}

// The runs of slots that hold all neighbours of a cluster, into scratch.ranges; the number of slots.
std::size_t Tile::find_candidates(ListBuild& b, const ClusterExtent& c) const {
    const int low = box_.lower[1] - halo_, high = box_.upper[1] + halo_;
    const std::int64_t* edge = b.scratch.edges.data() - low;
    while (b.y0 > low && edge[b.y0] > c.lowest - b.reach_y) --b.y0;
    while (b.y0 + 1 < high && edge[b.y0 + 1] <= c.lowest - b.reach_y) ++b.y0;
    while (b.y1 > low + 1 && edge[b.y1 - 1] > c.highest + b.reach_y) --b.y1;
    while (b.y1 < high && edge[b.y1] <= c.highest + b.reach_y) ++b.y1;
    b.scratch.ranges.clear();
    std::size_t candidates = 0;
    for (int cx = b.x0; cx < b.x1; ++cx) {
        const Run r = run(cx, b.y0, b.y1);
        if (r.size == 0) continue;
        b.scratch.ranges.push_back(r.begin);
        b.scratch.ranges.push_back(r.begin + r.size);
        candidates += r.size;
    }
    return candidates;
}

// Builds the lists of the next cluster, which begins with particle `own` in `slot`; left: particles up to the end of
// the column. Returns how many it took.
std::int32_t Tile::append_cluster(ListBuild& b, std::int64_t own, std::int32_t slot, std::int32_t left) {
    const ClusterExtent cluster = cluster_extent(b, own, left);
    const std::size_t candidates = find_candidates(b, cluster);
    TileScratch& scratch = b.scratch;
    const std::size_t room = (candidates + 3 * padding) / 16 * 16;
    at_least(scratch.x, room + 16);
    at_least(scratch.y, room + 16);
    at_least(scratch.lane_rows, 16 * room + 32);
    at_least(scratch.place, room + 16);
    at_least(scratch.start, room);
    at_least(scratch.hoods, most_neighbourhoods(candidates));
    at_least(scratch.rows, b.rows_used + most_row_elements(candidates));
    RowsArgs args{};
    args.packed = packed_[current_].data();
    args.ranges = scratch.ranges.data();
    args.range_count = static_cast<std::int32_t>(scratch.ranges.size() / 2);
    args.slot = slot;
    args.base = b.base;
    args.count = cluster.size;
    args.radius = b.radius;
    args.packed_bits = packed_bits_;
    args.x = aligned(scratch.x.data());
    args.y = aligned(scratch.y.data());
    args.place = aligned(scratch.place.data());
    args.start = scratch.start.data();
    args.lane_rows = aligned(scratch.lane_rows.data());
    args.stride = static_cast<std::int32_t>(room);
    args.neighbourhoods = scratch.hoods.data();
    args.rows = scratch.rows.data() + b.rows_used;
    const std::int32_t hoods = b.kernels.rows(args), first = static_cast<std::int32_t>(neighbourhoods_.size());
    for (std::int32_t h = 0; h < hoods; ++h) {
        Neighbourhood hood = scratch.hoods[h];
        hood.row = static_cast<std::int32_t>(b.rows_used);
        neighbourhoods_.push_back(hood);
        b.rows_used += static_cast<std::size_t>(hood.length) * lanes;
    }
    clusters_.push_back({static_cast<std::int32_t>(own), slot, b.base, cluster.size, first, first + hoods, b.far_x});
    if (b.rows_used > INT32_MAX)
        throw SimulationError("the neighbour lists of a tile exceed 2^31 entries", false, "make grid.tile smaller");
    return cluster.size;
}

std::int64_t Tile::list_length() const {
    std::int64_t n = 0;
    for (const Cluster& c : clusters_)
        for (std::int32_t k = c.first; k < c.last; ++k) n += neighbourhoods_[k].length;
    return n;
}

TileView Tile::view() {
    sorted_ = false;  // kernels move particles
    return {packed_[current_].data(),
            packed_[1 - current_].data(),
            x_.data(),
            y_.data(),
            vx_.data(),
            vy_.data(),
            id_.data(),
            reference_.data(),
            clusters_.data(),
            static_cast<std::int32_t>(clusters_.size()),
            neighbourhoods_.data(),
            rows_list_.data(),
            packed_bits_};
}

}  // namespace md
