// SPDX-License-Identifier: MIT
// Measure -> model -> partition -> plan -> migrate, every N steps: for the model that drives the run, and for others that are
// compared with it on the same trajectory, each with a partition and a memory of its own.
//
// Per-cell values live in a fixed slab of columns on each rank (balance/field.hpp); everything is summed in integers. With
// `clock: work` all decisions are the same on any number of ranks and after a restart.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/deck.hpp"
#include "app/tiles.hpp"
#include "balance/field.hpp"
#include "balance/load_model.hpp"
#include "balance/partition.hpp"
#include "comm/file.hpp"
#include "comm/team.hpp"

namespace app {

/// One row of balance.csv.
struct BalanceRow {
    std::int64_t step = 0;
    std::string model;  ///< `none` for a driver whose partition never changes
    bool driver = false;
    /// LBE and times per step: by the wall clock of all steps since the last balancing, by counted work of the state at this step.
    double lbe = 0, mean_seconds = 0, max_seconds = 0;
    double lbe_model = 0;  ///< of the partition in use from now on, by the loads of load_step
    double model_seconds = 0, partition_seconds = 0, migrate_seconds = 0;
    std::int64_t cells_moved = 0, particles_moved = 0;
    std::int64_t ghost_cells = 0;  ///< of all processes, one cell wide, in the partition in use from now on
    double lbe_observed = 0;
    std::string decision;  ///< moved | kept: gain | kept: same (the new partition is the old one) | kept: clock | kept: limit (no partition keeps it)
    double lost_seconds = 0, move_seconds = 0;  ///< migrate: gain: the loss and the cost that were compared
    double lbe_reachable = 0;                   ///< LBE_m of the partition that was computed last before this row: the loss is measured against it
    std::int64_t load_step = 0;                 ///< when the loads of lbe_model were modelled
};

/// A model with its partition and memory: what is saved in checkpoints.
struct Balanced {
    std::string name;
    std::string label;  ///< as in BalanceRow::model
    std::unique_ptr<balance::LoadModel> model;
    balance::Partition partition;
    std::vector<balance::Split> splits;
    std::vector<double> state;           ///< of each cell of this rank's slab
    std::vector<double> spent;           ///< seconds of each process since the last migration; not kept in checkpoints
    /// Numbers, as they stand in checkpoints.
    struct Record {
        double sum_mean = 0, sum_max = 0;  ///< over all balancings, seconds a step: overall LBE
        double lost_seconds = 0;           ///< since the last migration, by not migrating (migrate: gain)
        double move_seconds = 0;           ///< what a migration costs; by the wall clock with the decision for it
        double lbe_reachable = 1;          ///< LBE_m of the last partition that was computed
        double ghost_cells = 0, lbe_model = 1, load_step = 0;  ///< of the partition in use, as in BalanceRow
        double early_mean = 0, early_max = 0;  ///< the part of the sums from before the first measured update
        double updates = 0;                    ///< of the model from measured times
    } record;
    static constexpr std::size_t record_numbers = sizeof(Record) / sizeof(double);
};

class Rebalance {
public:
    /// Models of the deck, not yet measured.
    Rebalance(const Deck& deck, const balance::Grid& grid, std::int64_t processes, const comm::Communicator& comm, Timers& timers);

    /// Is a new partition to be made at this step? By counted work every N steps exactly. By the wall clock after N steps or,
    /// where decisions weigh the gain, up to N steps later, when a rebuild is due; the times of all processes are taken then, and
    /// a partition that they say is worth keeping costs no more than that. Collective.
    bool due(std::int64_t step, Tiles& tiles);

    /// Updates all models, moves what the driver decides; the first time, with nothing measured, only partitions. Where due(), after
    /// rebin(). Collective. Throws, on all ranks alike, md::SimulationError for counted work that cannot be summed
    /// exactly, and balance::Infeasible when no partition keeps the deck's limit: partitions stay as they were, and
    /// what the models have learnt can be saved in a checkpoint of this step.
    void balance(std::int64_t step, Tiles& tiles);

