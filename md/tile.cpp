// SPDX-License-Identifier: MIT
// Sorting by cells makes everything else runs of consecutive particles: ghosts, messages, candidates of a cluster.
#include "md/tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace md {

template <int D>
Tile<D>::Tile(const Domain& domain, balance::Box box, int halo, int reach)
    : axis_(domain.axis), packed_bits_(domain.packed_bits), cells_(axis_, box, halo, reach) {
    particles_.resize(0);
}

template <int D>
std::int64_t Tile<D>::bytes() const {
    return particles_.bytes() + bytes_of(reference_) + 2 * bytes_of(packed_[0]) + cells_.bytes() + lists_.bytes();
}

template <int D>
void Tile<D>::insert(std::span<const Particle<D>> particles) {
    sorted_ = false;
    std::int64_t i = size();
    particles_.resize(size() + std::ssize(particles));
    for (const Particle<D>& p : particles) particles_.set(i++, p);
}

namespace {

template <int D>
[[noreturn]] void throw_lost(const Particle<D>& p, const char* where) {
    std::string at;
    for (int a = 0; a < D; ++a) {
        char text[32];
        std::snprintf(text, sizeof text, "%s%.6g", a ? ", " : "", static_cast<double>(p.x[a]) * position_unit);
        at += text;
    }
    throw SimulationError("particle " + std::to_string(p.id) + " at (" + at + ") is lost: " + where);
}

// Is a coordinate (2^-40) outside the cells with these edges (2^-26)?
bool outside(std::int64_t at, const std::vector<std::int64_t>& edges) {
    return (int{at < edges.front() << edge_shift} | int{at >= edges.back() << edge_shift}) != 0;
}

}  // namespace

template <int D>
int holder_of(const Particle<D>& p, std::span<const HaloBox> boxes, const std::array<Axis, 3>& axis) {
    CellIndex cell{};
    for (int a = 0; a < D; ++a) cell[a] = axis[a].cell_of(p.x[a]);
    for (std::size_t k = 0; k < boxes.size(); ++k)
        if (boxes[k].box.contains(cell)) return static_cast<int>(k);
    throw_lost(p, "it left the cells around its own");
}

template <int D>
void Tile<D>::sort(const Kernels& kernels, TileScratch& scratch) {
    if (sorted_) return;
    sorted_ = true;
    const auto n = static_cast<std::size_t>(size());
    const auto is_outside = [this](int axis, std::size_t i) {
        return outside(particles_.x[axis][i], cells_.edges[axis]);
    };
    // The kernels would write the bin of a particle that is elsewhere outside of their array.
    int lost = 0;
    for (int a = 0; a < D; ++a)
        for (std::size_t i = 0; i < n; ++i) lost |= int{is_outside(a, i)};
    for (std::size_t i = 0; lost && i < n; ++i)
        if (is_outside(0, i) || is_outside(1, i) || is_outside(D - 1, i))
            throw_lost(particle(static_cast<std::int64_t>(i)), "it is outside the tile that holds it");
    const balance::Box& box = cells_.box;
    const std::size_t bins = static_cast<std::size_t>(box.cells()) * slices_of_cell;
    at_least(scratch.key, n);
    at_least(scratch.order, n);
    at_least(scratch.values, n);
    scratch.bin.assign(bins + 1, 0);
    KeysArgs<D> args{};
    args.count = size();
    args.slices = slices_of_cell;
    args.key = scratch.key.data();
    args.bin = scratch.bin.data();
    for (int a = 0; a < D; ++a) {
        args.x[a] = particles_.x[a].data();
        args.edges[a] = cells_.edges[a].data();
        args.cells[a] = box.extent(a);
        args.per_cell[a] = axis_[a].cells / static_cast<double>(axis_[a].length);
    }
    kernels_of<D>(kernels).keys(args);
    for (std::size_t b = 0; b < bins; ++b) scratch.bin[b + 1] += scratch.bin[b];
    std::size_t b = 0;
    for_each_column<D>(box, [&](const CellIndex& c) {
        std::int32_t* counts = &count(c);
        for (int r = 0; r < box.extent(D - 1); ++r, b += slices_of_cell)
            counts[r] = static_cast<std::int32_t>(scratch.bin[b + slices_of_cell] - scratch.bin[b]);
    });
    for (std::size_t i = 0; i < n; ++i) scratch.order[scratch.bin[scratch.key[i]]++] = static_cast<std::uint32_t>(i);
    for (auto* v : particles_.arrays()) {
        for (std::size_t i = 0; i < n; ++i) scratch.values[i] = (*v)[scratch.order[i]];
        std::copy_n(scratch.values.begin(), n, v->begin());
    }
}

