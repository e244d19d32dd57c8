// SPDX-License-Identifier: MIT
// One balancing: what was counted and measured goes in; the next partition, the decision and its reasons come out.
//
// A round first looks at what the processes took (observe()): does imbalance cost more than a migration? If it does,
// the load models learn from the times, the cells are partitioned by the loads that they give, and the new partition is
// weighed against the one in use. No engine, clock, file or MPI is needed: the members of a team balance together, and
// a program calls rebalance() with its own measurements (examples/balance). By counted work every number of the outcome
// is the same on any number of members.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "balance/contender.hpp"
#include "balance/decision.hpp"
#include "balance/meter.hpp"
#include "balance/model/counted_work.hpp"
#include "balance/model/evaluate.hpp"
#include "balance/model/speeds.hpp"
#include "balance/partition/neighbourhood.hpp"
#include "balance/partition/partition.hpp"
#include "balance/partition/scattered.hpp"
#include "balance/worth.hpp"

namespace balance {

/// How the work of cells is counted.
struct Counting {
    WorkCosts work;
    std::array<double, 3> cell_width{};  ///< lengths
    /// With the prices at a step.
    Counting at(std::int64_t step) const { return {costs_at(work, step), cell_width}; }
};

/// What decides in all rounds of a run: criterion and partition for the driver.
struct Policy {
    Clock clock = Clock::wall;
    CriterionOptions criterion;
    SpeedSource speeds = SpeedSource::measured;
    PartitionOptions partition;
    Start start = Start::particles;  ///< the loads before anything was measured
    Counting counting;               ///< Clock::work; its costs also say what a migration takes

    /// A partition that never changes has no use for speeds.
    bool finds_speeds() const { return speeds == SpeedSource::measured && kind_of(partition).follows_loads; }
};

/// A contender with its partition and memory; checkpoints keep all but watch.spent.
struct BalancedModel {
    Contender contender;
    std::string label;  ///< as in Row::model
    std::unique_ptr<LoadModel> model;
    ProcessBoxes partition;     ///< in use: the processes that this member hosts
    Scattered<Split> splits{};  ///< what the partitioner remembers
    std::unique_ptr<Criterion> criterion{};
    std::vector<double> state{};  ///< of each cell of this member's home
    Watch watch{};
    History history{};
};

/// What rounds remember from one to the next.
struct Balancing {
    std::vector<BalancedModel> models;  ///< the driver, whose partition is in use, then those compared with it
    Speeds speeds;
    Worth worth;                    ///< of the driver's partitions, since the start
    std::optional<CellLoads> load;  ///< the driver's last, of the cells of this member's home
    double dearest_cell = 0;        ///< Clock::wall: of those loads, relative to a mean process
};

/// What one model was told in a round and what came of it: a row of balance.csv.
struct Row {
    std::int64_t step = 0;
    std::string model;  ///< name of the contender; `none` for a driver whose partition never changes
    bool driver = false;
    /// LBE and times per step: by the wall clock of all steps since the last balancing, by counted work of the state at
    /// this step.
    double lbe = 0, mean_seconds = 0, max_seconds = 0;
    double lbe_model = 0;  ///< of the partition in use from now on, by the loads of load_step
    double model_seconds = 0, partition_seconds = 0, migrate_seconds = 0;
    Moved moved;
    std::int64_t ghost_cells = 0;  ///< of all processes, one cell wide, in the partition in use from now on
    double lbe_observed = 0;       ///< of the times that the model saw
    Decision decision = Decision::none;
    double lost_seconds = 0, move_seconds = 0;  ///< the loss and the cost that the criterion compared
    double lbe_reachable = 0;    ///< LBE_m of the partition that was computed last before this row: the loss is
                                 ///< measured against it
    std::int64_t load_step = 0;  ///< when the loads of lbe_model were modelled
    std::string criterion;       ///< its name
};

/// What one process got when the driver partitioned: a row of resources.csv.
struct ResourceRow {
    std::int64_t step = 0, resource = 0;  ///< resource: the process
    double speed = 1;                     ///< relative to the mean
    double load = 0;     ///< of the partition in use from now on, relative to the mean, as the driver models it
    double seconds = 0;  ///< a step, measured before, as the models saw them
};

/// What a run brings to every round. The references live as long as the run.
struct Setting {
    const Team& team;
    Grid grid;
    Hosts hosts;
    Policy policy;
    const Meter& meter;

