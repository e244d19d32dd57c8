// SPDX-License-Identifier: MIT
// The tiles of all ranks at work, in this order. Rebin: particles go to the tiles that own their cells and are sorted.
// Build the neighbour lists, with new ghosts. Make force passes until a particle has moved too far, then rebin again. A
// balancing may change owners between the first two.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/common/timers.hpp"
#include "app/engine/agreement.hpp"
#include "app/engine/setup.hpp"
#include "app/engine/tile_set.hpp"
#include "comm/exchange.hpp"
#include "md/observables.hpp"
#include "md/particles.hpp"

namespace app {

/// Working times of the two sides of a rank, seconds.
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

/// In any number of dimensions; that of the setup's domain. All functions that change something are collective.
class Engine {
public:
    virtual ~Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Makes the system's particles, each in the tile that owns its cell by `owners`, the decomposition in use.
    virtual void fill(const md::System& system, const balance::Decomposition& owners) = 0;
    /// Takes particles from anywhere (positions inside the box) to the tiles that own their cells by `owners`, the
    /// decomposition in use. In two dimensions z is not looked at.
    virtual void distribute(const std::vector<md::Particle<3>>& particles, const balance::Decomposition& owners) = 0;
    /// Reverses all velocities.
    virtual void reverse() = 0;

    /// True when a particle has moved further than half the skin since the neighbour lists were built, or they never
    /// were. The same on all ranks.
    bool displaced() const { return agreement_.displaced(); }
    /// First half of a rebuild: takes particles to the tiles that own their cells, sorts them into cells and counts.
    virtual void rebin() = 0;
    /// Changes the owners of cells from `old`, the decomposition in use, to `next`, and moves the particles. After
    /// rebin().
    virtual void repartition(balance::Decomposition old, const balance::Decomposition& next) = 0;
    /// Lays out the slots of tiles and blocks, if build_neighbour_lists() has not done so since rebin(). After it,
    /// blocks know the counts of the cells around them. After rebin().
    virtual void lay_slots() = 0;
    /// Second half of a rebuild: exchanges ghosts and builds neighbour lists. Does nothing if no particle has moved
    /// since the last build. After rebin().
    virtual void build_neighbour_lists() = 0;

    /// Forces and half-kicks (md::Kick) of every particle. With Overlap::full, tiles without remote neighbours are
    /// computed while ghosts travel. Accelerators compute their blocks at the same time as the threads their tiles.
    /// Throws md::SimulationError.
    ///
    /// stop: this rank's wish to stop; stop_wanted() is then the largest wish of all ranks.
    ///
    /// With Overlap::full displaced(), stop_wanted() and errors may come one pass late (agreement.hpp). displaced() is
    /// never too late for the lists. After a pass that moves no particle, all of them are current.
    virtual void force_pass(const PassOptions& options, std::int64_t stop = 0) = 0;
    std::int64_t stop_wanted() const { return agreement_.stop(); }
    const Agreement& agreement() const { return agreement_; }
    const comm::Communicator& comm() const { return agreement_.comm(); }
    /// Waits for what is on its way of the last pass; a run that ends here without another pass calls it. Throws as
    /// force_pass(). Collective.
    void finish_agreement() { agreement_.finish(); }

    /// Lets the thermostat act on the velocities, which must belong to this whole step. With kind rescale it comes
    /// after a force_pass with `sums`. Values that were read before this call are out of date after it.
    virtual void thermalise(std::int64_t step) = 0;
    /// Energy that thermostat and moving faces have given all particles up to the last pass. Collective.
    virtual md::Given given() const = 0;
    /// Counts on from what they had given at a restart; the value of rank 0 counts.
    virtual void set_given(const md::Given& given) = 0;

    /// The sums of the last force_pass with `sums`, over all ranks.
    virtual md::SystemSums sums() const = 0;
    /// Force on a particle of a tile after a force_pass with `keep_forces`, own order. In two dimensions z is 0.
    virtual std::array<double, 3> force(std::size_t tile, std::int64_t own) const = 0;
    std::uint64_t state_hash() const { return tiles().state_hash(); }

    /// Particles in each cell of this rank's tiles if all flew straight on for a time. Tile by tile, as
    /// TileSet::cell_particles(). After rebin(), without accelerators. Collective.
    virtual std::vector<std::int32_t> cell_particles_after(double time) = 0;
    /// Directed pairs within the cutoff of each cell's particles, tile by tile. After build_neighbour_lists().
    virtual std::vector<std::int64_t> cell_neighbours() = 0;
    /// See Stopwatch.
    virtual std::vector<double> take_tile_seconds() = 0;
    virtual double take_share() = 0;

    /// See Halo::traffic().
    virtual const comm::Traffic& traffic() const = 0;
    /// Seconds in which ghosts were on their way to this rank, so far.
    virtual const TravelSeconds& travel_seconds() const = 0;
    /// Working times of this rank since the last call. All zero without accelerators.
    virtual ZoneSeconds take_zone_seconds() = 0;

    virtual const TileSet& tiles() const = 0;
    const Setup& setup() const { return setup_; }
    virtual double skin() const = 0;                                ///< in use, lengths
    virtual std::int64_t rebuilds() const = 0;                      ///< of the neighbour lists
    std::int64_t particles() const { return tiles().particles(); }  ///< on this rank
    virtual std::int64_t bytes() const = 0;                         ///< held by tiles and buffers of this rank
    virtual std::int64_t ownership_bytes() const = 0;

protected:
    Engine(const Setup& setup, const comm::Communicator& comm)
        : setup_(setup), agreement_(comm, setup.overlap == comm::Overlap::full && !setup.sudden()) {}

    const Setup setup_;
    Agreement agreement_;
};

/// timers and comm must stay.
std::unique_ptr<Engine> make_engine(const Setup& setup, const balance::Decomposition& decomposition,
                                    const comm::Communicator& comm, Timers& timers);

}  // namespace app
