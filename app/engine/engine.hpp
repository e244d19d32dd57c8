// SPDX-License-Identifier: MIT
// What the tiles of all ranks do together, in which order: rebin (particles go to the tiles that own their cells and
// are sorted), build the neighbour lists (with new ghosts), force passes until a particle has moved too far, rebin
// again. A balancing may change owners between the first two.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "app/common/timers.hpp"
#include "app/engine/agreement.hpp"
#include "app/engine/force_pass.hpp"
#include "app/engine/halo.hpp"
#include "app/engine/setup.hpp"
#include "app/engine/skin_tuning.hpp"
#include "app/engine/stopwatch.hpp"
#include "app/engine/tiles.hpp"
#include "md/observables.hpp"

namespace app {

/// What the two sides of a rank have worked for a while.
struct ZoneSeconds {
    double cpu = 0;          ///< elapsed, in force passes
    double accelerator = 0;  ///< the same, of the accelerator that worked longest
    double rebuilds = 0;     ///< elapsed, while both sorted and built lists
    double cpu_busy = 0;     ///< of the CPU's threads together, in both
};

/// While ghosts were on their way.
struct TravelSeconds {
    double computed = 0, waited = 0;
};

/// All functions that change something are collective.
class Engine {
public:
    Engine(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm,
           Timers& timers);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Makes the system's particles.
    void fill(const md::System& system);
    /// Takes particles from anywhere (positions inside the box) to the tiles that own their cells by `owners`, the
    /// decomposition in use.
    void distribute(const std::vector<md::Particle>& particles, const balance::Decomposition& owners);
    /// Reverses all velocities.
    void reverse() { tiles_.reverse(); }

    /// True when a particle has moved further than half the skin since the neighbour lists were built, or they never
    /// were. The same on all ranks.
    bool displaced() const { return agreement_.displaced(); }
    /// First half of a rebuild: takes particles to the tiles that own their cells, sorts them into cells and counts.
    void rebin();
    /// Changes owners from those of `old`, the decomposition in use, to those of `next`, and takes the particles there.
    /// After rebin().
    void repartition(const balance::Decomposition& old, const balance::Decomposition& next);
    /// Second half of a rebuild: ghosts and neighbour lists; nothing where they are those of the particles as they
    /// lie. After rebin().
    void build_neighbour_lists();

    /// Forces and half-kicks (md::Kick) of every particle; ghosts travel while tiles without remote neighbours are
    /// computed (Overlap::full), and accelerators compute their blocks at the same time as the threads their tiles.
    /// stop: this rank's wish to stop; stop_wanted() is then the largest of all ranks'. With Overlap::full displaced(),
    /// stop_wanted() and errors may come one pass late (agreement.hpp); never displaced() when it matters, nor anything
    /// after a pass that moves no particle. Throws md::SimulationError.
    void force_pass(const ForcePass::Options& options, std::int64_t stop = 0);
    std::int64_t stop_wanted() const { return agreement_.stop(); }
    const Agreement& agreement() const { return agreement_; }
    const comm::Communicator& comm() const { return agreement_.comm(); }
    /// Waits for what is on its way of the last pass; a run that ends here without another pass calls it. Throws as
    /// force_pass(). Collective.
    void finish_agreement() { agreement_.finish(); }

    /// The sums of the last force_pass with `sums`, over all ranks.
    md::SystemSums sums() const { return forces_.sums(); }
    /// Force on a particle of a tile after a force_pass with `keep_forces`, own order.
    std::array<double, 2> force(std::size_t tile, std::int64_t own) const { return forces_.force(tile, own); }
    std::uint64_t state_hash() const { return tiles_.state_hash(); }

    /// Directed pairs within the cutoff of each cell's particles, tile by tile. After build_neighbour_lists().
    std::vector<std::int64_t> cell_neighbours() { return tiles_.cell_neighbours(); }
    /// See Stopwatch.
    std::vector<double> take_tile_seconds() { return stopwatch_.take_tile_seconds(); }

    /// See Halo::traffic().
    const comm::Traffic& traffic() const { return halo_.traffic(); }
    /// Seconds in which ghosts were on their way to this rank, so far.
    const TravelSeconds& travel_seconds() const { return seconds_.travel; }

    /// Of this rank, since the last call. All zero without accelerators.
    ZoneSeconds take_zone_seconds();

    const Tiles& tiles() const { return tiles_; }
    const Setup& setup() const { return setup_; }
    double skin() const { return skin_.skin(); }                           ///< in use, lengths
    std::int64_t rebuilds() const { return rebuilds_; }                    ///< of the neighbour lists
    std::int64_t particles() const { return tiles_.particles(); }          ///< on this rank
    std::int64_t bytes() const { return tiles_.bytes() + halo_.bytes(); }  ///< held by tiles and buffers of this rank
    std::int64_t ownership_bytes() const { return tiles_.ownership_bytes() + halo_.plan_bytes(); }

private:
    /// What the tiles are ready for: each stage needs the one before.
    enum class Stage { scattered, binned, listed };

    void sort();
    template <class Blocks, class Tiles>
    void at_the_same_time(Blocks blocks, Tiles tiles);
    void assign_to_threads();
    void refill_ghosts();
    template <class Compute>
    void compute_with_ghosts(Compute compute);
    ThreadSchedule to_threads(std::vector<std::size_t> tiles) const;

    const Setup setup_;
    Timers& timers_;
    Tiles tiles_;
    Halo halo_;
    Stopwatch stopwatch_;
    ForcePass forces_;
    struct {
        ThreadSchedule all, inner;     // all tiles; those without ghosts from other ranks
        std::vector<std::size_t> rim;  // the others
    } on_threads_;
    std::vector<md::TileScratch> scratch_;  // by thread
    Stage stage_ = Stage::scattered;
    Agreement agreement_;
    bool ghosts_current_ = false;  // they are where their owners are
    std::int64_t rebuilds_ = 0;
    struct {
        TravelSeconds travel;
        ZoneSeconds zones;
    } seconds_;
    SkinTuning skin_;
};

}  // namespace app
