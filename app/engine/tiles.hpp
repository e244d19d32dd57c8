// SPDX-License-Identifier: MIT
// Storage: the tiles of this rank and the particles in them. halo.hpp, border.hpp and migration.hpp have the messages
// between tiles, force_pass.hpp the computation, engine.hpp the order.
//
// The particles of an accelerator's block are in a gpu::Zone. The md::Tile at its place is a copy on this side. The
// copy is empty, except while a caller looks at the whole state.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/engine/tile_set.hpp"
#include "gpu/zone.hpp"
#include "md/system.hpp"
#include "md/tile.hpp"

namespace app {

template <int D>
class Tiles final : public TileSet {
public:
    /// Empty tiles for the cells that the decomposition gives this rank.
    Tiles(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm);

    md::Tile<D>& operator[](std::size_t t) { return tiles_[t]; }
    const md::Tile<D>& operator[](std::size_t t) const { return tiles_[t]; }
    auto begin() const { return tiles_.begin(); }
    auto end() const { return tiles_.end(); }
    /// Accelerators of this rank, whether they have a block or not.
    int accelerators() const { return static_cast<int>(zones_.size()); }
    /// The zone of the block at place t >= on_cpu().
    gpu::Zone<D>& zone(std::size_t t) { return *zones_[accelerator_of(t)]; }
    const gpu::Zone<D>& zone(std::size_t t) const { return *zones_[accelerator_of(t)]; }

    /// Adds particles that lie in the cells of tile t, wherever they are kept.
    void insert(std::size_t t, std::span<const md::Particle<D>> particles);
    /// Brings copies of the blocks' particles and counts to this side, for whoever looks at the whole state.
    void copy_blocks();
    /// Drops them.
    void drop_copies();
    /// Has the zones keep only what their blocks of `next` hold; all other particles come to the copies, sorted.
    /// Before replace().
    void reshape_zones(const balance::Decomposition& next);

    /// The tiles of a new decomposition. Tiles with the same cells keep their particles, the others are empty. Returns
    /// the old tiles. The kept ones are hollow, the others have particles alone.
    std::vector<md::Tile<D>> replace(const balance::Decomposition& next);

    /// Makes the particles on lattices that lie in this rank's cells. first_id: of each body, and one more than the
    /// last id. Into empty tiles. Collective.
    void fill(std::span<const md::Body> bodies, std::span<const std::int64_t> first_id, std::uint64_t seed);
    /// Reverses all velocities.
    void reverse();

    using TileSet::particles;
    std::int64_t particles(std::size_t t) const override { return t < on_cpu() ? tiles_[t].size() : zone(t).size(); }
    md::Particle<3> particle(std::size_t t, std::int64_t own) const override;
    std::vector<std::int32_t> counts(std::size_t t) const override;
    std::vector<std::int32_t> block_counts(std::size_t t) const override;
    std::int64_t list_length(std::size_t t) const override { return tiles_[t].list_length(); }
    std::vector<balance::CellCounts> cell_counts_of(std::size_t t) const override;
    std::vector<balance::CellCounts> cell_counts() const override;
    std::vector<std::int64_t> cell_neighbours() override;
    std::uint64_t state_hash() const override;
    std::int64_t bytes() const override;

private:
    /// A tile without particles that has the counts of a block and its halo.
    md::Tile<D> counted_block(std::size_t t) const;

    std::vector<md::Tile<D>> tiles_;
    std::vector<std::unique_ptr<gpu::Zone<D>>> zones_;  // by accelerator
};

}  // namespace app
