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
    std::string model;
    bool driver = false;
    double lbe = 0, lbe_model = 0, mean_seconds = 0, max_seconds = 0;  ///< of a step, since the last balancing
    double model_seconds = 0, partition_seconds = 0, migrate_seconds = 0;
    std::int64_t cells_moved = 0, particles_moved = 0, ghost_cells = 0;  ///< ghost cells: of all processes, one cell wide
    double lbe_observed = 0;
    std::string decision;  ///< moved | kept: gain | kept: clock | kept: limit (no partition keeps it)
};

/// A model with its partition and memory: what is saved in checkpoints.
struct Balanced {
    std::string name;
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
        double lbe_model = 1, ghost_cells = 0;  ///< of the last partition made
    } record;
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
    /// Overall LBE so far: sum of means over sum of maxima; by model, the driver first.
    std::vector<std::pair<std::string, double>> overall() const;
    /// The driver's last load of each cell, in the model's unit (seconds a step, but particles with `particle_count`); not kept in
    /// checkpoints, so a restarted run has it from its first balancing on.
    bool has_load() const { return on() && load_unit_ > 0; }
    std::vector<comm::FieldBlock<double>> load() const;
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
    void start(Tiles& tiles);
    Cells measure(Tiles& tiles, bool with_work);
    void require_exact_sum(const Cells& cells, std::span<const std::int64_t> neighbours) const;
    std::vector<double> times_by_work(const Cells& cells, const balance::BoxList& list, const Balanced& b) const;
    std::vector<double> share(std::vector<std::int64_t> bits) const;
    double model_loads(Balanced& b, const Cells& cells, const balance::BoxList& list, std::span<const double> times, bool measured, std::vector<std::int64_t>& load) const;
    bool worth_it_by_wall_clock(std::int64_t step, Tiles& tiles);
    void by_work(std::int64_t step, Tiles& tiles);
    BalanceRow observe(Balanced& b, std::vector<double>& times, std::int64_t step) const;
    void decide(Balanced& b, const Cells& cells, std::span<const double> times, bool measured, BalanceRow& row);
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
