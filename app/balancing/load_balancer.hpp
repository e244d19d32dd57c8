// SPDX-License-Identifier: MIT
// Joins the tiles and their clock with the library balance: measures cells and times, lets the load models learn,
// partitions, decides, and has the tiles migrate. One model drives the run; others may be compared with it on the same
// trajectory, each with a partition and a memory of its own.
//
// Per-cell values live in one block of the grid on each rank (balance/grid/field.hpp), and everything is summed in
// integers: with `clock: work` all decisions are the same on any number of ranks and after a restart.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/balancing/measure.hpp"
#include "app/balancing/zone_balancer.hpp"
#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "balance/decision.hpp"
#include "balance/model/evaluate.hpp"
#include "balance/model/speeds.hpp"
#include "balance/partition/partition.hpp"
#include "balance/partition/scattered.hpp"
#include "balance/worth.hpp"
#include "comm/file/file.hpp"
#include "comm/team.hpp"

namespace app {

/// One row of balance.csv.
struct BalanceRow {
    std::int64_t step = 0;
    std::string model;  ///< `none` for a driver whose partition never changes
    bool driver = false;
    /// LBE and times per step: by the wall clock of all steps since the last balancing, by counted work of the state at
    /// this step.
    double lbe = 0, mean_seconds = 0, max_seconds = 0;
    double lbe_model = 0;  ///< of the partition in use from now on, by the loads of load_step
    double model_seconds = 0, partition_seconds = 0, migrate_seconds = 0;
    balance::Moved moved;
    std::int64_t ghost_cells = 0;  ///< of all processes, one cell wide, in the partition in use from now on
    double lbe_observed = 0;
    balance::Decision decision = balance::Decision::none;
    double lost_seconds = 0, move_seconds = 0;  ///< migrate: gain: the loss and the cost that were compared
    double lbe_reachable =
        0;  ///< LBE_m of the partition that was computed last before this row: the loss is measured against it
    std::int64_t load_step = 0;  ///< when the loads of lbe_model were modelled
};

/// One row of resources.csv: what a process got when the driver partitioned.
struct ResourceRow {
    std::int64_t step = 0, resource = 0;  ///< resource: the process
    double speed = 1;                     ///< relative to the mean
    double load = 0;     ///< of the partition in use from now on, relative to the mean, as the driver models it
    double seconds = 0;  ///< a step, measured before, as the models saw them
};

/// A model with its partition and memory: what is saved in checkpoints.
struct BalancedModel {
    std::string name;
    std::string label;  ///< as in BalanceRow::model
    std::unique_ptr<balance::LoadModel> model;
    balance::ScatteredPartition partition;
    balance::Scattered<balance::Split> splits;  ///< what the partitioner remembers
    std::vector<double> state;                  ///< of each cell of this rank's home
    std::vector<double> spent;  ///< seconds of each process since the last migration; not kept in checkpoints
    balance::History history;
};

/// What a rank's accelerators need to know of the engine.
struct RankAccelerators {
    int count = 0;
    int halo = 1;  ///< of the tiles, cells
};

class LoadBalancer {
public:
    /// Models of the deck, not yet measured.
    LoadBalancer(const Deck& deck, const balance::Grid& grid, std::int64_t processes, const comm::Communicator& comm,
                 Timers& timers, const RankAccelerators& accelerators = {});

    /// Is a balancing due at this step? By counted work every N steps exactly. By the wall clock after N steps; with
    /// `migrate: gain` at the next rebuild of the neighbour lists after that, within another N steps. displaced: a
    /// rebuild is due. The same on all ranks.
    bool due(std::int64_t step, bool displaced) const;

    /// Where due(). By the wall clock: collects the times of all processes since the last balancing; false when they
    /// say already that the partition is to be kept, and then nothing more is done at this step. By counted work, whose
    /// times are known only when the particles are sorted: true. Collective.
    bool collect_times(std::int64_t step, Engine& engine);

    /// Where collect_times(), after Engine::rebin(): updates all models, moves what the driver decides; the first time,
    /// with nothing measured, only partitions. Collective. Throws, on all ranks alike, md::SimulationError for counted
    /// work that cannot be summed exactly, and balance::Infeasible when no partition keeps the deck's limit: partitions
    /// stay as they were, and what the models have learnt can be saved in a checkpoint of this step.
    void balance(std::int64_t step, Engine& engine);

    /// See ZoneBalancer::due().
    bool border_due(std::int64_t step, bool displaced) const { return zones_.due(step, displaced); }
    /// Where border_due(), after Engine::rebin(): moves cells between the CPUs and their accelerators. Collective.
    void move_border(std::int64_t step, Engine& engine);
    ZoneBalancer& zones() { return zones_; }
    const ZoneBalancer& zones() const { return zones_; }

    /// Rows of balance.csv since the last call.
    std::vector<BalanceRow> take_rows() { return std::exchange(rows_, {}); }

    /// Rows of resources.csv since the last call, where speeds are measured.
    std::vector<ResourceRow> take_resources() { return std::exchange(resources_, {}); }

