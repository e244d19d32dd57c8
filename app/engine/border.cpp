// SPDX-License-Identifier: MIT
// What a block shows lies in one piece, box after box; so does what it sees. Tiles have runs of slots, column by
// column.
#include "app/engine/border.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "app/engine/thread_schedule.hpp"

namespace app {
namespace {

using balance::Move;

}  // namespace

TargetView in_target_coordinates(const md::Domain& domain, const Move& m) {
    const balance::Grid grid = domain.grid();
    const auto packed = [&](int a) {
        return static_cast<std::uint32_t>((m.image[a] * domain.axis[a].fixed_length()) >> domain.packed_shift());
    };
    const balance::Box box = balance::shifted(m.box, {m.image[0] * grid.cells[0], m.image[1] * grid.cells[1], 0});
    return {box, packed(0), packed(1)};
}

void copy_shifted(const std::uint64_t* from, std::int64_t n, std::uint64_t* to, std::uint32_t dx, std::uint32_t dy) {
    if (dx == 0 && dy == 0) std::copy_n(from, n, to);
    else
        std::transform(from, from + n, to,
                       [shift = md::joined(dx, dy)](std::uint64_t p) { return md::shifted(p, shift); });
}

void Border::plan(const std::vector<Move>& moves) {
    crossings_.clear();
    const std::size_t blocks = tiles_.size() - tiles_.on_cpu();
    incoming_.assign(blocks, {});
    std::vector<gpu::Border> borders(blocks);
    std::vector<std::int64_t> shown(blocks, 0), seen(blocks, 0);  // cells
    for (const Move& m : moves) {
        const TargetView to = in_target_coordinates(setup_.domain, m);
        Crossing c{m, to, tiles_.place_of(m.source), tiles_.place_of(m.target), 0, 0, 0, 0};
        const std::size_t source = c.source - tiles_.on_cpu(), target = c.target - tiles_.on_cpu();
        if (c.source == c.target) {
            borders[source].images.push_back({to.box, m.box.lower, to.dx, to.dy});
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
            borders[target].incoming.push_back({to.box, to.dx, to.dy});
        }
        crossings_.push_back(c);
    }
    for (std::size_t b = 0; b < blocks; ++b) {
        incoming_[b].resize(seen[b]);
        const std::size_t t = tiles_.on_cpu() + b;
        if (!tiles_.zone(t).set_block(tiles_[t].box(), borders[b]).empty())
            throw std::logic_error("a block of an accelerator holds particles of other cells");
    }
}

void Border::exchange_counts() {
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
            for (int x = from.lower[0]; x < from.upper[0]; ++x) {
                const std::int32_t* n = tiles_[c.source].column(x, from.lower[1]);
                counts.insert(counts.end(), n, n + from.extent(1));
            }
        }
        std::int64_t particles = 0;
        for (const std::int32_t n : counts) particles += n;
        const std::int32_t* next = counts.data();
        if (is_block(c.target)) {
            std::copy(counts.begin(), counts.end(), incoming_[c.target - tiles_.on_cpu()].begin() + c.cells_in);
        } else {
            for (int x = c.to.box.lower[0]; x < c.to.box.upper[0]; ++x, next += from.extent(1))
                std::copy_n(next, from.extent(1), &tiles_[c.target].count(x, c.to.box.lower[1]));
        }
        if (is_block(c.source))
            c.positions_out = out[c.source - tiles_.on_cpu()], out[c.source - tiles_.on_cpu()] += particles;
        if (is_block(c.target))
            c.positions_in = in[c.target - tiles_.on_cpu()], in[c.target - tiles_.on_cpu()] += particles;
    }
}

void Border::lay_slots() {
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t)
        tiles_.zone(t).lay_slots(incoming_[t - tiles_.on_cpu()]);
}

void Border::exchange_positions() {
    parallel_for(crossings_.size(), [&](std::size_t k) {
        const Crossing& c = crossings_[k];
        const balance::Box &from = c.move.box, &into = c.to.box;
        const std::uint64_t* source =
            is_block(c.source) ? tiles_.zone(c.source).outgoing().data() + c.positions_out : nullptr;
        std::uint64_t* target = is_block(c.target) ? tiles_.zone(c.target).incoming().data() + c.positions_in : nullptr;
        for (int x = 0; x < from.extent(0); ++x) {
            const auto run_in = [x](const md::Tile& tile, const balance::Box& box) {
                return tile.run(box.lower[0] + x, box.lower[1], box.upper[1]);
            };
            if (source && target) {
                const std::int32_t* n =
                    &incoming_[c.target - tiles_.on_cpu()][c.cells_in + std::int64_t{x} * from.extent(1)];
                std::int64_t size = 0;
                for (int y = 0; y < from.extent(1); ++y) size += n[y];
                target = std::copy_n(source, size, target);
                source += size;
            } else if (source) {
                const md::Tile::Run run = run_in(tiles_[c.target], into);
                copy_shifted(source, run.size, tiles_[c.target].packed() + run.begin, c.to.dx, c.to.dy);
                source += run.size;
            } else {
                const md::Tile::Run run = run_in(tiles_[c.source], from);
                target = std::copy_n(tiles_[c.source].packed() + run.begin, run.size, target);
            }
        }
    });
}

}  // namespace app
