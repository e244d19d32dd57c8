// SPDX-License-Identifier: MIT
// The positions that a block shows lie in one piece, box after box. So do those that it sees. Tiles have runs of slots,
// column by column.
#include "app/engine/block_halo.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "app/engine/thread_schedule.hpp"

namespace app {
namespace {

using balance::Move;

}  // namespace

template <int D>
TargetView<D> in_target_coordinates(const md::Domain& domain, const Move& m) {
    TargetView<D> to{m.box, {}};
    for (int a = 0; a < D; ++a) {
        const md::Axis& axis = domain.axis[a];
        to.box.lower[a] += m.image[a] * axis.cells;
        to.box.upper[a] += m.image[a] * axis.cells;
        to.shift.at[a] = static_cast<std::uint32_t>((m.image[a] * axis.fixed_length()) >> domain.packed_shift());
    }
    return to;
}

template <int D>
void copy_shifted(const md::Packed<D>* from, std::int64_t n, md::Packed<D>* to, const md::Packed<D>& shift) {
    if (shift == md::Packed<D>{}) std::copy_n(from, n, to);
    else std::transform(from, from + n, to, [shift](const md::Packed<D>& p) { return md::shifted(p, shift); });
}

template <int D>
void BlockHalo<D>::plan(const std::vector<Move>& moves) {
    crossings_.clear();
    const std::size_t blocks = tiles_.size() - tiles_.on_cpu();
    incoming_.assign(blocks, {});
    std::vector<gpu::BlockBorder<D>> borders(blocks);
    std::vector<std::int64_t> shown(blocks, 0), seen(blocks, 0);  // cells
    for (const Move& m : moves) {
        const TargetView<D> to = in_target_coordinates<D>(setup_.domain, m);
        Crossing c{m, to, tiles_.place_of(m.source), tiles_.place_of(m.target), 0, 0, 0, 0};
        const std::size_t source = c.source - tiles_.on_cpu(), target = c.target - tiles_.on_cpu();
        if (c.source == c.target) {
            borders[source].images.push_back({to.box, m.box.lower, to.shift});
            continue;
        }
        if (is_block(c.source)) {
            c.cells_out = shown[source];
            shown[source] += m.box.cells();
            borders[source].outgoing.push_back(m.box);
        }
        if (is_block(c.target)) {
            c.cells_in = seen[target];
            seen[target] += m.box.cells();
            borders[target].incoming.push_back({to.box, to.shift});
        }
        crossings_.push_back(c);
    }
    for (std::size_t b = 0; b < blocks; ++b) {
        incoming_[b].resize(seen[b]);
        const std::size_t t = tiles_.on_cpu() + b;
        if (!tiles_.zone(t).set_block(tiles_.box(t), borders[b]).empty())
            throw std::logic_error("a block of an accelerator holds particles of other cells");
    }
}

template <int D>
void BlockHalo<D>::exchange_counts() {
    std::vector<std::span<const std::int32_t>> shown;
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t) shown.push_back(tiles_.zone(t).outgoing_counts());
    std::vector<std::int64_t> out(shown.size(), 0), in(shown.size(), 0);  // particles
    std::vector<std::int32_t> counts;
    for (Crossing& c : crossings_) {
        const balance::Box& from = c.move.box;
        counts.clear();
        if (is_block(c.source)) {
            const std::int32_t* n = shown[c.source - tiles_.on_cpu()].data() + c.cells_out;
            counts.assign(n, n + from.cells());
        } else {
            md::for_each_column<D>(from, [&](const md::CellIndex& cell) {
                const std::int32_t* n = &tiles_[c.source].count(cell);
                counts.insert(counts.end(), n, n + from.extent(D - 1));
            });
        }
        std::int64_t particles = 0;
        for (const std::int32_t n : counts) particles += n;
        const std::int32_t* next = counts.data();
        if (is_block(c.target)) {
            std::copy(counts.begin(), counts.end(), incoming_[c.target - tiles_.on_cpu()].begin() + c.cells_in);
        } else {
            md::for_each_column<D>(c.to.box, [&](const md::CellIndex& cell) {
                std::copy_n(next, from.extent(D - 1), &tiles_[c.target].count(cell));
                next += from.extent(D - 1);
            });
        }
        if (is_block(c.source))
            c.positions_out = out[c.source - tiles_.on_cpu()], out[c.source - tiles_.on_cpu()] += particles;
        if (is_block(c.target))
            c.positions_in = in[c.target - tiles_.on_cpu()], in[c.target - tiles_.on_cpu()] += particles;
    }
}

template <int D>
void BlockHalo<D>::lay_slots() {
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t)
        tiles_.zone(t).lay_slots(incoming_[t - tiles_.on_cpu()]);
}

template <int D>
void BlockHalo<D>::exchange_positions() {
    parallel_for(crossings_.size(), [&](std::size_t k) {
        const Crossing& c = crossings_[k];
        const md::Packed<D>* source =
            is_block(c.source) ? tiles_.zone(c.source).outgoing().data() + c.positions_out : nullptr;
        md::Packed<D>* target = is_block(c.target) ? tiles_.zone(c.target).incoming().data() + c.positions_in : nullptr;
        if (source && target) {
            const std::int32_t* n = &incoming_[c.target - tiles_.on_cpu()][c.cells_in];
            std::copy_n(source, std::accumulate(n, n + c.move.box.cells(), std::int64_t{0}), target);
        } else if (source) {
            // The block shows the whole halo; the tile has slots for the part of it in which neighbours may be.
            md::Tile<D>& tile = tiles_[c.target];
            md::for_each_cell<D>(c.to.box, [&](const md::CellIndex& cell) {
                const std::int32_t n = tile.count(cell);
                if (tile.seen().contains(cell))
                    copy_shifted(source, n, tile.packed() + tile.run(cell, 1).begin, c.to.shift);
                source += n;
            });
        } else {
            tiles_[c.source].for_each_run(c.move.box, [&](const auto& run) {
                target = std::copy_n(tiles_[c.source].packed() + run.begin, run.size, target);
            });
        }
    });
}

template class BlockHalo<2>;
template class BlockHalo<3>;
template TargetView<2> in_target_coordinates(const md::Domain&, const Move&);
template TargetView<3> in_target_coordinates(const md::Domain&, const Move&);
template void copy_shifted(const md::Packed<2>*, std::int64_t, md::Packed<2>*, const md::Packed<2>&);
template void copy_shifted(const md::Packed<3>*, std::int64_t, md::Packed<3>*, const md::Packed<3>&);

}  // namespace app
