// SPDX-License-Identifier: MIT
// All tiles of this rank, and what they do together: fill ghosts, compute forces and integrate, migrate, rebuild. Joins md
// (packing), balance (plans) and comm (bytes); OpenMP threads share the tiles.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/parallel.hpp"
#include "app/setup.hpp"
#include "app/skin.hpp"
#include "app/timers.hpp"
#include "balance/load_model.hpp"
#include "balance/plan.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"
#include "md/tile.hpp"

namespace app {

/// Sums over all particles of all ranks at one whole step, exact.
struct Totals {
    std::int64_t particles = 0, pairs = 0;
    std::array<md::Int128, 2> momentum{0, 0};  ///< 2^-40
    md::Int128 kinetic = 0;                    ///< 2^-28
    md::Int128 energy = 0, virial = 0;         ///< 2^-32, every pair counted twice
};

class Tiles {
public:
    Tiles(const Setup& setup, balance::Decomposition decomposition, const comm::Communicator& comm, Timers& timers);

    /// Makes the deck's particles that lie in this rank's cells.
    void fill(const Deck& deck);

    /// Takes particles from anywhere (positions inside the box) to the tiles that own their cells. Collective.
    void adopt(const std::vector<md::Particle>& particles);

    /// True when somebody moved further than half the skin since the last rebuild, or never built. All ranks agree.
    bool displaced() const { return displaced_; }

    /// rebin() and build_rows().
    void rebuild();
    /// First half: migrates particles to the tiles that own their cells, sorts them into cells and counts.
    void rebin();
    /// Second half: refills ghosts and builds neighbour rows.
    void build_rows();

    /// Changes owners to those of `next`; particles move to the tiles that own their cells. After rebin(). Collective.
    void repartition(balance::Decomposition next);

    /// Particles in and around each cell of each tile, tile by tile, column by column. After rebin().
    std::vector<balance::CellCounts> cell_counts() const;
    /// Directed pairs within the cutoff of each cell's particles, in the same order. After build_rows().
    std::vector<std::int64_t> cell_neighbours();
    /// Thread seconds since the last call, by tile: those of a run of tiles of one process stand at one of them. Zeros unless the
    /// setup times tiles.
    std::vector<double> take_tile_seconds();

    /// Forces and half-kicks (md::Kick) of every particle; ghosts travel while tiles without remote neighbours are computed.
    /// stop: this rank's wish to stop; stop_wanted() is then the largest of all ranks'.
    /// sums: also add up energies and momenta at this whole step. keep_forces: see force(). Throws md::SimulationError on
    /// all ranks alike.
    void force_pass(md::Kick kick, bool sums, bool keep_forces = false, std::int64_t stop = 0);
    std::int64_t stop_wanted() const { return stop_; }

    /// The sums of the last force_pass with `sums`, over all ranks.
    Totals totals() const;

    /// Order-independent hash of the whole state (velocities at a whole step).
    std::uint64_t state_hash() const;

    std::int64_t particles() const;  ///< on this rank
    std::int64_t bytes() const;      ///< held by tiles and buffers of this rank
    std::int64_t rebuilds() const { return rebuilds_; }
    const std::vector<md::Tile>& tiles() const { return tiles_; }
    const balance::Decomposition& decomposition() const { return decomposition_; }
    std::int64_t process_of(std::size_t tile) const { return ids_[tile].process; }
    const Setup& setup() const { return setup_; }
    /// Forces of a tile's particles after force_pass(..., keep_forces), own order.
    std::array<double, 2> force(std::size_t tile, std::int64_t own) const;

    /// Reverses all velocities.
    void reverse();

private:
    struct Peer {
        int rank;
        std::vector<balance::Move> outgoing, incoming;  // ghost data to and from this rank
        std::vector<std::uint64_t> sent, received;      // packed positions
    };
    struct Leaver {
        balance::TileId target;
        md::Particle particle;
    };

    std::size_t local(balance::TileId id) const { return static_cast<std::size_t>(first_tile_[id.process - mine_.begin] + id.tile); }
    void make_tiles();
    void make_plan();
    void migrate();
    void sort();
    void share_out();
    template <class Body>
    void timed_for(const Runs& runs, Body body);
    void swap_counts();
    void start_ghosts();
    void finish_ghosts();
    void fill_from_local(std::size_t tile);
    void advance(const Runs& which, md::Kick kick, bool sums, bool keep_forces);
    void tune_skin();
    void agree(const md::StepResult& mine, std::int64_t stop);

    Setup setup_;
    balance::Decomposition decomposition_;
    const comm::Communicator& comm_;
    Timers& timers_;
    comm::Exchange exchange_, ghost_exchange_;
    balance::Range mine_;  // processes of this rank
    std::vector<std::size_t> first_tile_;
    std::vector<md::Tile> tiles_;
    std::vector<balance::TileId> ids_;
    std::vector<std::vector<balance::Move>> local_moves_;        // by target tile, sources on this rank
    std::vector<std::vector<md::FrameBox>> frame_boxes_;         // by tile: who owns its frame
    std::vector<std::vector<balance::TileId>> frame_owners_;
    std::vector<bool> remote_;                                   // tiles with ghosts from other ranks
    Runs all_, inner_, rim_;                                     // all tiles; those without, with ghosts from other ranks
    std::vector<Peer> peers_;
    std::vector<std::vector<std::int64_t>> force_x_, force_y_;
    std::vector<md::TileScratch> scratch_;                       // by thread
    int current_ = 0;
    bool displaced_ = true, ghosts_filled_ = false;
    std::int64_t rebuilds_ = 0, stop_ = 0;
    SkinSearch skins_;
    double forces_before_ = 0, rest_before_ = 0;  // seconds of phases at the last rebuild
    int steps_since_ = 0;                         // the last rebuild
    std::vector<md::PairSums> pair_sums_;   // by tile
    std::vector<md::StepResult> results_;
    struct alignas(64) Watch {  // of one thread: since when it has been at tiles of the process that `tile` belongs to
        std::size_t tile = 0;
        double start = 0;
        bool running = false;
    };
    std::vector<Watch> watches_;
    std::vector<double> tile_seconds_;
};

}  // namespace app
