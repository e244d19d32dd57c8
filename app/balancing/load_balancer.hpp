// SPDX-License-Identifier: MIT
// Joins the engine and its clock with the library balance. It measures cells and times, has the library make a round
// (balance/round.hpp), and has the engine carry out the migration. One model drives the run. Others may be compared
// with it on the same trajectory, each with a partition and a memory of its own.
//
// Per-cell values live in one block of the grid on each rank (balance/grid/field.hpp). All sums are of integers. So
// with `clock: work` all decisions are the same on any number of ranks and after a restart.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/balancing/balanced_cells.hpp"
#include "app/balancing/from_deck.hpp"
#include "app/balancing/measure.hpp"
#include "app/balancing/reference.hpp"
#include "app/balancing/simulated_cost.hpp"
#include "app/balancing/zone_balancer.hpp"
#include "app/common/timers.hpp"
#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/round.hpp"
#include "comm/file/file.hpp"
#include "comm/team.hpp"

namespace app {

using BalanceRow = balance::BalanceRow;
using ResourceRow = balance::ResourceRow;

/// Facts of the engine that a rank's accelerators need.
struct RankAccelerators {
    int count = 0;
    int halo = 1;  ///< of the tiles, cells
};

class LoadBalancer {
public:
    /// Models of the deck, not yet measured.
    LoadBalancer(const Deck& deck, const balance::Grid& grid, std::int64_t processes, const comm::Communicator& comm,
                 Timers& timers, const RankAccelerators& accelerators = {});
    LoadBalancer(const LoadBalancer&) = delete;  // the setting refers to members
    LoadBalancer& operator=(const LoadBalancer&) = delete;

    /// True if a balancing is due at this step. By counted work that is exactly every N steps. By the wall clock it is
    /// after N steps, at the next rebuild of the neighbour lists within another N steps. With the criterion `every` it
    /// does not wait for a rebuild. displaced: a rebuild is due. The same on all ranks.
    bool due(std::int64_t step, bool displaced) const;

    /// Call it if due(). By the wall clock it collects the times of all processes since the last balancing. It returns
    /// false if these already ask to keep the partition; this step then does no more. By counted work it returns true,
    /// because times are known only when the particles are sorted. Collective.
    bool collect_times(std::int64_t step, Engine& engine);

    /// Call it if collect_times(), after Engine::rebin(). Makes a round of all models, and the engine migrates the
    /// cells by the driver's decision. The first time, with nothing measured, models only partition. Collective.
    ///
    /// Throws, on all ranks alike, md::SimulationError for counted work that cannot be summed exactly. Throws
    /// balance::Infeasible, on all ranks alike, if no partition keeps the deck's limit. Partitions then stay as they
    /// were, and a checkpoint of this step can save the models' knowledge.
    void balance(std::int64_t step, Engine& engine);

    /// See ZoneBalancer::due().
    bool border_due(std::int64_t step, bool displaced) const { return zones_.due(step, displaced); }
    /// Where border_due(), after Engine::rebin(): moves cells between the CPUs and their accelerators. Collective.
    void move_border(std::int64_t step, Engine& engine);
    ZoneBalancer& zones() { return zones_; }
    const ZoneBalancer& zones() const { return zones_; }

    /// Rows of balance.csv since the last call.
    std::vector<BalanceRow> take_rows() { return std::exchange(rows_, {}); }

    /// Rows of resources.csv of the processes that this rank hosts, since the last call, where speeds are measured.
    std::vector<ResourceRow> take_resources() { return std::exchange(resources_, {}); }

    /// The cells before the last balance(), once. Nothing if times were not known or the deck wants no formats of it.
    std::optional<BalancedCells> take_cells() { return std::exchange(cells_, std::nullopt); }

    bool on() const { return settings_.every > 0; }
    bool finds_speeds() const { return on() && setting_.policy.finds_speeds(); }
    balance::Speeds& speeds() { return state_.speeds; }
    const balance::Speeds& speeds() const { return state_.speeds; }
    /// Overall LBE of each observed model, the driver first.
    std::vector<Overall> overall() const { return overall_of(state_.models); }
    std::vector<std::string> never_balanced() const { return app::never_balanced(state_.models); }
    /// Costs of the contenders since this start, the driver first; none by the wall clock, which times one alone.
    std::vector<balance::ContenderCost> costs() const;
    /// The worth of balancing since the start of this run, in elapsed seconds, by the measured times. Nothing without
    /// measured times, and with accelerators. The same on all ranks.
    std::optional<balance::WorthSums> worth() const;
    /// As rows of balance.csv call the model that drives the run.
    const std::string& driver() const { return state_.models.front().label; }
    /// The driver's last load of each cell, in the model's unit (seconds per step, but particles with
    /// `particle_count`). Checkpoints do not keep it, so a restarted run has it from its first balancing on.
    /// load_step(): the step at which it was modelled.
    bool has_load() const { return on() && state_.load.has_value(); }
    std::int64_t load_step() const { return static_cast<std::int64_t>(state_.models.front().history.load_step); }
    /// Without what cells that are empty now carry. Collective.
    std::vector<comm::FieldBlock<double>> load(const Engine& engine) const;
    /// That of the cells at home here, by their order there, in whole numbers of a unit; null before the model has
    /// learnt from times.
    const balance::CellLoads* home_load() const {
        return has_load() && state_.models.front().history.updates > 0 ? &*state_.load : nullptr;
    }
    balance::Box home() const { return setting_.home(); }
    std::int64_t bytes() const;            ///< Memory of balancing on this rank.
    std::int64_t ownership_bytes() const;  ///< The part of it for partitions and partitioners.

