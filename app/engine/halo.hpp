// SPDX-License-Identifier: MIT
// The halo: copies of the particles in the cells around each tile. Ghosts come from their owners along the halo plan,
// by messages from other ranks and by copying on this one. Particles that leave a tile go to their new owner one by
// one, as records to the neighbours of the same plan.
#pragma once
#include <cstdint>
#include <vector>

#include "app/engine/block_halo.hpp"
#include "app/engine/tiles.hpp"
#include "balance/partition/plan.hpp"
#include "balance/transfer.hpp"
#include "comm/exchange.hpp"

namespace app {

template <int D>
class Halo {
public:
    /// decomposition: that of the tiles.
    Halo(const Setup& setup, Tiles<D>& tiles, const balance::Decomposition& decomposition);

    /// Plans anew, after the tiles have been replaced by the tiles of this decomposition.
    void plan(const balance::Decomposition& decomposition);

    /// Takes the particles that have left their tiles to the tiles that own their cells. Collective. Throws
    /// md::SimulationError on the rank that has lost one.
    void emigrate();

    /// Fills in how many particles the cells around each tile hold. After the tiles are sorted. Collective.
    void exchange_counts();

    /// Counts of the tiles in the cells around them go to the owners of these cells and are added there. Then all tiles
    /// see the others' counts again. Without accelerators. Collective.
    void gather_counts();

    /// Lays out the slots of all tiles and blocks. After exchange_counts().
    void lay_slots();

    /// Sends the positions that other ranks see and starts to receive theirs. After lay_slots().
    void start();
    /// Waits for the ghosts from other ranks and puts them into place.
    void finish();
    /// The same for some of them; adds the tiles and blocks that have got their last ones to `tiles`. false: there was
    /// nothing left, and all is finished.
    bool finish_some(std::vector<std::size_t>& tiles);
    /// Whether a tile or block waits for ghosts from other ranks.
    bool waits(std::size_t t) const { return missing_[t] > 0; }
    /// Copies the ghosts of tile t that other tiles of this rank own.
    void fill_from_this_rank(std::size_t t);
    /// Copies ghosts between the tiles and the blocks of this rank, and between its blocks, which must not be at work.
    void cross_border() { blocks_.exchange_positions(); }

    /// Has tile t ghosts from other ranks?
    bool remote(std::size_t t) const { return remote_[t]; }
    /// Traffic of this rank: ghosts, and particles that left their tiles.
    const comm::Traffic& traffic() const { return traffic_; }
    std::int64_t bytes() const { return counts_.bytes() + positions_.bytes(); }  ///< of buffers
    std::int64_t plan_bytes() const;  ///< of what this rank knows of the tiles around its own

private:
    struct Emigrant {
        balance::TileId target;
        md::Particle<D> particle;
    };
    std::vector<std::vector<Emigrant>> take_emigrants();
    void copy_counts();
    void unpack(const balance::Move& m, const md::Packed<D>* from);
    bool is_block(balance::TileId id) const { return tiles_.place_of(id) >= tiles_.on_cpu(); }

    const Setup& setup_;
    Tiles<D>& tiles_;
    /// Which cells around its own a tile gets something of.
    struct Around {
        std::vector<std::vector<balance::Move>> local;         // by target tile: from tiles of this rank
        std::vector<balance::PeerMoves<balance::Move>> links;  // from and to other ranks
    };
    Around counted_;  // The whole halo: counts go this way, and particles that left their tile the other way.
    Around seen_;     // The cells within reach of neighbours: ghosts.
    std::vector<std::vector<md::HaloBox>> halo_boxes_;       // by tile: the parts of its halo
    std::vector<std::vector<balance::TileId>> halo_owners_;  // and who owns them
    std::vector<char> remote_;
    std::vector<std::int32_t> due_;      // by tile: moves that bring ghosts from other ranks
    std::vector<std::int32_t> missing_;  // which of them have not arrived
    BlockHalo<D> blocks_;
    comm::Traffic traffic_;
    balance::Transfer<balance::Move, std::int32_t> counts_;
    balance::Transfer<balance::Move, md::Packed<D>> positions_;
};

}  // namespace app
