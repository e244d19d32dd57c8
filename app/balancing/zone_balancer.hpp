// SPDX-License-Identifier: MIT
// The border between what a rank's CPU computes and what its accelerators do: measures both sides, has a controller
// decide (balance/zone), and says which block of cells each accelerator gets. Each rank decides for itself, at steps
// that are the same on all ranks.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/partition/hosts.hpp"
#include "balance/team.hpp"
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
    double most_share = 0;  ///< that the rank's inner cells allow
    double speed = 0;       ///< of the accelerators together, relative to the CPU; 0: not found yet
};

class ZoneBalancer {
public:
    /// accelerators: of this rank. halo: width of the tiles' halo, cells.
    ZoneBalancer(const Deck& deck, const balance::Grid& grid, const balance::Team& team, const balance::Hosts& hosts,
                 int accelerators, int halo);

    bool on() const { return on_; }
    bool placed() const { return placed_; }
    /// A share that is fixed is the deck's, also after a restart.
    bool learns() const { return on_ && balance::controller(settings_.controller).step; }
    /// Is the border to be checked, or placed for the first time, at this step? A check needs the particles sorted, so
    /// by the wall clock, after the first checks and where all borders have come to rest, it waits for the next rebuild
    /// of the neighbour lists, though not for longer than the time between two checks. displaced: a rebuild is due. The
    /// same on all ranks.
    bool due(std::int64_t step, bool displaced) const;

    /// Adds what the two sides have worked since the last call.
    void add(const ZoneSeconds& seconds);

    /// Takes note of what was measured and moves the border of this rank. counted: the times by counted work, seconds a
    /// step of the CPU and the accelerators; empty: those that were added. load: of the cells at home. True if any
    /// rank's blocks have changed. Collective.
    bool check(std::int64_t step, const balance::Partition& partition, std::span<const std::int64_t> load,
               std::span<const double> counted);
    /// Places the border anew, with the share that the controller has set last, in the cells that `partition` gives
    /// this rank. Collective.
    void place(const balance::Partition& partition, std::span<const std::int64_t> load);

    /// The blocks of all ranks. Collective.
    balance::Zones zones() const;

    /// Rows since the last call; on rank 0 of all ranks. Collective.
    std::vector<ZoneRow> take_rows();

    double share() const { return share_; }
    /// The most that the cells away from other ranks allow.
    double most_share() const { return balance::share_at(strips_, total_, room_.strips()); }
    double speed() const { return balance::relative_speed(state_); }
    /// What all ranks have learnt, for checkpoints. Collective.
    std::vector<double> memory() const;
    /// Takes it over; on another number of ranks only the mean of the shares. False, and nothing is taken over, if no
    /// memory can look like this.
    bool restore(std::span<const double> memory);

private:
    balance::ZoneTimes measured(std::int64_t step, std::span<const double> counted) const;
    void take_loads(const balance::Partition& partition, std::span<const std::int64_t> load);
    void put_border_at(int strips);

    const Deck::Accelerator settings_;
    bool on_, counted_;
    balance::Grid grid_;
    const balance::Team& team_;
    balance::Hosts hosts_;
    int accelerators_, halo_;
    bool placed_ = false, moving_ = true;  // moving: the border of some rank, at the last check
    std::int64_t first_step_ = 0, last_step_ = 0;
    double wanted_;  // the share that the controller has set
    balance::ControllerState state_;
    balance::Region region_;            // of this rank
    balance::ZoneRoom room_;            // in it
    std::vector<std::int64_t> strips_;  // loads
    std::int64_t total_ = 0;
    int border_ = 0;  // strips that the accelerators have
    double share_ = 0;
    std::vector<balance::Box> blocks_;
    ZoneSeconds spent_;                 // since the last check
    double since_ = 0, cpu_since_ = 0;  // seconds of the clocks at the last check
    std::vector<ZoneRow> rows_;
};

}  // namespace app
