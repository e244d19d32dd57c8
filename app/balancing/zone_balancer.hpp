// SPDX-License-Identifier: MIT
// The border between the zones of a rank's CPU and its accelerators. It measures both sides, has a controller decide
// (balance/zone), and gives each accelerator its block of cells. Each rank decides for itself, at steps that are the
// same on all ranks.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/balancing/measure.hpp"
#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/model/cell_counts.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/round.hpp"
#include "balance/zone/border.hpp"
#include "balance/zone/controller.hpp"

namespace app {

/// One row of zones.csv: what one rank measured up to a check of its border, and the share from then on.
struct ZoneRow {
    std::int64_t step = 0, rank = 0;
    double share = 0;                                 ///< of the rank's load on its accelerators, before the check
    double cpu_load = 0;                              ///< 0..1
    double cpu_seconds = 0, accelerator_seconds = 0;  ///< a step
    balance::BorderDecision decision = balance::BorderDecision::kept;
    double next_share = 0;  ///< from this step on
    double most_share = 0;  ///< that accelerator.reach allows
    double speed = 0;       ///< of the accelerators together, relative to the CPU; 0: not found yet
};

/// Loads of one rank's cells: of those in each slab of a box, one cell thick, across an axis.
using RankLoads = std::function<std::vector<std::int64_t>(const balance::Box& box, int axis)>;

/// The load of all cells in a box.
std::int64_t load_of(const RankLoads& cells, const balance::Box& box);

/// The cells of one rank in two parts: strips of a room that accelerators compute, and the rest.
class RankBorder {
public:
    /// halo: width of the tiles' halo, cells.
    RankBorder(const balance::Grid& grid, balance::ZoneReach reach, int accelerators, int halo);

    int accelerators() const { return accelerators_; }
    /// The rank's cells from now on, and their loads. The border stays between the same strips.
    void take_cells(const balance::Region& region, const RankLoads& loads);
    /// Puts the border where the share of the accelerators comes nearest to `share`, or back where it was.
    void put_at_share(double share) { put_at(balance::border_at(strips_, total_, share)); }
    void put_back() { put_at(border_); }

    double share() const { return share_; }
    /// The most that the room allows.
    double most_share() const { return balance::share_at(strips_, total_, room_.strips()); }
    /// Part of the load in the dearest strip: a smaller change of the share moves nothing.
    double grain() const;
    const std::vector<balance::ZoneBlock>& blocks() const { return blocks_; }
    /// Accelerators that have a block.
    int at_work() const;

private:
    void put_at(int strips);

    balance::Grid grid_;
    balance::ZoneReach reach_;
    int accelerators_, halo_;
    balance::Region region_;
    balance::ZoneRoom room_;            // in the region
    std::vector<std::int64_t> strips_;  // loads
    std::int64_t total_ = 0;
    int border_ = 0;  // strips that the accelerators have
    double share_ = 0;
    std::vector<balance::ZoneBlock> blocks_;
};

/// Working times of the two sides of a rank's border since some step.
class SideClock {
public:
    /// Begins anew.
    void start(std::int64_t step);
    void add(const ZoneSeconds& seconds);
    /// The step at which it began.
    std::int64_t runs_since() const { return step_; }
    /// Seconds a step up to the later step `step`, and the load of the CPU. If threads stand in for accelerators, it is
    /// the load of the threads that compute tiles, otherwise the load of the process.
    balance::ZoneTimes until(std::int64_t step, AcceleratorBackend backend) const;

private:
    std::int64_t step_ = 0;
    ZoneSeconds spent_;
    double since_ = 0, cpu_since_ = 0;  // seconds of the clocks at the start
};

class ZoneBalancer {
public:
    /// setting: lives as long as this. accelerators: of this rank. halo: width of the tiles' halo, cells.
    ZoneBalancer(const Deck& deck, const balance::Setting& setting, int accelerators, int halo);

