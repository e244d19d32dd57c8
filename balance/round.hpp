// SPDX-License-Identifier: MIT
// One balancing. Counts and measured times go in; the next partition, the decision and its reasons come out.
//
// A round first looks at the processes' times (observe()): does imbalance cost more than a migration? If it does, the
// load models learn from the times, and the cells are partitioned by their loads. Then the new partition is weighed
// against the one in use. No engine, clock, file or MPI is needed. The members of a team balance together, and a
// program calls rebalance() with its own measurements (examples/balance). By counted work every number of the outcome
// is the same on any number of members.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "balance/choice.hpp"
#include "balance/contender.hpp"
#include "balance/cost.hpp"
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
    bool cells_move = false;             ///< The price of a move is of a cell, because nobody knows its particles.
    /// With the prices at a step.
    Counting at(std::int64_t step) const { return {costs_at(work, step), cell_width, cells_move}; }
    /// Seconds that moving takes, shared by all processes.
    double moving_seconds(const Moved& moved, std::int64_t processes) const {
        return work.move * static_cast<double>(cells_move ? moved.cells : moved.particles) /
               static_cast<double>(processes);
    }
};

/// Setting of all rounds of a run: criterion and partition of the driver.
struct Policy {
    BalanceClock clock = BalanceClock::wall;
    CriterionOptions criterion;
    SpeedSource speeds = SpeedSource::measured;
    PartitionOptions partition;
    Start start = Start::particles;        ///< the loads before anything was measured
    Counting counting;                     ///< BalanceClock::work; its costs also say what a migration takes
    std::optional<std::int64_t> end = {};  ///< last step of the run, if it is known: what is saved must pay until then
    Candidates candidates = {};            ///< what the driver may choose from, instead of `partition` and its model

    /// A partition that never changes has no use for speeds.
    bool finds_speeds() const { return speeds == SpeedSource::measured && kind_of(partition).follows_loads; }
};

/// A model of a team of one that looks at all processes at once. Arguments: the cells of each process, its seconds a
/// step, and the counts of all cells. Returns the load of each cell, >= 0, in any unit.
using WholeModel =
    std::function<std::vector<double>(const ProcessBoxes&, std::span<const double>, std::span<const CellCounts>)>;
/// As make_partition().
using Partitioner = std::function<ProcessBoxes(const PartitionInput&, const PartitionOptions&, Scattered<Split>&)>;

/// A contender with its partition and memory; checkpoints keep all but watch.spent.
struct BalancedModel {
    Contender contender;
    std::string label;  ///< as in BalanceRow::model
    std::unique_ptr<LoadModel> model;
    ProcessBoxes partition;     ///< in use: the processes that this member hosts
    Scattered<Split> splits{};  ///< what the partitioner remembers
    std::unique_ptr<Criterion> criterion{};
    std::vector<double> state{};  ///< of each cell of this member's home
    Watch watch{};
    History history{};
    std::vector<std::uint8_t> seen{};  ///< by counted work, processes_that_see() the cells; empty: not known
    ContenderCost cost{label};         ///< by counted work
    Rating rating{};                   ///< of a candidate, in the trial under way
    // A team of one may have its own.
    WholeModel whole_model{};  ///< in the place of `model`, if there is one
    Partitioner partitioner = make_partition;
};

/// The state of a run's rounds, from one to the next.
struct Balancing {
    std::vector<BalancedModel> models;  ///< the driver, whose partition is in use, then those compared with it
    Speeds speeds;
    WorthSums worth;                ///< of the driver's partitions, since the start
    std::optional<CellLoads> load;  ///< the driver's last, of the cells of this member's home
    double heaviest_cell = 0;       ///< BalanceClock::wall: of those loads, relative to a mean process
    /// What the driver may choose from: models, which learn from its times, then partitioners, which use its loads. For
    /// a model, Watch::spent holds the times that it foretold.
    std::vector<BalancedModel> candidates = {};
    Choice choice = {};
};

/// Input and result of one model in a round: a row of balance.csv.
struct BalanceRow {
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
    double lost_seconds = 0, move_seconds = 0;  ///< The loss and the cost that the criterion compared.
    /// LBE_m of the partition that was computed last before this row. The loss is measured against it.
    double lbe_reachable = 0;
    std::int64_t load_step = 0;  ///< Step at which the loads of lbe_model were modelled.
    std::string criterion;       ///< Name of the criterion.
    /// Bytes of the ghost cells, by the counts at this step. By the wall clock 0 if the partition is kept, because then
    /// nobody counts them.
    std::int64_t ghost_bytes = 0;
};

/// The share of one process in the driver's partition: a row of resources.csv.
struct ResourceRow {
    std::int64_t step = 0, process = 0;
    double speed = 1;    ///< Relative to the mean.
    double load = 0;     ///< Load in the partition from now on, relative to the mean, as the driver models it.
    double seconds = 0;  ///< Seconds a step before, as the models saw them.
};

/// The constant input of all rounds of a run. The references live as long as the run.
struct Setting {
    const Team& team;
    Grid grid;
    Hosts hosts;
    Policy policy;
    const Meter& meter;

    Box home() const { return Homes{grid, team.size()}.of(team.rank()); }
};

