// SPDX-License-Identifier: MIT
// Sorting by cells makes everything else runs of consecutive particles: ghosts, messages, candidates of a cluster.
#include "md/tile.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace md {

Tile::Tile(const Domain& domain, balance::Box box, int halo)
    : axis_(domain.axis), packed_bits_(domain.packed_bits), cells_(axis_, box, halo) {
    particles_.resize(0);
}

std::int64_t Tile::bytes() const {
    return particles_.bytes() + bytes_of(reference_) + 2 * bytes_of(packed_[0]) + cells_.bytes() + lists_.bytes();
}

void Tile::insert(std::span<const Particle> particles) {
    sorted_ = false;
    std::int64_t i = size();
    particles_.resize(size() + static_cast<std::int64_t>(particles.size()));
    for (const Particle& p : particles) particles_.set(i++, p);
}

namespace {

[[noreturn]] void throw_lost(std::int64_t id, std::int64_t x, std::int64_t y, const char* where) {
    char text[160];
    std::snprintf(text, sizeof text, "particle %" PRId64 " at (%.6g, %.6g) is lost: %s", id,
                  static_cast<double>(x) * position_unit, static_cast<double>(y) * position_unit, where);
    throw SimulationError(text);
}

// Is a coordinate (2^-40) outside the cells with these edges (2^-26)?
bool outside(std::int64_t at, const std::vector<std::int64_t>& edges) {
    return (int{at < edges.front() << edge_shift} | int{at >= edges.back() << edge_shift}) != 0;
}

}  // namespace

int holder_of(const Particle& p, std::span<const HaloBox> boxes, const std::array<Axis, 2>& axis) {
    const std::array<int, 3> cell{axis[0].cell_of(p.x), axis[1].cell_of(p.y), 0};
    for (std::size_t k = 0; k < boxes.size(); ++k)
        if (boxes[k].box.contains(cell)) return static_cast<int>(k);
    throw_lost(p.id, p.x, p.y, "it left the cells around its own");
}

void Tile::sort(const Kernels& kernels, TileScratch& scratch) {
    if (sorted_) return;
    sorted_ = true;
    const auto n = static_cast<std::size_t>(size());
    // The kernels would write the bin of a particle that is elsewhere outside of their array.
    bool lost = false;
    for (std::size_t i = 0; i < n; ++i)
        lost |= (int{outside(particles_.x[i], cells_.edges[0])} | int{outside(particles_.y[i], cells_.edges[1])}) != 0;
    for (std::size_t i = 0; lost && i < n; ++i)
        if (outside(particles_.x[i], cells_.edges[0]) || outside(particles_.y[i], cells_.edges[1]))
            throw_lost(particles_.id[i], particles_.x[i], particles_.y[i], "it is outside the tile that holds it");
    const balance::Box& box = cells_.box;
    const std::size_t bins = static_cast<std::size_t>(box.extent(0)) * box.extent(1) * slices_of_cell;
    at_least(scratch.key, n);
    at_least(scratch.order, n);
    at_least(scratch.values, n);
    scratch.bin.assign(bins + 1, 0);
    KeysArgs args{particles_.x.data(), particles_.y.data(), size(), {}, {}, {}, slices_of_cell,
                  scratch.key.data(),  scratch.bin.data()};
    for (int a = 0; a < 2; ++a) {
        args.edges[a] = cells_.edges[a].data();
        args.cells[a] = box.extent(a);
        args.per_cell[a] = axis_[a].cells / static_cast<double>(axis_[a].length);
    }
    kernels.keys(args);
    for (std::size_t b = 0; b < bins; ++b) scratch.bin[b + 1] += scratch.bin[b];
    std::size_t b = 0;
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < box.upper[1]; ++y, b += slices_of_cell)
            count(x, y) = static_cast<std::int32_t>(scratch.bin[b + slices_of_cell] - scratch.bin[b]);
    for (std::size_t i = 0; i < n; ++i) scratch.order[scratch.bin[scratch.key[i]]++] = static_cast<std::uint32_t>(i);
    for (auto* v : particles_.arrays()) {
        for (std::size_t i = 0; i < n; ++i) scratch.values[i] = (*v)[scratch.order[i]];
        std::copy_n(scratch.values.begin(), n, v->begin());
    }
}

void Tile::lay_slots() {
    const std::int64_t slots = cells_.lay_slots();
    if (slots > INT32_MAX / 2) throw SimulationError("a tile holds over 2^30 particles", "make grid.tile smaller");
    for (auto& p : packed_) fit(p, slots + padding);
    fit(reference_, size() + padding);
    const int shift = position_bits - packed_bits_;
    std::int64_t own = 0;
    for (int x = box().lower[0]; x < box().upper[0]; ++x) {
        const Run mine = run(x, box().lower[1], box().upper[1]);
        for (std::int32_t k = 0; k < mine.size; ++k, ++own)
            packed_[current_][mine.begin + k] = reference_[own] = pack(particles_.x[own], particles_.y[own], shift);
    }
}

void Tile::build_neighbour_lists(const Kernels& kernels, double radius, TileScratch& scratch) {
    build_lists(lists_, {axis_, packed_bits_, cells_, packed(), particles_.y.data()}, kernels, radius, scratch);
}

ListView Tile::lists() const {
    return {packed(),
            lists_.clusters.data(),
            static_cast<std::int32_t>(lists_.clusters.size()),
            lists_.neighbourhoods.data(),
            lists_.rows.data(),
            packed_bits_};
}

TileView Tile::view() {
    return {lists(),
            packed_[1 - current_].data(),
            particles_.x.data(),
            particles_.y.data(),
            particles_.vx.data(),
            particles_.vy.data(),
            particles_.id.data(),
            reference_.data()};
}

}  // namespace md
