// SPDX-License-Identifier: MIT
// Everything that decides is a pure function of the library balance; what is here measures, keeps the models, and
// carries the decision out.
#include "app/balancing/load_balancer.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "app/balancing/machine.hpp"
#include "app/balancing/measure.hpp"
#include "app/balancing/simulated_cost.hpp"
#include "balance/model/counted_work.hpp"
#include "balance/partition/quality.hpp"
#include "balance/partition/region.hpp"
#include "comm/clock.hpp"
#include "md/random.hpp"

namespace app {
namespace {

using balance::Clock;
using balance::Decision;
using balance::Migrate;

// A measured time must be so many steps of the clock to be believed.
constexpr double least_clock_steps = 1000;

// Processes that the deck makes slower take longer by counted work.
void slow_down(std::vector<double>& times, const balance::Slowdown& slow, std::int64_t step) {
    for (std::size_t p = 0; p < times.size(); ++p)
        times[p] /= balance::speed_of(slow, static_cast<std::int64_t>(p), step);
}

// Adds relative noise to the times of processes, by the deck's seed and the step: what a study wants to know is how
// models bear it.
void disturb(std::vector<double>& times, double noise, std::uint64_t seed, std::int64_t step) {
    if (noise == 0) return;
    const std::uint64_t of_step = seed + md::mix(static_cast<std::uint64_t>(step));
    for (std::size_t p = 0; p < times.size(); ++p)
        times[p] *= std::max(0.0, 1 + noise * md::normal_pair(of_step, static_cast<std::int64_t>(p))[0]);
}

}  // namespace

LoadBalancer::LoadBalancer(const Deck& deck, const balance::Grid& grid, std::int64_t processes,
                           const comm::Communicator& comm, Timers& timers, const RankAccelerators& accelerators)
    : grid_(grid),
      team_(comm),
      timers_(timers),
      hosts_(processes, comm.size()),
      home_(balance::Homes{grid, comm.size()}.of(comm.rank())),
      settings_(deck.balance),
      seed_(deck.system.seed),
      cell_width_{deck.system.box[0] / grid.cells[0], deck.system.box[1] / grid.cells[1]},
      speeds_(processes, deck.balance.constants),
      zones_(deck, grid, team_, hosts_, accelerators.count, accelerators.halo),
      of_thread_(relative_threads(comm)) {
    for (int r = 0; r < comm.size() && zones_.on(); ++r) speed_of_accelerators_.push_back(deck.accelerator.speed_of(r));
    complete(settings_.partition, deck.balance.clock, processes, comm);
    if (settings_.speeds == balance::SpeedSource::given) speeds_.set(given_speeds(deck.machine, settings_.partition));
    const auto add = [&](const std::string& name) {
        BalancedModel b;
        b.name = name;
        b.label = models_.empty() && settings_.partition.kind == "none" ? "none" : name;
        b.model = balance::make_model(name, deck.balance.constants);
        b.partition = {team_, balance::one_box_each(balance::even_partition(grid, processes)), hosts_};
        models_.push_back(std::move(b));
    };
    add(deck.balance.model);
    if (on())
        for (const std::string& name : deck.balance.compare) add(name);
    if (on() && settings_.clock == Clock::wall) {
        std::int64_t nanoseconds = std::llround(comm::thread_clock_resolution() * 1e9);
        team_.max(std::span(&nanoseconds, 1));  // all must come to the same decision
        resolution_ = static_cast<double>(nanoseconds) * 1e-9;
    }
}

bool LoadBalancer::due(std::int64_t step, bool displaced) const {
    if (!on()) return false;
    if (!started_) return true;
    if (settings_.clock == Clock::work) return step > last_step_ && step % settings_.every == 0;
    const std::int64_t waited = step - last_step_ - settings_.every;
    return waited >= 0 && (displaced || settings_.migrate == Migrate::always || waited >= settings_.every);
}

bool LoadBalancer::collect_times(std::int64_t step, Engine& engine) {
    if (!started_ || settings_.clock == Clock::work) return true;
    const Timed phase(timers_, Phase::balancing);
    const std::vector<double> tile_seconds = engine.take_tile_seconds();
    const std::int64_t processes = hosts_.processes();
    const std::vector<double> speeds = speeds_.relative();
    std::vector<std::int64_t> sums(2 * processes, 0);  // nanoseconds, of each process: as it was, and evenly cut
    const std::span nanoseconds(sums.data(), processes), even(sums.data() + processes, processes);
    if (zones_.on()) {  // the threads and the accelerator work at the same time, on one process
        take_zone_seconds(engine);
        nanoseconds[team_.rank()] =
            std::llround(std::exchange(zone_seconds_, 0.0) * omp_get_max_threads() * of_thread_ * 1e9);
    } else {
        for (std::size_t t = 0; t < tile_seconds.size(); ++t)
            nanoseconds[engine.tiles().process_of(t)] += std::llround(tile_seconds[t] * of_thread_ * 1e9);
        std::vector<double> at_mean_speed;
        for (std::int64_t p = 0; p < processes; ++p)
            at_mean_speed.push_back(static_cast<double>(nanoseconds[p]) * speeds[p]);
        std::ranges::copy(evenly_owned(engine.tiles(), at_mean_speed, grid_, settings_.constants.costs), even.begin());
    }
    team_.sum(sums);
    double mean = 0;  // seconds, over all steps since the last balancing
    for (const std::int64_t n : nanoseconds)
        mean += static_cast<double>(n) * 1e-9 / static_cast<double>(hosts_.processes());
    // Of the driver alone: the times that other partitions would have taken cannot be measured.
    BalancedModel& driver = models_.front();
    BalanceRow row;
    if (mean < least_clock_steps * resolution_) {
        row.step = step;
        row.model = driver.label;
        row.decision = Decision::kept_clock;
        describe(driver, row);
    } else {
        times_.clear();
        for (const std::int64_t n : nanoseconds)
            times_.push_back(static_cast<double>(n) * 1e-9 / static_cast<double>(step - last_step_));
        balance::LoadShape shape = balance::shape_of(even, 0, speeds);
        shape.dearest = dearest_cell_;
        balance::add(worth_, static_cast<double>(step - last_step_), times_, shape, speeds);
        row = observe(driver, times_, step);
    }
    row.driver = true;
    rows_ = {row};
    const bool kept = row.decision != Decision::none;
    if (kept) last_step_ = step;
    return !kept;
}

void LoadBalancer::balance(std::int64_t step, Engine& engine) {
    if (!started_) start(step, engine);
    else if (settings_.clock == Clock::work) balance_by_work(step, engine);
    else balance_by_wall_clock(step, engine);
    last_step_ = step;
    if (dead_end_) throw *dead_end_;
}

void LoadBalancer::start(std::int64_t step, Engine& engine) {
    started_ = true;
    const balance::Decomposition owners = decomposition(engine.tiles().shape());
    balance::Partition next = owners.partition();
    MeasuredCells cells;
    {
        const Timed phase(timers_, Phase::balancing);
        cells = measure_cells(team_, engine, owners);
        BalanceRow unused;
        for (BalancedModel& b : models_) {
            const bool driver = &b == &models_.front();
            auto changed = repartition(b, driver ? owners.partition() : partition_of(b), cells, {}, {}, step, unused);
            if (driver && changed) next = std::move(*changed);
        }
    }
    if (!dead_end_) migrate(engine, owners, std::move(next), cells, {});
}

void LoadBalancer::balance_by_wall_clock(std::int64_t step, Engine& engine) {
    const double begin = comm::now();
    BalanceRow& row = rows_.front();
    const balance::Decomposition owners = decomposition(engine.tiles().shape());
    MeasuredCells cells;
    std::optional<balance::Partition> next;
    {
        const Timed phase(timers_, Phase::balancing);
        cells = measure_cells(team_, engine, owners);
        next = repartition(models_.front(), owners.partition(), cells, {}, std::exchange(times_, {}), step, row);
    }
    if (!next) return;
    const double start = comm::now();
    migrate(engine, owners, std::move(*next), cells, {});
    row.migrate_seconds = comm::now() - start;
    std::int64_t nanoseconds = std::llround((comm::now() - begin) * 1e9);  // what the next one is going to cost
    team_.max(std::span(&nanoseconds, 1));
    models_.front().history.move_seconds = static_cast<double>(nanoseconds) * 1e-9;
}

void LoadBalancer::balance_by_work(std::int64_t step, Engine& engine) {
    engine.build_neighbour_lists();  // the pairs that are counted
    const balance::Decomposition owners = decomposition(engine.tiles().shape());
    MeasuredCells cells;
    std::vector<std::int64_t> work;
    std::optional<balance::Partition> next;
    {
        const Timed phase(timers_, Phase::balancing);
        cells = measure_cells(team_, engine, owners);
        work = measure_work(cells, settings_.work, cell_width_, team_, engine, owners);
        for (BalancedModel& b : models_) {
            const bool driver = &b == &models_.front();
            const balance::Partition partition = driver ? owners.partition() : partition_of(b);
            charge(cost::owners, hosts_.processes(), home_.cells());
            std::vector<double> times =
                balance::counted_times(team_, {grid_, home_, partition}, work, hosts_.processes());
            if (zones_.on() && process_is_rank()) {
                const std::vector<double> sides = zone_times(owners, work);
                for (std::size_t p = 0; p < times.size(); ++p) times[p] = std::max(sides[2 * p], sides[2 * p + 1]);
            }
            slow_down(times, settings_.work.slow, step);
            if (driver && !zones_.on()) add_worth(times, work, step);
            rows_.push_back(observe(b, times, step));
            if (rows_.back().decision != Decision::none) continue;
            auto changed = repartition(b, partition, cells, work, times, step, rows_.back());
            if (driver) next = std::move(changed);
        }
    }
    BalanceRow& row = rows_.front();
    row.driver = true;
    if (!next) return;
    const double start = comm::now();
    migrate(engine, owners, std::move(*next), cells, work);
    row.migrate_seconds = comm::now() - start;
}

balance::Partition LoadBalancer::partition_of(const BalancedModel& b) const {
    charge(cost::gathered, hosts_.processes(), 0);
    return b.partition.whole(team_);
}

balance::Decomposition LoadBalancer::decomposition(balance::Partition partition, balance::TileShape tile) const {
    charge(cost::tiles, hosts_.processes(), grid_.box().cells());
    return {grid_, std::move(partition), hosts_, tile, zones_.zones()};
}

balance::Decomposition LoadBalancer::decomposition(balance::TileShape tile) const {
    const Timed phase(timers_, Phase::balancing);
    return decomposition(partition_of(models_.front()), tile);
}

void LoadBalancer::migrate(Engine& engine, const balance::Decomposition& old, balance::Partition next,
                           const MeasuredCells& cells, std::span<const std::int64_t> work) {
    if (zones_.on()) zones_.place(next, load_of(cells, work));
    engine.repartition(old, decomposition(std::move(next), old.tile()));
}

void LoadBalancer::move_border(std::int64_t step, Engine& engine) {
    const bool counted = settings_.clock == Clock::work && zones_.placed();
    if (counted) engine.build_neighbour_lists();  // the pairs that are counted
    const balance::Decomposition owners = decomposition(engine.tiles().shape());
    bool changed = false;
    {
        const Timed phase(timers_, Phase::balancing);
        take_zone_seconds(engine);
        const MeasuredCells cells = measure_cells(team_, engine, owners);
        std::vector<std::int64_t> work;
        std::vector<double> times;
        if (counted) {
            work = measure_work(cells, settings_.work, cell_width_, team_, engine, owners);
            const std::vector<double> sides = zone_times(owners, work);
            times = {sides[2 * team_.rank()], sides[2 * team_.rank() + 1]};
        }
        changed = zones_.check(step, owners.partition(), load_of(cells, work), times);
    }
    if (changed) engine.repartition(owners, decomposition(owners.partition(), owners.tile()));
}

// What decides where the border lies: counted work where it is the clock, else what cells of so many particles usually
// cost.
std::vector<std::int64_t> LoadBalancer::load_of(const MeasuredCells& cells, std::span<const std::int64_t> work) const {
    if (!work.empty()) return {work.begin(), work.end()};
    const std::vector<double>& costs = settings_.constants.costs;
    std::vector<std::int64_t> load;
    for (const balance::CellCounts& c : cells.counts)
        load.push_back(balance::to_ticks(costs[0] + c.n * (costs[1] + costs[2] * c.n3 + costs[3] * c.n5)));
    return load;
}

// Seconds a step by counted work: of rank 0's CPU, its accelerators, rank 1's CPU, ...
std::vector<double> LoadBalancer::zone_times(const balance::Decomposition& owners,
                                             std::span<const std::int64_t> work) const {
    balance::Partition sides{{}, {0}};
    std::vector<double> devices;
    for (int r = 0; r < team_.size(); ++r) {
        const balance::Range mine = owners.processes_of(r);
        const balance::Partition& whole = owners.partition();
        balance::Region cpu(whole.boxes.begin() + whole.first[mine.begin], whole.boxes.begin() + whole.first[mine.end]);
        balance::Region blocks;
        for (const balance::Box& b : owners.zones().of(r))
            if (!b.empty()) blocks.push_back(b);
        for (const balance::Region& side : {balance::without(cpu, blocks), blocks}) {
            sides.boxes.insert(sides.boxes.end(), side.begin(), side.end());
            sides.first.push_back(static_cast<std::int64_t>(sides.boxes.size()));
        }
        devices.push_back(std::max(1.0, static_cast<double>(blocks.size())));
    }
    std::vector<double> times = balance::counted_times(team_, {grid_, home_, sides}, work, sides.processes());
    for (int r = 0; r < team_.size(); ++r) times[2 * r + 1] /= devices[r] * speed_of_accelerators_[r];
    return times;
}

void LoadBalancer::take_zone_seconds(Engine& engine) {
    const ZoneSeconds seconds = engine.take_zone_seconds();
    zones_.add(seconds);
    zone_seconds_ += std::max(seconds.cpu, seconds.accelerator) + seconds.rebuilds;
}

// What the processes of one model took, and whether a migration could pay. Adds noise to `times` where the deck wants
// it.
BalanceRow LoadBalancer::observe(BalancedModel& b, std::vector<double>& times, std::int64_t step) const {
    BalanceRow row;
    row.step = step;
    row.model = b.label;
    for (const double t : times) row.mean_seconds += t / static_cast<double>(times.size());
    row.max_seconds = *std::max_element(times.begin(), times.end());
    row.lbe = balance::efficiency(times);
    row.lbe_reachable = b.history.lbe_reachable;
    balance::account(b.history, b.spent, times, static_cast<double>(step - last_step_), settings_.clock,
                     settings_.migrate);
    disturb(times, settings_.noise, seed_, step);
    row.lbe_observed = balance::efficiency(times);
    if (settings_.migrate == Migrate::gain && !b.history.migration_pays()) row.decision = Decision::kept_gain;
    describe(b, row);
    return row;
}

// Nothing where no partition keeps the limit: balance() tells it when all models have seen this step.
std::optional<balance::Partition> LoadBalancer::partition_by(BalancedModel& b, const balance::CellLoads& loads,
                                                             const MeasuredCells& cells, BalanceRow& row) {
    std::vector<balance::Split> splits;
    if (settings_.partition.sticky) splits = b.splits.whole(team_);
    std::optional<balance::Partition> next;
    charge(cost::bisection, hosts_.processes(), grid_.box().cells());
    charge(cost::fields, hosts_.processes(), 0);
    if (team_.rank() == 0) charge(cost::chain, hosts_.processes(), grid_.box().cells());
    try {
        next = balance::make_partition({team_, grid_, loads.load, cells.particles, speeds_.targets()},
                                       settings_.partition, splits);
    } catch (const balance::Infeasible& e) {
        if (!dead_end_ || e.smallest > dead_end_->smallest) dead_end_ = e;
        row.decision = Decision::kept_limit;
    }
    b.splits = {team_, splits};
    return next;
}

// Whether this partition of one model takes the place of the one before.
bool LoadBalancer::adopt(BalancedModel& b, const balance::Partition& next, const balance::Owners& before,
                         std::span<const std::int64_t> loads, const MeasuredCells& cells, bool measured,
                         BalanceRow& row) {
    const balance::Owners after(grid_, home_, next);
    charge(cost::owners, hosts_.processes(), home_.cells());
    charge(cost::quality, hosts_.processes(), home_.cells());
    const balance::Moved mine = balance::moved_between(before, after, cells.particles);
    std::array<std::int64_t, 3> sums{mine.cells, mine.particles, balance::ghost_cells(after)};
    team_.sum(sums);
    const balance::Moved moved{sums[0], sums[1]};
    b.history.lbe_reachable =
        balance::predicted_efficiency(team_, after, loads, hosts_.processes(), speeds_.relative());
    if (measured && settings_.migrate == Migrate::gain &&
        settings_.clock == Clock::work)  // by the wall clock, as the last one was measured
        b.history.move_seconds =
            settings_.work.move * static_cast<double>(moved.particles) / static_cast<double>(hosts_.processes());
    row.decision = balance::decide(b.history, settings_.migrate, measured, moved);
    if (row.decision != Decision::kept_gain) {
        row.moved = moved;
        b.history.ghost_cells = static_cast<double>(sums[2]);
        b.history.lbe_model = b.history.lbe_reachable;
    }
    // Also where the same cells come in other boxes, in which the tiles would have another order, nothing changes.
    if (row.decision != Decision::moved) return false;
    b.partition = {team_, next, hosts_};
    return true;
}

// New loads and a new partition of one model; without times, those that all models start from. Returns the partition in
// use from now on, where it is another.
std::optional<balance::Partition> LoadBalancer::repartition(BalancedModel& b, const balance::Partition& partition,
                                                            const MeasuredCells& cells,
                                                            std::span<const std::int64_t> work,
                                                            std::span<const double> times, std::int64_t step,
                                                            BalanceRow& row) {
    const bool measured = !times.empty(), driver = &b == &models_.front();
    const balance::Owners before(grid_, home_, partition);
    charge(cost::owners, hosts_.processes(), home_.cells());
    double start = comm::now();
    if (measured) charge(cost::model, hosts_.processes(), home_.cells());
    if (measured && driver && finds_speeds()) speeds_.learn(team_, grid_, before, cells.counts, times);
    const std::vector<double> speed = speeds_.relative();
    if (b.state.empty())
        for (const balance::CellCounts& c : cells.counts) b.state.push_back(b.model->first_state(c));
    balance::CellLoads loads = measured ? balance::evaluate(*b.model, team_, grid_, partition, hosts_, cells.counts,
                                                            b.state, speeds_.at_mean_speed(times), work)
                                        : balance::first_loads(settings_.constants.start, cells.counts);
    row.model_seconds = comm::now() - start;
    if (driver && settings_.clock == Clock::wall && !zones_.on())
        dearest_cell_ = balance::dearest_of(team_, loads.load, speed);
    b.history.updates += measured;
    b.history.load_step = static_cast<double>(step);
    b.history.lbe_model = balance::predicted_efficiency(team_, before, loads.load, hosts_.processes(), speed);

    start = comm::now();
    std::optional<balance::Partition> next = partition_by(b, loads, cells, row);
    row.partition_seconds = comm::now() - start;
    if (next && !adopt(b, *next, before, loads.load, cells, measured, row)) next.reset();
    if (driver) load_ = std::move(loads);
    if (driver && measured && finds_speeds()) add_resources({grid_, home_, next ? *next : partition}, times, step);
    describe(b, row);
    if (row.decision == Decision::moved || row.decision == Decision::kept_same) {
        b.history.lost_seconds = 0;
        b.spent.clear();
    }
    return next;
}

// By counted work the cost of each cell is known at each balancing.
void LoadBalancer::add_worth(std::span<const double> times, std::span<const std::int64_t> work, std::int64_t step) {
    std::vector<double> speeds(times.size(), 1.0);
    slow_down(speeds, settings_.work.slow, step);  // seconds of one second's work
    for (double& s : speeds) s = 1 / s;
    charge(cost::even, hosts_.processes(), 0);
    charge(cost::owners, hosts_.processes(), home_.cells());
    const balance::Owners even(grid_, home_, balance::one_box_each(balance::even_partition(grid_, hosts_.processes())));
    balance::add(worth_, static_cast<double>(step - last_step_), times,
                 balance::shape_of(team_, even, work, hosts_.processes(), speeds), speeds);
}

void LoadBalancer::add_resources(const balance::Owners& owners, std::span<const double> times, std::int64_t step) {
    const std::vector<std::int64_t> loads = balance::sums_by_process(team_, owners, load_->load, hosts_.processes());
    const std::vector<double> speed = speeds_.relative();
    double mean = 0;
    for (const std::int64_t l : loads) mean += static_cast<double>(l) / static_cast<double>(loads.size());
    for (std::size_t p = 0; p < loads.size(); ++p)
        resources_.push_back({step, static_cast<std::int64_t>(p), speed[p],
                              mean > 0 ? static_cast<double>(loads[p]) / mean : 0.0, times[p]});
}

// What a row says of the partition in use and of the decision.
void LoadBalancer::describe(const BalancedModel& b, BalanceRow& row) const {
    row.lbe_model = b.history.lbe_model;
    row.ghost_cells = static_cast<std::int64_t>(b.history.ghost_cells);
    row.load_step = static_cast<std::int64_t>(b.history.load_step);
    if (settings_.migrate != Migrate::gain) return;
    row.lost_seconds = b.history.lost_seconds;
    row.move_seconds = b.history.move_seconds;
}

}  // namespace app