/// A driver with the setting's policy and others that are compared with it, which start with the even partition and
/// know nothing. If the policy has candidates, the driver starts as the first of them, and `driver` is its name alone.
/// Collective.
Balancing make_balancing(const Setting& setting, const ModelConstants& constants, const std::string& driver,
                         std::span<const Contender> others = {});

/// When a round is made, and what disturbs its measurements.
struct RoundMoment {
    std::int64_t step = 0, last = 0;  ///< now, and of the round before
    /// Of the processes that the member hosts: the models see the time of each times this; empty: as it is.
    std::span<const double> noise = {};
};

/// Times by the wall clock of the processes that a member hosts.
struct MeasuredTimes {
    std::vector<double> seconds;  ///< a step of each
    /// What each would have had of them with the even partition, at the mean speed; any unit. Known on all members or
    /// on none.
    std::optional<std::vector<std::int64_t>> even = {};
};
/// Whether what was measured is reason enough for a migration.
struct Observation {
    BalanceRow row;               ///< Its decision: none if the round goes on, else why the partition is kept.
    std::vector<double> times;    ///< Seconds a step of each hosted process, as the models see them.
    std::vector<double> seconds;  ///< Seconds a step of each hosted process, as measured.
};
/// The first half of the driver's round by the wall clock. It needs no counts. measured: empty, on all members, if the
/// times were too short for the clock. Changes the driver's history and the worth. Collective.
Observation observe(const Setting& setting, const RoundMoment& moment, const std::optional<MeasuredTimes>& measured,
                    Balancing& balancing);

/// Values of the cells of a member's home, in its order.
struct HomeCells {
    std::vector<CellCounts> counts;
    std::vector<std::int64_t> work;  ///< ticks a step; empty where none is counted
    /// What they will hold at the next measurement, on all members or on none.
    std::optional<std::vector<CellCounts>> ahead = {};
    /// Bytes, in 1 / parts_of_a_byte, that a process receives for each if it is a ghost cell; on all members or on
    /// none. Without them the process receives the positions of the particles.
    std::optional<std::vector<std::int64_t>> bytes = {};
};
inline constexpr int parts_of_a_byte = 1024;  ///< so that sums of broken numbers are exact
/// Values of the cells of a member's tiles, tile by tile.
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
/// Brings the tiles' values to the cells' homes, and counts the particles around each cell there. With `counting`, it
/// counts the cells' work too. owners: the tiles' decomposition, with all processes of around_home(). Collective.
/// Throws, on all members alike, TooMuchWork.
HomeCells collect_at_homes(const Team& team, const Decomposition& owners, const TileCells& tiles,
                           const Counting* counting, const Meter& meter = Meter{});

/// Input of a round beside its cells.
struct Measured {
    RoundMoment moment;
    /// True before anything was measured. All models then partition by the same first loads.
    bool first = false;
    std::optional<Observation> observed;  ///< By the wall clock, the driver's result of observe().
    /// Seconds of the reference (balance/model/speeds.hpp) on each process that this member hosts. Given on all members
    /// or on none. Without them speeds stay as they are.
    std::optional<std::vector<double>> reference = {};
    /// Speed of each member's accelerators together, relative to the member's CPU. Empty without accelerators.
    std::vector<double> accelerator_speeds = {};
    /// Seconds a step of the driver's processes that this member hosts, on all members or on none. Without them counted
    /// work gives the times, and only then the round adds to Balancing::worth.
    std::optional<std::vector<double>> driver_times = {};
    /// By the wall clock, what a mean process takes for the ghosts of the partition in use, seconds a step. By counted
    /// work WorkCosts::ghost says it.
    double ghost_seconds = 0;
};

/// Result of a round. `rows` and `dead_end` are the same on all members. `next`, `seconds` and `resources` belong to
/// the processes that a member hosts, and `cells` to the member's home.
struct RoundOutcome {
    std::optional<LocalPartition> next;  ///< The driver's next partition; nothing: it keeps its partition.
    std::vector<BalanceRow> rows;        ///< The driver, then the other models; none in the first round.
    std::vector<double> seconds;         ///< Seconds a step of the driver's processes before; none in the first round.
    std::vector<ResourceRow> resources;  ///< Only if speeds are found.
    std::optional<Infeasible> dead_end;  ///< A model found no partition that keeps the limit, and keeps its own.
    HomeCells cells;                     ///< The counts.
};

/// Whether a model wants to know what the cells will hold (HomeCells::ahead).
bool wants_ahead(const Balancing& balancing);

/// One round. By the wall clock of the driver alone, whose times are those of measured.observed. By counted work, and
/// the first time, of all models: the times of each one's partition are counted, and observed here. Collective.
RoundOutcome rebalance(const Setting& setting, HomeCells cells, const Measured& measured, Balancing& balancing);

/// The same from the values of the tiles of the driver's partition. Collective. Throws, on all members alike,
/// TooMuchWork.
/// in_use: that partition, with all processes of around_home(), and with accelerators all processes.
///
/// By counted work, members that host one process each may have accelerators. The time of a process is then that of its
/// slower side. The tiles' values are freed once they are at home, so a caller that moves them pays for no copy.
RoundOutcome rebalance(const Setting& setting, const Decomposition& in_use, TileCells tiles, Measured measured,
                       Balancing& balancing);

}  // namespace balance