template <int D>
std::vector<std::int32_t> Tile<D>::counts_after(double time) const {
    const double scale = time * velocity_unit / position_unit;
    balance::Box within = cells_.all;
    for (int a = 0; a < D; ++a)
        if (!axis_[a].periodic) {
            within.lower[a] = std::max(within.lower[a], 0);
            within.upper[a] = std::min(within.upper[a], axis_[a].cells);
        }
    std::vector<std::int32_t> counts(cells_.counts.size(), 0);
    std::int64_t own = 0;
    for_each_cell<D>(box(), [&](const CellIndex& c) {
        for (const std::int64_t end = own + count(c); own < end; ++own) {
            CellIndex next = c;
            for (int a = 0; a < D; ++a) {
                // Two boxes away is beyond the halo, and fits 62 bits.
                const auto most = static_cast<double>(2 * axis_[a].fixed_length());
                const auto step =
                    std::llround(std::clamp(static_cast<double>(particles_.v[a][own]) * scale, -most, most));
                next[a] =
                    std::clamp(axis_[a].cell_of(particles_.x[a][own] + step), within.lower[a], within.upper[a] - 1);
            }
            ++counts[cells_.cell(next)];
        }
    });
    return counts;
}

template <int D>
void Tile<D>::lay_slots() {
    const std::int64_t slots = cells_.lay_slots();
    if (slots > INT32_MAX / 2) throw SimulationError("a tile holds over 2^30 particles", "make grid.tile smaller");
    for (auto& p : packed_) fit(p, slots + padding);
    fit(reference_, size() + padding);
    const int shift = position_bits - packed_bits_;
    if constexpr (CellTable<D>::far_slots > 0)
        for (int x = cells_.seen.lower[0]; x < cells_.seen.upper[0]; ++x)
            for (auto& p : packed_) p[cells_.layer(x)] = {far_x(axis_[0], x, packed_bits_)};
    Packed<D>*to = packed(), *reference = reference_.data();
    const auto x = vec<D>([&](int a) { return static_cast<const std::int64_t*>(particles_.x[a].data()); });
    std::int64_t own = 0;
    for_each_run(box(), [&, to, reference, x](const Run& mine) {
        for (std::int32_t k = 0; k < mine.size; ++k) {
            std::int64_t at[D];
            for_each_axis<D>([&](int a) { at[a] = x[a][own + k]; });
            to[mine.begin + k] = reference[own + k] = pack(at, shift);
        }
        own += mine.size;
    });
}

template <int D>
void Tile<D>::build_neighbour_lists(const Kernels& kernels, double radius, TileScratch& scratch) {
    build_lists<D>(lists_, {axis_, packed_bits_, cells_, packed(), particles_.x[D - 1].data()}, kernels, radius,
                   scratch);
}

template <int D>
ListView<D> Tile<D>::lists() const {
    return {packed(),
            lists_.clusters.data(),
            static_cast<std::int32_t>(lists_.clusters.size()),
            lists_.neighbourhoods.data(),
            lists_.rows.data(),
            packed_bits_};
}

template <int D>
TileView<D> Tile<D>::view() {
    TileView<D> view{lists(), packed_[1 - current_].data(), {}, {}, particles_.id.data(), reference_.data()};
    for (int a = 0; a < D; ++a) view.x[a] = particles_.x[a].data(), view.v[a] = particles_.v[a].data();
    return view;
}

template class Tile<2>;
template class Tile<3>;
template int holder_of(const Particle<2>&, std::span<const HaloBox>, const std::array<Axis, 3>&);
template int holder_of(const Particle<3>&, std::span<const HaloBox>, const std::array<Axis, 3>&);

}  // namespace md