    Box home() const { return Homes{grid, team.size()}.of(team.rank()); }
};

/// A driver with the setting's policy and others that are compared with it, which start with the even partition and
/// know nothing. Collective.
Balancing make_balancing(const Setting& setting, const ModelConstants& constants, const std::string& driver,
                         std::span<const Contender> others = {});

/// When a round is made, and what disturbs its measurements.
struct Moment {
    std::int64_t step = 0, last = 0;  ///< now, and of the round before
    /// Of the processes that the member hosts: the models see the time of each times this; empty: as it is.
    std::span<const double> noise = {};
};

/// What the processes that a member hosts took by the wall clock.
struct MeasuredTimes {
    std::vector<double> seconds;  ///< a step of each
    /// What each would have had of them with the even partition, at the mean speed; any unit. Known on all members or
    /// on none.
    std::optional<std::vector<std::int64_t>> even = {};
};
/// Whether what was measured is reason enough for a migration.
struct Observation {
    Row row;                      ///< its decision is none where the round goes on, else why the partition is kept
    std::vector<double> times;    ///< seconds a step of each process that the member hosts, as the models see them
    std::vector<double> seconds;  ///< and as they were
};
/// The first half of the driver's round by the wall clock, for which nothing has to be counted. measured: empty, on all
/// members, where the times were too short for the clock. Changes the driver's history and the worth. Collective.
Observation observe(const Setting& setting, const Moment& moment, const std::optional<MeasuredTimes>& measured,
                    Balancing& balancing);

/// Of the cells of a member's home, in its order.
struct HomeCells {
    std::vector<CellCounts> counts;
    std::vector<std::int64_t> work;  ///< ticks a step; empty where none is counted
    /// What they will hold at the next measurement, on all members or on none.
    std::optional<std::vector<CellCounts>> ahead = {};
};
/// Of the cells of a member's tiles, tile by tile.
struct TileCells {
    std::vector<std::int32_t> particles;
    std::vector<std::int64_t> neighbours;  ///< directed pairs within the cutoff; empty where no work is counted
    /// How many particles they will hold at the next measurement, on all members or on none.
    std::optional<std::vector<std::int32_t>> ahead = {};
};
/// Counted work that cannot be summed exactly.
struct TooMuchWork : std::runtime_error {
    explicit TooMuchWork(const ExcessiveWork& found)
        : std::runtime_error("the counted work of one step is too much to be summed exactly"), excess(found) {}
    ExcessiveWork excess;
};
/// Brings what tiles hold to the cells' homes, counts what is around each cell there and, where `counting` is given,
/// their work. owners: the tiles' decomposition, with all processes that around_home() gives. Collective. Throws, on
/// all members alike, TooMuchWork.
HomeCells bring_home(const Team& team, const Decomposition& owners, const TileCells& tiles, const Counting* counting,
                     const Meter& meter = Meter{});

/// What a round knows beside its cells.
struct Measured {
    Moment moment;
    bool first = false;                   ///< nothing was measured yet: all models partition by the same first loads
    std::optional<Observation> observed;  ///< by the wall clock, what observe() said of the driver
    /// Seconds of the reference piece of work (balance/model/speeds.hpp) on each process that this member hosts, on all
    /// members or on none; without them speeds stay as they are.
    std::optional<std::vector<double>> reference = {};
    /// Of each member, where they have accelerators: how fast they are together, relative to the member's CPU.
    std::vector<double> accelerator_speeds = {};
    /// Seconds a step of the driver's processes that this member hosts, on all members or on none; without them they
    /// are known by counted work, and only then the round adds to Balancing::worth.
    std::optional<std::vector<double>> driver_times = {};
};

/// What comes of a round; the same on all members but for `cells`, and for `next`, `seconds` and `resources`, which are
/// of the processes that a member hosts.
struct Outcome {
    std::optional<LocalPartition> next;  ///< the driver's from now on; nothing: it keeps the one that it has
    std::vector<Row> rows;               ///< of the driver, then of the other models; none of the first round
    std::vector<double> seconds;         ///< a step of the driver's processes before; none of the first round
    std::vector<ResourceRow> resources;  ///< where speeds are found; else none
    std::optional<Infeasible> dead_end;  ///< some model found no partition that keeps the limit, and keeps its own
    HomeCells cells;                     ///< what was counted
};

/// Whether a model wants to know what the cells will hold (HomeCells::ahead).
bool wants_ahead(const Balancing& balancing);

/// One round. By the wall clock of the driver alone, whose times are those of measured.observed. By counted work, and
/// the first time, of all models: the times of each one's partition are counted, and observed here. Collective.
Outcome rebalance(const Setting& setting, HomeCells cells, const Measured& measured, Balancing& balancing);

/// The same from what the tiles of the driver's partition hold. in_use: that partition, with all processes that
/// around_home() gives, and with accelerators all processes. By counted work, members that host one process each may
/// have accelerators: then the slower side is what the process takes. Collective. Throws, on all members alike,
/// TooMuchWork. What the tiles hold is given up once it is at home, so that a caller that moves it pays for no copy.
Outcome rebalance(const Setting& setting, const Decomposition& in_use, TileCells tiles, Measured measured,
                  Balancing& balancing);

}  // namespace balance
