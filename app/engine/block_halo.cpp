// SPDX-License-Identifier: MIT
// A block shows each cell once, though several others may see it. The positions that the blocks of an accelerator show
// lie in one piece, block after block. So do those that they see, move after move. Tiles have runs of slots, column by
// column.
#include "app/engine/block_halo.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "app/engine/thread_schedule.hpp"
#include "balance/grid/field.hpp"

namespace app {
namespace {

using balance::Move;
using balance::Plan;

// The cell with this number in a box.
template <int D>
md::CellIndex cell_at(const balance::Box& box, std::int32_t number) {
    md::CellIndex c = box.lower;
    for (int a = D - 1; a >= 0; --a) {
        c[a] += number % box.extent(a);
        number /= box.extent(a);
    }
    return c;
}

std::int32_t number_in(const balance::Box& box, const md::CellIndex& c) {
    return static_cast<std::int32_t>(balance::place_in(box, c[0], c[1], c[2]));
}

// Appends boxes that hold these cells of a block: runs in its columns. numbers: in ascending order.
template <int D>
void append_runs(const balance::Box& block, const std::vector<std::int32_t>& numbers,
                 std::vector<balance::Box>& boxes) {
    const int height = block.extent(D - 1);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (k > 0 && numbers[k] == numbers[k - 1] + 1 && numbers[k] % height != 0) {
            ++boxes.back().upper[D - 1];
            continue;
        }
        const md::CellIndex c = cell_at<D>(block, numbers[k]);
        boxes.push_back({c, {c[0] + 1, c[1] + 1, c[2] + 1}});
    }
}

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
void BlockHalo<D>::plan(const Plan& counted, const Plan& seen) {
    const std::size_t blocks = tiles_.size() - tiles_.on_cpu();
    inside_.clear();
    across_.clear();
    counted_.assign(blocks, {});
    shown_.assign(blocks, {});
    incoming_.assign(tiles_.accelerators(), {});
    if (blocks == 0) return;
    Borders borders(tiles_.accelerators());
    collect_moves(counted, seen, borders);
    list_cells(borders);
    list_columns(borders);
    for (int a = 0; a < tiles_.accelerators(); ++a)
        if (!tiles_.zone(a).set_blocks(tiles_.blocks(a), borders[a]).empty())
            throw std::logic_error("a block of an accelerator holds particles of other cells");
}

// The crossings, the cells that others count and see, in any order, and the images.
template <int D>
void BlockHalo<D>::collect_moves(const Plan& counted, const Plan& seen, Borders& borders) {
    const auto show = [&](std::vector<Shown>& lists, const Move& m) {
        const std::size_t t = tiles_.place_of(m.source);
        md::for_each_cell<D>(m.box, [&](const md::CellIndex& c) {
            lists[t - tiles_.on_cpu()].cells.push_back(number_in(tiles_.box(t), c));
        });
    };
    for (const Move& m : counted.local)
        if (is_block(m.source)) show(counted_, m);
    for (const auto& link : counted.links)
        for (const Move& m : link.outgoing)
            if (is_block(m.source)) show(counted_, m);
    for (const Move& m : seen.local) {
        const std::size_t source = tiles_.place_of(m.source), target = tiles_.place_of(m.target);
        const bool from = is_block(m.source), to = is_block(m.target);
        const TargetView<D> there = in_target_coordinates<D>(setup_.domain, m);
        if (from && to && tiles_.accelerator_of(source) == tiles_.accelerator_of(target)) {
            borders[tiles_.accelerator_of(target)].images.push_back(
                {tiles_.block_of(target), there.box, m.box.lower, there.shift});
        } else if (from || to) {
            inside_.push_back({m, there, source, target, from, to, {}});
            if (from) show(shown_, m);
        }
    }
    for (const auto& link : seen.links) {
        for (const Move& m : link.outgoing)
            if (is_block(m.source)) {
                across_.push_back({m, {}, tiles_.place_of(m.source), 0, true, false, {}});
                show(shown_, m);
            }
        for (const Move& m : link.incoming)
            if (is_block(m.target))
                across_.push_back(
                    {m, in_target_coordinates<D>(setup_.domain, m), 0, tiles_.place_of(m.target), false, true, {}});
    }
    std::ranges::sort(across_, {}, &Crossing::move);
}

// Brings the cells that blocks show into order, each once.
template <int D>
void BlockHalo<D>::list_cells(Borders& borders) {
    for (std::size_t b = 0; b < shown_.size(); ++b) {
        const md::Tile<D>& tile = tiles_[tiles_.on_cpu() + b];
        gpu::BlockBorder<D>& border = borders[tiles_.accelerator_of(tiles_.on_cpu() + b)];
        for (auto [lists, boxes] : {std::pair{&counted_, &border.counted}, {&shown_, &border.outgoing}}) {
            Shown& list = (*lists)[b];
            std::ranges::sort(list.cells);
            list.cells.erase(std::unique(list.cells.begin(), list.cells.end()), list.cells.end());
            append_runs<D>(tile.box(), list.cells, *boxes);
            for (const std::int32_t cell : list.cells)
                list.counts.push_back(&tile.count(cell_at<D>(tile.box(), cell)) - tile.counts().data());
        }
    }
}

// Finds the columns of moves of blocks among the cells that these show, and orders what comes in.
template <int D>
void BlockHalo<D>::list_columns(Borders& borders) {
    for (std::vector<Crossing>* list : {&inside_, &across_})
        for (Crossing& c : *list) {
            if (c.from_block) {
                const std::vector<std::int32_t>& cells = shown_[c.source - tiles_.on_cpu()].cells;
                md::for_each_column<D>(c.move.box, [&](const md::CellIndex& low) {
                    const auto first = std::ranges::lower_bound(cells, number_in(tiles_.box(c.source), low));
                    c.columns.push_back(static_cast<std::int32_t>(first - cells.begin()));
                });
            }
            if (!c.to_block) continue;
            const int a = tiles_.accelerator_of(c.target);
            borders[a].incoming.push_back({tiles_.block_of(c.target), c.to.box, c.to.shift});
            incoming_[a].push_back(&c);
        }
}

template <int D>
void BlockHalo<D>::take_counts() {
    for (int a = 0; a < tiles_.accelerators(); ++a) {
        if (!tiles_.has_blocks(a)) continue;
        const std::int32_t* n = tiles_.zone(a).border_counts().data();
        for (std::size_t t = tiles_.first_of_accelerator(a); t < tiles_.first_of_accelerator(a + 1); ++t)
            for (const std::int64_t place : counted_[t - tiles_.on_cpu()].counts) tiles_[t].counts()[place] = *n++;
    }
}

template <int D>
void BlockHalo<D>::lay_slots() {
    for (std::size_t b = 0; b < shown_.size(); ++b) {
        const std::size_t t = tiles_.on_cpu() + b;
        Shown& shown = shown_[b];
        // Positions of all blocks of an accelerator lie one after the other.
        std::int64_t next = tiles_.block_of(t) > 0 ? shown_[b - 1].first.back() : 0;
        shown.first.assign(1, next);
        for (const std::int64_t place : shown.counts) shown.first.push_back(next += tiles_[t].counts()[place]);
    }
    for (int a = 0; a < tiles_.accelerators(); ++a) {
        if (!tiles_.has_blocks(a)) continue;
        std::vector<std::int32_t> counts;
        std::int64_t next = 0;
        for (Crossing* c : incoming_[a]) {
            const std::size_t first = counts.size();
            md::for_each_column<D>(c->to.box, [&](const md::CellIndex& low) {
                const std::int32_t* n = &tiles_[c->target].count(low);
                counts.insert(counts.end(), n, n + c->to.box.extent(D - 1));
            });
            c->size =
                std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(first), counts.end(), std::int64_t{0});
            c->incoming = std::exchange(next, next + c->size);
        }
        tiles_.zone(a).lay_slots(counts);
    }
}