    // For checkpoints.
    std::vector<BalancedModel>& models() { return state_.models; }
    const std::vector<BalancedModel>& models() const { return state_.models; }
    std::vector<BalancedModel>& candidates() { return state_.candidates; }
    const std::vector<BalancedModel>& candidates() const { return state_.candidates; }
    const balance::Choice& choice() const { return state_.choice; }
    const balance::Candidates& choosable() const { return setting_.policy.candidates; }
    /// Takes over a choice among them.
    void choose(const balance::Choice& choice);
    std::int64_t last_step() const { return last_step_.value_or(0); }
    void set_last_step(std::int64_t step) { last_step_ = step; }
    /// After set_last_step(), where a run goes on from a later step: times are measured from here on.
    void set_timed_from(std::int64_t step) { timed_from_ = step; }
    const balance::Hosts& hosts() const { return setting_.hosts; }
    const balance::Grid& grid() const { return setting_.grid; }
    const balance::Team& team() const { return team_; }
    /// Cells whose values are at home here.
    std::int64_t home_cells() const { return setting_.home().cells(); }

    /// Counts and costs of the cells at this step, at their homes; ahead: as found last. After
    /// Engine::build_neighbour_lists(). Collective. Throws as count_cells().
    balance::HomeCells count(std::int64_t step, Engine& engine) const {
        const balance::Counting now = setting_.policy.counting.at(step);
        balance::HomeCells cells = count_cells(team_, engine, around_home(engine.tiles().shape()), now);
        cells.ahead = ahead_;
        return cells;
    }
    /// Predicts for count() what a balancing of this step does, where a model wants to know. Collective.
    void look_ahead(Engine& engine);
    bool looks_ahead() const { return on() && wants_ahead(state_); }

    /// Who owns what by the driver's partition, cut into tiles of this shape: all processes. Collective.
    balance::Decomposition decomposition(balance::TileShape tile) const;
    /// Which cells the processes of this rank own by it.
    const balance::ProcessBoxes& partition() const { return state_.models.front().partition; }

private:
    balance::Partition whole() const { return balance::whole(team_, partition()); }
    // The processes that own cells around this rank's home; with accelerators, whose blocks may lie anywhere, all.
    balance::Decomposition around_home(balance::TileShape tile) const;
    balance::Decomposition timed_around_home(const Engine& engine) const;  // as part of a balancing
    balance::Decomposition cut(balance::ProcessBoxes known, balance::TileShape tile) const;
    double time_ahead(double dt, balance::BalanceClock clock) const;
    void measure_reference(Engine& engine);
    std::optional<std::vector<double>> reference_times(std::int64_t step) const;
    double ghost_seconds(std::int64_t step);
    balance::RoundOutcome make_round(std::int64_t step, Engine& engine, const balance::Decomposition& owners);
    void migrate(std::int64_t step, Engine& engine, balance::Decomposition old, balance::LocalPartition next,
                 const balance::ProcessBoxes& before, const balance::HomeCells& cells);

    comm::Ranks team_;
    Timers& timers_;
    RoundMeter meter_;
    Deck::Balance settings_;
    std::uint64_t seed_;
    balance::Setting setting_;
    balance::Balancing state_;
    ZoneBalancer zones_;
    std::optional<WallClock> wall_;
    std::optional<std::int64_t> last_step_;  // Step of the last round; nothing before the first one.
    std::int64_t timed_from_ = 0;            // By the wall clock, the step from which times add up.
    // A round under way by the wall clock: its observation, and the seconds of the reference, on all ranks or on none.
    std::optional<balance::Observation> observed_;
    std::optional<double> reference_seconds_;
    std::optional<Reference> reference_;
    double elapsed_ = 0;       // mean of the ranks, at work since the reference was measured last
    double ghosts_until_ = 0;  // by the wall clock, as of ghosts_step_
    std::int64_t ghosts_step_ = 0;
    std::vector<BalanceRow> rows_;
    std::vector<ResourceRow> resources_;
    bool keeps_cells_;  // of balancings, for formats of other programs
    std::optional<BalancedCells> cells_;
    std::optional<std::vector<balance::CellCounts>> ahead_;  // by look_ahead()
};

}  // namespace app
