// SPDX-License-Identifier: MIT
// The tiles of this rank and the particles in them: storage and ownership. What the tiles send each other is in
// halo.hpp, border.hpp and migration.hpp, what they compute in force_pass.hpp, in which order in engine.hpp.
//
// A block that an accelerator computes is a tile too, behind the tiles of the CPU. Its particles are in a gpu::Zone;
// the md::Tile at its place is a copy on this side, and empty but for the moments when somebody wants to see the whole
// state.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/engine/setup.hpp"
#include "balance/model/load_model.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/communicator.hpp"
#include "gpu/zone.hpp"
#include "md/tile.hpp"

namespace app {

class Tiles {
public:
    /// Empty tiles for the cells that the decomposition gives this rank.
    Tiles(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm);

    std::size_t size() const { return tiles_.size(); }
    /// Tiles [0, on_cpu()) are computed by the CPU's threads, those behind them by accelerators.
    std::size_t on_cpu() const { return tiles_.size() - accelerator_.size(); }
    /// Of a block at place t >= on_cpu().
    gpu::Zone& zone(std::size_t t) { return *zones_[accelerator_[t - on_cpu()]]; }
    const gpu::Zone& zone(std::size_t t) const { return *zones_[accelerator_[t - on_cpu()]]; }
    /// Which accelerator of this rank has it.
    int accelerator_of(std::size_t t) const { return accelerator_[t - on_cpu()]; }
    /// Accelerators of this rank, whether they have a block or not.
    int accelerators() const { return static_cast<int>(zones_.size()); }
    md::Tile& operator[](std::size_t t) { return tiles_[t]; }
    const md::Tile& operator[](std::size_t t) const { return tiles_[t]; }
    auto begin() const { return tiles_.begin(); }
    auto end() const { return tiles_.end(); }

    const comm::Communicator& comm() const { return comm_; }
    const balance::Hosts& hosts() const { return hosts_; }
    balance::TileShape shape() const { return shape_; }
    std::int64_t process_of(std::size_t t) const { return ids_[t].process; }
    /// Place of a tile of this rank among its tiles.
    std::size_t place_of(balance::TileId id) const {
        return first_of_process_[id.process - hosts_.processes_of(comm_.rank()).begin] + id.tile;
    }

    /// Adds particles that lie in the cells of tile t, wherever they are kept.
    void insert(std::size_t t, std::span<const md::Particle> particles);
    /// Brings copies of the blocks' particles and counts to this side, for whoever looks at the whole state.
    void copy_blocks();
    /// Drops them.
    void drop_copies();
    /// Has the zones keep only what their blocks of `next` hold; all other particles come to the copies, sorted.
    /// Before replace().
    void reshape_zones(const balance::Decomposition& next);

    /// The tiles of a new decomposition: those with the same cells keep their particles, the others are empty. Returns
    /// the old tiles, of which those that were kept are hollow.
    std::vector<md::Tile> replace(const balance::Decomposition& next);

    /// Makes the system's particles that lie in this rank's cells. Collective.
    void fill(const md::System& system);
    /// Reverses all velocities.
    void reverse();

    /// Particles in and around each cell of each tile, tile by tile, column by column; of the cells around a tile as
    /// the halo counted them.
    std::vector<balance::CellCounts> cell_counts() const;
    /// Directed pairs within the cutoff of each cell's particles, in the same order. The neighbour lists must stand.
    std::vector<std::int64_t> cell_neighbours();

    /// Order-independent hash of the whole state (velocities at a whole step), over all ranks. Collective.
    std::uint64_t state_hash() const;
    std::int64_t particles(std::size_t t) const { return t < on_cpu() ? tiles_[t].size() : zone(t).size(); }
    std::int64_t particles() const;  ///< on this rank
    std::int64_t bytes() const;      ///< that they hold
    /// Of what this rank knows of who owns what: its tiles' names, the hosts of all processes.
    std::int64_t ownership_bytes() const {
        return hosts_.bytes() + static_cast<std::int64_t>(ids_.capacity() * sizeof(balance::TileId) +
                                                          first_of_process_.capacity() * sizeof(std::size_t));
    }

private:
    const Setup& setup_;
    const comm::Communicator& comm_;
    balance::Hosts hosts_;
    balance::TileShape shape_{};
    std::vector<md::Tile> tiles_;
    std::vector<std::unique_ptr<gpu::Zone>> zones_;  // by accelerator
    std::vector<int> accelerator_;                   // of each block
    std::vector<balance::TileId> ids_;
    std::vector<std::size_t> first_of_process_;  // place of its first tile, by this rank's processes
};

}  // namespace app