// The positions in column k of a move of a block.
template <int D>
std::span<const md::Packed<D>> BlockHalo<D>::column(const Crossing& c, std::size_t k) const {
    const Shown& shown = shown_[c.source - tiles_.on_cpu()];
    const std::int64_t begin = shown.first[c.columns[k]], end = shown.first[c.columns[k] + c.move.box.extent(D - 1)];
    return tiles_.zone(tiles_.accelerator_of(c.source)).outgoing().subspan(begin, end - begin);
}

template <int D>
md::Packed<D>* BlockHalo<D>::append_columns(const Crossing& c, md::Packed<D>* to) const {
    for (std::size_t k = 0; k < c.columns.size(); ++k) to = std::ranges::copy(column(c, k), to).out;
    return to;
}

// Where the positions of a move to a block go.
template <int D>
md::Packed<D>* BlockHalo<D>::incoming(const Crossing& c) {
    return tiles_.zone(tiles_.accelerator_of(c.target)).incoming().data() + c.incoming;
}

template <int D>
void BlockHalo<D>::exchange_positions() {
    parallel_for(inside_.size(), [&](std::size_t n) {
        const Crossing& c = inside_[n];
        if (!c.to_block) {
            std::size_t k = 0;
            tiles_[c.target].for_each_run(c.to.box, [&](const auto& run) {
                copy_shifted(column(c, k++).data(), run.size, tiles_[c.target].packed() + run.begin, c.to.shift);
            });
        } else if (c.from_block) {
            append_columns(c, incoming(c));
        } else {
            md::Packed<D>* to = incoming(c);
            tiles_[c.source].for_each_run(c.move.box, [&](const auto& run) {
                to = std::copy_n(tiles_[c.source].packed() + run.begin, run.size, to);
            });
        }
    });
}

template <int D>
const typename BlockHalo<D>::Crossing& BlockHalo<D>::across(const Move& move) const {
    return *std::ranges::lower_bound(across_, move, {}, &Crossing::move);
}

template <int D>
void BlockHalo<D>::pack(const Move& move, md::Packed<D>* to) const {
    append_columns(across(move), to);
}

template <int D>
void BlockHalo<D>::unpack(const Move& move, const md::Packed<D>* from) {
    const Crossing& c = across(move);
    std::copy_n(from, c.size, incoming(c));
}

template <int D>
std::int64_t BlockHalo<D>::plan_bytes() const {
    std::size_t n = (inside_.capacity() + across_.capacity()) * sizeof(Crossing);
    for (const std::vector<Crossing>* list : {&inside_, &across_})
        for (const Crossing& c : *list) n += c.columns.capacity() * sizeof(std::int32_t);
    for (const std::vector<Shown>* list : {&counted_, &shown_})
        for (const Shown& s : *list)
            n += s.cells.capacity() * sizeof(std::int32_t) + (s.counts.capacity() + s.first.capacity()) * 8;
    return static_cast<std::int64_t>(n);
}

template class BlockHalo<2>;
template class BlockHalo<3>;
template TargetView<2> in_target_coordinates(const md::Domain&, const Move&);
template TargetView<3> in_target_coordinates(const md::Domain&, const Move&);
template void copy_shifted(const md::Packed<2>*, std::int64_t, md::Packed<2>*, const md::Packed<2>&);
template void copy_shifted(const md::Packed<3>*, std::int64_t, md::Packed<3>*, const md::Packed<3>&);

}  // namespace app
