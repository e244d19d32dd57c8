// SPDX-License-Identifier: MIT
// The tiles of this rank in any number of dimensions: their names, their owners and their content. Tiles (tiles.hpp)
// stores the particles.
//
// A block that an accelerator computes is a tile too, behind the tiles of the CPU.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/engine/setup.hpp"
#include "balance/model/load_model.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/communicator.hpp"
#include "md/particles.hpp"

namespace app {

class TileSet {
public:
    virtual ~TileSet() = default;

    std::size_t size() const { return boxes_.size(); }
    /// Tiles [0, on_cpu()) are computed by the CPU's threads, those behind them by accelerators.
    std::size_t on_cpu() const { return size() - accelerator_.size(); }
    /// The accelerator of this rank with the block at place t >= on_cpu(), and the block's place among those of the
    /// accelerator.
    int accelerator_of(std::size_t t) const { return accelerator_[t - on_cpu()]; }
    std::size_t block_of(std::size_t t) const { return t - first_of_accelerator(accelerator_of(t)); }
    /// Place of the first block of an accelerator.
    std::size_t first_of_accelerator(int a) const {
        return on_cpu() + static_cast<std::size_t>(std::ranges::lower_bound(accelerator_, a) - accelerator_.begin());
    }
    /// Cells of a tile.
    const balance::Box& box(std::size_t t) const { return boxes_[t]; }

    const comm::Communicator& comm() const { return comm_; }
    const balance::Hosts& hosts() const { return hosts_; }
    balance::TileShape shape() const { return shape_; }
    std::int64_t process_of(std::size_t t) const { return ids_[t].process; }
    /// Place of a tile of this rank among its tiles.
    std::size_t place_of(balance::TileId id) const {
        return first_of_process_[id.process - hosts_.processes_of(comm_.rank()).begin] + id.tile;
    }
    /// Memory of this rank's knowledge of owners: its tiles' names, the hosts of all processes.
    std::int64_t ownership_bytes() const {
        return hosts_.bytes() + static_cast<std::int64_t>(ids_.capacity() * sizeof(balance::TileId) +
                                                          first_of_process_.capacity() * sizeof(std::size_t));
    }

    virtual std::int64_t particles(std::size_t t) const = 0;
    /// Number `own` of a tile; in two dimensions z is 0. For a block only while the whole state is at one time.
    virtual md::Particle<3> particle(std::size_t t, std::int64_t own) const = 0;
    /// Particles of each own cell, in the order of cells. For a block only while the whole state is at one time.
    virtual std::vector<std::int32_t> counts(std::size_t t) const = 0;
    /// The counts of a block, from its accelerator. They are there even while the whole state is not at one time.
    virtual std::vector<std::int32_t> block_counts(std::size_t t) const = 0;
    /// Particles of each cell of all tiles and blocks, tile by tile.
    std::vector<std::int32_t> cell_particles() const;
    /// Elements of the neighbour lists' rows, of one lane.
    virtual std::int64_t list_length(std::size_t t) const = 0;
    /// Particles in and around each cell of a tile of the CPU, in the order of cells; of the cells around it as the
    /// halo counted them.
    virtual std::vector<balance::CellCounts> cell_counts_of(std::size_t t) const = 0;
    /// Calls use(tile, part, frame, particles) for parts of tiles and blocks that together have all their cells in
    /// `within`. All threads call it.
    ///
    /// part: a box of cells of the tile.
    ///
    /// frame, particles: a box around the part, and the particles in its cells, as balance::counts_in() takes them.
    using PartUse = std::function<void(std::size_t tile, const balance::Box& part, const balance::Box& frame,
                                       std::span<const std::int32_t> particles)>;
    virtual void for_each_part(const balance::Box& within, const PartUse& use) const = 0;
    /// The counts of all cells, tile by tile.
    std::vector<balance::CellCounts> cell_counts() const;
    /// Directed pairs within the cutoff of each cell's particles, in the same order. The neighbour lists must stand.
    virtual std::vector<std::int64_t> cell_neighbours() = 0;
    /// Order-independent hash of the whole state (velocities at a whole step), over all ranks. Collective.
    virtual std::uint64_t state_hash() const = 0;
    virtual std::int64_t bytes() const = 0;  ///< that they hold
    std::int64_t particles() const;          ///< on this rank

protected:
    TileSet(const Setup& setup, const comm::Communicator& comm, const balance::Hosts& hosts)
        : setup_(setup), comm_(comm), hosts_(hosts) {}
    TileSet(const TileSet&) = delete;
    TileSet& operator=(const TileSet&) = delete;

    /// Takes over the tiles of a decomposition.
    void own(const balance::Decomposition& next);

    const Setup& setup_;

private:
    /// Number of cells in front of each tile, and of all.
    std::vector<std::int64_t> first_cells() const;

    const comm::Communicator& comm_;
    balance::Hosts hosts_;
    balance::TileShape shape_{};
    std::vector<balance::Box> boxes_;
    std::vector<int> accelerator_;  // of each block
    std::vector<balance::TileId> ids_;
    std::vector<std::size_t> first_of_process_;  // place of its first tile, by this rank's processes
};

}  // namespace app