    bool on() const { return settings_.every > 0; }
    /// A partition that never changes cannot tell slow processes from dear cells.
    bool finds_speeds() const {
        return on() && settings_.speeds == balance::SpeedSource::measured && settings_.partition.kind != "none";
    }
    const balance::PartitionOptions& partition_options() const { return settings_.partition; }
    balance::Speeds& speeds() { return speeds_; }
    const balance::Speeds& speeds() const { return speeds_; }
    /// Overall LBE so far of one model: sum of means over sum of maxima.
    struct Overall {
        std::string model;
        double lbe = 1;
        std::optional<double> measured;  ///< without the balancings before the model's first update from measured times
    };
    /// Of each model that has been observed, the driver first.
    std::vector<Overall> overall() const;
    /// What balancing was worth since the start of this run, by the times that it measured; nothing where it measured
    /// none, and with accelerators. The same on all ranks.
    std::optional<balance::Worth> worth() const;
    /// As rows of balance.csv call the model that drives the run.
    const std::string& driver() const { return models_.front().label; }
    /// The driver's last load of each cell, in the model's unit (seconds per step, but particles with
    /// `particle_count`); not kept in checkpoints, so a restarted run has it from its first balancing on. load_step():
    /// when it was modelled.
    bool has_load() const { return on() && load_.has_value(); }
    std::int64_t load_step() const { return static_cast<std::int64_t>(models_.front().history.load_step); }
    /// Without what cells that are empty now carry. Collective.
    std::vector<comm::FieldBlock<double>> load(const Engine& engine) const;
    std::int64_t bytes() const;            ///< of all that balancing keeps on this rank
    std::int64_t ownership_bytes() const;  ///< of which for partitions, and for what partitioners remember

    // For checkpoints.
    std::vector<BalancedModel>& models() { return models_; }
    const std::vector<BalancedModel>& models() const { return models_; }
    std::int64_t last_step() const { return last_step_; }
    void set_last_step(std::int64_t step) { last_step_ = step, started_ = true; }
    const balance::Hosts& hosts() const { return hosts_; }
    const balance::Grid& grid() const { return grid_; }
    const balance::Team& team() const { return team_; }
    /// Cells whose values are at home here.
    std::int64_t home_cells() const { return home_.cells(); }

    /// Who owns what by the driver's partition, cut into tiles of this shape. Collective.
    balance::Decomposition decomposition(balance::TileShape tile) const;
    /// Who owns which cells by it. Collective.
    balance::Partition partition() const { return models_.front().partition.whole(team_); }

private:
    void balance_by_wall_clock(std::int64_t step, Engine& engine);
    void balance_by_work(std::int64_t step, Engine& engine);
    void start(std::int64_t step, Engine& engine);
    void migrate(Engine& engine, const balance::Decomposition& old, balance::Partition next, const MeasuredCells& cells,
                 std::span<const std::int64_t> work);
    balance::Partition partition_of(const BalancedModel& b) const;
    balance::Decomposition decomposition(balance::Partition partition, balance::TileShape tile) const;
    std::vector<std::int64_t> load_of(const MeasuredCells& cells, std::span<const std::int64_t> work) const;
    std::vector<double> zone_times(const balance::Decomposition& owners, std::span<const std::int64_t> work) const;
    void take_zone_seconds(Engine& engine);
    bool process_is_rank() const { return hosts_.processes() == team_.size(); }
    BalanceRow observe(BalancedModel& b, std::vector<double>& times, std::int64_t step) const;
    void add_resources(const balance::Owners& owners, std::span<const double> times, std::int64_t step);
    std::optional<balance::Partition> repartition(BalancedModel& b, const balance::Partition& partition,
                                                  const MeasuredCells& cells, std::span<const std::int64_t> work,
                                                  std::span<const double> times, std::int64_t step, BalanceRow& row);
    bool adopt(BalancedModel& b, const balance::Partition& next, const balance::Owners& before,
               std::span<const std::int64_t> loads, const MeasuredCells& cells, bool measured, BalanceRow& row);
    void add_worth(std::span<const double> times, std::span<const std::int64_t> work, std::int64_t step);
    std::optional<balance::Partition> partition_by(BalancedModel& b, const balance::CellLoads& loads,
                                                   const MeasuredCells& cells, BalanceRow& row);
    void describe(const BalancedModel& b, BalanceRow& row) const;

    balance::Grid grid_;
    comm::Ranks team_;
    Timers& timers_;
    balance::Hosts hosts_;
    balance::Box home_;  // this rank's
    Deck::Balance settings_;
    std::uint64_t seed_;
    std::array<double, 2> cell_width_;
    std::vector<BalancedModel> models_;  // the driver first
    std::int64_t last_step_ = 0;
    bool started_ = false;
    double resolution_ = 0;  // of the wall clock, seconds
    balance::Speeds speeds_;
    ZoneBalancer zones_;
    std::vector<double> speed_of_accelerators_;  // of each rank, by counted work
    double zone_seconds_ = 0;                    // of the slower side of this rank since the last balancing
    double of_thread_;  // a rank's elapsed time is this part of its threads' time, relative to the mean rank
    std::vector<BalanceRow> rows_;
    std::vector<ResourceRow> resources_;
    std::vector<double> times_;               // by the wall clock, seconds a step of each process
    std::optional<balance::CellLoads> load_;  // the driver's, of this rank's home
    std::optional<balance::Infeasible> dead_end_;
    balance::Worth worth_;
    double dearest_cell_ = 0;  // by the wall clock: of the driver's last loads, relative to a mean process
};

}  // namespace app
