// SPDX-License-Identifier: MIT
// The border between the tiles of this rank and the blocks of its accelerators: the cells that either side sees of the
// other. Nothing here goes to another rank.
#pragma once
#include <cstdint>
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

    /// moves: moves of the halo plan with a block as source or target.
    void plan(const std::vector<balance::Move>& moves);

    /// Fills in how many particles the cells around the tiles and the blocks hold, across the border. After all are
    /// sorted.
    void exchange_counts();
    /// Has the blocks lay out their slots. After exchange_counts().
    void lay_slots();
    /// Copies positions across the border, both ways. No block may be at work.
    void exchange_positions();

    std::int64_t plan_bytes() const { return static_cast<std::int64_t>(crossings_.capacity() * sizeof(Crossing)); }

private:
    struct Crossing {
        balance::Move move;
        TargetView<D> to;
        std::size_t source, target;                // places
        std::int64_t cells_out, cells_in;          // before it, among the cells that a block shows and sees
        std::int64_t positions_out, positions_in;  // the same of particles
    };
    bool is_block(std::size_t place) const { return place >= tiles_.on_cpu(); }

    const Setup& setup_;
    Tiles<D>& tiles_;
    std::vector<Crossing> crossings_;
    std::vector<std::vector<std::int32_t>> incoming_;  // by block: counts of the cells that it sees
};

}  // namespace app
