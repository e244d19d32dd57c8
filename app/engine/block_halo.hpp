// SPDX-License-Identifier: MIT
// The halos of the blocks of this rank's accelerators. Blocks show positions to tiles, to blocks of other accelerators
// and to other ranks, and see positions of them. Tiles and blocks of this rank exchange them here. Messages to and from
// other ranks are those of the halo (halo.hpp), which packs and unpacks here.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "app/engine/tiles.hpp"
#include "balance/partition/plan.hpp"

namespace app {

/// A move as its target sees it: cells, and what to add to packed positions.
template <int D>
struct TargetView {
    balance::Box box;
    md::Packed<D> shift;
};
template <int D>
TargetView<D> in_target_coordinates(const md::Domain& domain, const balance::Move& move);

/// Copies packed positions, to which the target adds a shift.
template <int D>
void copy_shifted(const md::Packed<D>* from, std::int64_t n, md::Packed<D>* to, const md::Packed<D>& shift);

template <int D>
class BlockHalo {
public:
    BlockHalo(const Setup& setup, Tiles<D>& tiles) : setup_(setup), tiles_(tiles) {}

    /// counted, seen: the plans of the halo in which particles are counted, and of the part of it that has positions.
    void plan(const balance::Plan& counted, const balance::Plan& seen);

    /// Writes into the md::Tiles of the blocks how many particles the cells hold that others see. After all are sorted.
    void take_counts();
    /// Has the blocks lay out their slots. After the counts of all halos have been filled in.
    void lay_slots();
    /// Copies positions between the blocks and the tiles of this rank, both ways. No block may be at work.
    void exchange_positions();
    /// Packs a move of a block to another rank. No block may be at work.
    void pack(const balance::Move& move, md::Packed<D>* to) const;
    /// Unpacks a move from another rank to a block, which may not be at work.
    void unpack(const balance::Move& move, const md::Packed<D>* from);

    std::int64_t plan_bytes() const;

private:
    struct Crossing {
        balance::Move move;
        TargetView<D> to;
        std::size_t source, target;  // places of tiles of this rank
        bool from_block, to_block;   // of this rank
        // Of a source that is a block: place of each column among the cells that it shows.
        std::vector<std::int32_t> columns;
        // Positions of a target that is a block: the first one, and how many there are.
        std::int64_t incoming = 0, size = 0;
    };
    // The cells of a block that others see, upwards in each column.
    struct Shown {
        std::vector<std::int32_t> cells;   // numbers in the block
        std::vector<std::int64_t> counts;  // places of their counts in the md::Tile
        std::vector<std::int64_t> first;   // position of each cell's first particle, then of the end
    };
    using Borders = std::vector<gpu::BlockBorder<D>>;  // by accelerator
    void collect_moves(const balance::Plan& counted, const balance::Plan& seen, Borders& borders);
    void list_cells(Borders& borders);
    void list_columns(Borders& borders);
    bool is_block(balance::TileId id) const { return tiles_.place_of(id) >= tiles_.on_cpu(); }
    const Crossing& across(const balance::Move& move) const;
    std::span<const md::Packed<D>> column(const Crossing& c, std::size_t k) const;
    md::Packed<D>* append_columns(const Crossing& c, md::Packed<D>* to) const;
    md::Packed<D>* incoming(const Crossing& c);

    const Setup& setup_;
    Tiles<D>& tiles_;
    std::vector<Crossing> inside_, across_;         // on this rank; to and from others, in ascending order of moves
    std::vector<Shown> counted_, shown_;            // by block
    std::vector<std::vector<Crossing*>> incoming_;  // by accelerator: in the order of its incoming positions
};

}  // namespace app