    /// Rows of balance.csv since the last call.
    std::vector<BalanceRow> take_rows() { return std::exchange(rows_, {}); }

    bool on() const { return every_ > 0; }
    /// Overall LBE so far of one model: sum of means over sum of maxima.
    struct Overall {
        std::string model;
        double lbe = 1;
        std::optional<double> measured;  ///< without the balancings before the model's first update from measured times
    };
    /// Of each model that has been observed, the driver first.
    std::vector<Overall> overall() const;
    /// As rows of balance.csv call the model that drives the run.
    const std::string& driver() const { return models_.front().label; }
    /// The driver's last load of each cell, in the model's unit (seconds per step, but particles with `particle_count`); not kept in
    /// checkpoints, so a restarted run has it from its first balancing on. load_step(): when it was modelled.
    bool has_load() const { return on() && load_unit_ > 0; }
    std::int64_t load_step() const { return static_cast<std::int64_t>(models_.front().record.load_step); }
    std::vector<comm::FieldBlock<double>> load(const Tiles& tiles) const;  ///< without what cells that are empty now carry; collective
    std::int64_t bytes() const;  ///< of all that balancing keeps on this rank

    // For checkpoints.
    std::vector<Balanced>& models() { return models_; }
    const std::vector<Balanced>& models() const { return models_; }
    std::int64_t last_step() const { return last_step_; }
    void set_last_step(std::int64_t step) { last_step_ = step, started_ = true; }
    const balance::Partition& partition() const { return models_.front().partition; }
    const balance::Grid& grid() const { return grid_; }
    std::int64_t slab_cells() const { return slabs_.of(team_.rank()).cells(); }

private:
    struct Cells;  // what was measured of this rank's slab
    void start(std::int64_t step, Tiles& tiles);
    std::vector<balance::CellCounts> counts_in(const Tiles& tiles) const;  // of this rank's slab
    Cells measure(Tiles& tiles, bool with_work) const;
    void require_exact_sum(const Cells& cells, std::span<const std::int64_t> neighbours) const;
    std::vector<double> times_by_work(const Cells& cells, const balance::BoxList& list, const Balanced& b) const;
    std::vector<double> share(std::vector<std::int64_t> bits) const;
    double model_loads(Balanced& b, const Cells& cells, std::span<const double> times, std::vector<std::int64_t>& load) const;
    bool worth_it_by_wall_clock(std::int64_t step, Tiles& tiles);
    void by_work(std::int64_t step, Tiles& tiles);
    BalanceRow observe(Balanced& b, std::vector<double>& times, std::int64_t step) const;
    void decide(Balanced& b, const Cells& cells, std::span<const double> times, std::int64_t step, BalanceRow& row);
    void describe(const Balanced& b, BalanceRow& row) const;
    double predicted(std::span<const std::int32_t> owner, std::span<const std::int64_t> load) const;
    std::vector<std::int32_t> owners(const balance::Partition& partition) const;
    std::int64_t ghosts(const std::vector<std::int32_t>& owner) const;

    balance::Grid grid_;
    comm::Ranks team_;
    Timers& timers_;
    balance::Slabs slabs_;
    std::int64_t every_, processes_;
    std::uint64_t seed_;
    Timing clock_;
    Migrate migrate_;
    double noise_;
    balance::Start start_;
    balance::PartitionOptions options_;
    balance::WorkCosts work_;
    std::array<double, 2> cell_width_;
    std::vector<Balanced> models_;  // the driver first
    std::int64_t last_step_ = 0;
    bool started_ = false;
    double resolution_ = 0;
    std::vector<BalanceRow> rows_;
    std::vector<double> times_;  // by the wall clock, seconds a step of each process
    std::vector<std::int64_t> load_;  // the driver's, of this rank's slab
    double load_unit_ = 0;
    std::optional<balance::Infeasible> dead_end_;
};

}  // namespace app