    bool on() const { return settings_.backend != AcceleratorBackend::none; }
    bool placed() const { return placed_; }
    bool checked_at(std::int64_t step) const { return placed_ && last_step_ == step; }
    /// A share that is fixed is the deck's, also after a restart.
    bool learns() const { return on() && balance::controller(settings_.controller).step; }
    /// Speed of the accelerators of each rank relative to its CPU, by counted work. Empty without accelerators.
    std::vector<double> speeds() const;
    /// True if the border is to be checked, or placed for the first time, at this step. A check needs sorted particles.
    /// So by the wall clock it waits for the next rebuild of the neighbour lists, at most for the time between two
    /// checks. The first checks, and checks while a border still moves, do not wait. displaced: a rebuild is due. The
    /// same on all ranks.
    bool due(std::int64_t step, bool displaced) const;

    /// Adds the working times of the two sides since the last call.
    void take_seconds(Engine& engine);
    /// Time of this rank since the last call: that of its slower side, as seconds of its threads.
    ProcessNanoseconds take_nanoseconds(Engine& engine, const WallClock& clock);

    /// Takes note of the measurements and moves the border of this rank. True if any rank's blocks have changed.
    /// Collective.
    ///
    /// owners: the decomposition with the blocks in use.
    ///
    /// mine: cells of this rank, with their loads.
    ///
    /// work: by counted work, ticks of the cells of this rank's home. They give the times of the sides. By other clocks
    /// the sum of take_seconds() counts.
    bool check(std::int64_t step, const balance::Decomposition& owners, const balance::Region& mine,
               const RankLoads& loads, std::span<const std::int64_t> work = {});
    /// Places the border anew, with the share that the controller has set last, in the cells that this rank has from
    /// this step on. By the wall clock a check that is due comes before.
    void place(std::int64_t step, const balance::Region& mine, const RankLoads& loads);
    /// Loads of this rank's cells, from the values of all cells at their homes. By counted work the load of a cell is
    /// its work. Otherwise it is the usual cost of a cell with its numbers of particles. Collective.
    RankLoads loads_at_homes(const balance::Region& mine, const balance::HomeCells& cells) const;
    /// The same usual costs, from tiles that stay as long as the result, by all threads. Needs no other rank. After
    /// rebin().
    RankLoads loads_in_tiles(const TileSet& tiles) const;

    /// The blocks of all ranks. Collective.
    balance::Zones zones() const;

    /// Rows since the last call; on rank 0 of all ranks. Collective.
    std::vector<ZoneRow> take_rows();

    double share() const { return border_.share(); }
    double most_share() const { return border_.most_share(); }
    double speed() const { return balance::relative_speed(state_); }
    /// How many times as fast as its CPU alone this rank is with its accelerators at this share; 1 without.
    double speed_up() const;
    /// The controllers' memories of all ranks, for checkpoints. Collective.
    std::vector<double> memory() const;
    /// Takes it over; on another number of ranks only the mean of the shares. False, and nothing is taken over, if no
    /// memory can look like this.
    bool restore(std::span<const double> memory);

private:
    /// The controller takes note of the times of the two sides. True if it moves the border.
    bool learn(std::int64_t step, balance::ZoneTimes times);
    void put(std::int64_t step, const balance::Region& mine, const RankLoads& loads, bool moves);
    balance::ZoneTimes counted_times(const balance::Decomposition& owners, std::span<const std::int64_t> work) const;
    std::int64_t usual_load(const balance::CountSums& sums) const;
    bool counted() const { return setting_.policy.clock == balance::BalanceClock::work; }

    const Deck::Accelerator settings_;
    const balance::Setting& setting_;
    std::vector<double> costs_;            // usual costs, of CountSums
    bool placed_ = false, moving_ = true;  // moving: the border of some rank, at the last check
    std::int64_t first_step_ = 0, last_step_ = 0;
    double wanted_;  // the share that the controller has set
    balance::ControllerState state_;
    RankBorder border_;
    SideClock clock_;            // since the last check
    double slower_seconds_ = 0;  // since the last balancing
    std::vector<ZoneRow> rows_;
};

}  // namespace app
