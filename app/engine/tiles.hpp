// SPDX-License-Identifier: MIT
// Storage of the tiles of this rank and of the particles in them. Particles and positions travel between tiles in
// halo.hpp, block_halo.hpp and migration.hpp. Forces are computed in force_pass.hpp.
//
// A tile that an accelerator computes is a block. The gpu::Zone of an accelerator stores the particles of its blocks.
// Each block also has an md::Tile in the memory of the CPU, for copies of these particles. That md::Tile has the counts
// of the block's halo and of the cells that others see. It holds particles only while a caller reads the whole state.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "app/engine/tile_set.hpp"
#include "gpu/zone.hpp"
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
    /// The zone of an accelerator.
    gpu::Zone<D>& zone(int accelerator) { return *zones_[accelerator]; }
    const gpu::Zone<D>& zone(int accelerator) const { return *zones_[accelerator]; }
    bool has_blocks(int accelerator) const {
        return first_of_accelerator(accelerator) < first_of_accelerator(accelerator + 1);
    }
    /// The blocks of an accelerator.
    std::vector<balance::Box> blocks(int accelerator) const;

    /// Adds particles that lie in the cells of tile t, to the md::Tile or to the zone of a block. Threads may call it
    /// at the same time for different tiles.
    void insert(std::size_t t, std::span<const md::Particle<D>> particles);
    /// Copies the particles and counts of all blocks to the md::Tiles, for a caller that reads the whole state.
    void copy_blocks();
    /// Empties these copies.
    void drop_copies();
    /// Gives the zones the blocks of `next`. A zone keeps the particles in its new blocks. All its other particles go
    /// to the md::Tiles of the old blocks, sorted. Call it before replace().
    void reshape_zones(const balance::Decomposition& next);

    /// Makes the tiles of a new decomposition. A tile with the cells of an old tile takes over its content. Other tiles
    /// are empty. Returns the old tiles: those that were taken over are empty, and the others hold only particles.
    std::vector<md::Tile<D>> replace(const balance::Decomposition& next);

    /// Makes the particles of all lattices that lie in this rank's cells. The tiles must be empty. Collective.
    ///
    /// first_id: the first id of each body, then the last id plus 1.
    void fill(std::span<const md::Body> bodies, std::span<const std::int64_t> first_id, std::uint64_t seed);
    /// Reverses all velocities.
    void reverse();

    using TileSet::particles;
    std::int64_t particles(std::size_t t) const override {
        return t < on_cpu() ? tiles_[t].size() : zone(accelerator_of(t)).size(block_of(t));
    }
    md::Particle<3> particle(std::size_t t, std::int64_t own) const override;
    std::vector<std::int32_t> counts(std::size_t t) const override;
    std::vector<std::int32_t> block_counts(std::size_t t) const override;
    std::int64_t list_length(std::size_t t) const override { return tiles_[t].list_length(); }
    std::vector<balance::CellCounts> cell_counts_of(std::size_t t) const override;
    void for_each_part(const balance::Box& within, const PartUse& use) const override;
    std::vector<std::int64_t> cell_neighbours() override;
    std::uint64_t state_hash() const override;
    std::int64_t bytes() const override;

private:
    std::vector<std::int32_t> block_counts_with_halo(std::size_t t) const;

    std::vector<md::Tile<D>> tiles_;
    std::vector<std::unique_ptr<gpu::Zone<D>>> zones_;  // by accelerator
    std::mutex inserting_;                              // several blocks may share a zone
};

}  // namespace app
