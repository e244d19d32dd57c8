// SPDX-License-Identifier: MIT
// The library balance/ makes all decisions, by pure functions. This class measures, calls these functions, and carries
// the outcome out. Accelerators change the times and the decompositions (zone_balancer.hpp).
#include "app/balancing/load_balancer.hpp"

#include <algorithm>
#include <cmath>

#include "app/balancing/from_deck.hpp"
#include "app/common/heap.hpp"
#include "balance/delivery.hpp"
#include "balance/grid/field.hpp"
#include "balance/trial.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

balance::Policy policy_with_widths(const Deck& deck, const balance::Grid& grid, std::int64_t processes,
                                   const comm::Communicator& comm) {
    balance::Policy policy = policy_of(deck.balance, processes, comm);
    policy.end =
        policy.clock == balance::BalanceClock::work ? last_opportunity(deck.balance, deck.run.steps) : deck.run.steps;
    policy.counting.cell_width = {1, 1, 1};
    add_candidates(policy, deck.balance, grid, {deck.accelerator.backend != AcceleratorBackend::none});
    for (int a = 0; a < grid.dimensions; ++a) policy.counting.cell_width[a] = deck.system.box[a] / grid.cells[a];
    return policy;
}

}  // namespace

LoadBalancer::LoadBalancer(const Deck& deck, const balance::Grid& grid, std::int64_t processes,
                           const comm::Communicator& comm, Timers& timers, const RankAccelerators& accelerators)
    : team_(comm),
      timers_(timers),
      settings_(deck.balance),
      seed_(deck.system.seed),
      setting_{team_, grid, {processes, comm.size()}, policy_with_widths(deck, grid, processes, comm), meter_},
      state_(
          balance::make_balancing(setting_, deck.balance.constants, deck.balance.driver(),
                                  on() ? others_of(deck.balance, processes, comm) : std::vector<balance::Contender>{})),
      zones_(deck, setting_, accelerators.count, accelerators.halo),
      keeps_cells_(!deck.output.balance_formats.empty()) {
    if (settings_.speeds == balance::SpeedSource::given)
        state_.speeds.set(agreed(comm, [&] { return given_speeds(deck.machine, setting_.policy.partition); }));
    if (on() && settings_.clock == balance::BalanceClock::wall) wall_.emplace(comm);
}

bool LoadBalancer::due(std::int64_t step, bool displaced) const {
    if (!on()) return false;
    if (!last_step_) return true;
    if (settings_.clock == balance::BalanceClock::work) return step > *last_step_ && is_opportunity(settings_, step);
    if (!balance::is_active(settings_.active, step)) return false;
    const std::int64_t waited = step - *last_step_ - settings_.every;
    return waited >= 0 && (displaced || state_.models.front().criterion->always() || waited >= settings_.every);
}

bool LoadBalancer::collect_times(std::int64_t step, Engine& engine) {
    if (!last_step_ || settings_.clock == balance::BalanceClock::work) return true;
    const Timed phase(timers_, Phase::balancing);
    ProcessNanoseconds taken =
        zones_.on() ? zones_.take_nanoseconds(engine, *wall_)
                    : take_nanoseconds(engine, *wall_, hosts(), team_.rank(), state_.speeds, settings_.constants.costs);
    balance::MeasuredTimes times;
    std::int64_t sum = 0;
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, step - std::exchange(timed_from_, step)));
    for (const std::int64_t nanoseconds : taken.measured) {
        sum += nanoseconds;
        times.seconds.push_back(static_cast<double>(nanoseconds) * 1e-9 / steps);
    }
    sum = team_.sum_of(sum);
    // Seconds of a process over all these steps.
    const double mean = static_cast<double>(sum) * 1e-9 / static_cast<double>(hosts().processes());
    if (!zones_.on()) {  // with accelerators, times of the even partition are not known
        const balance::IndexRange mine = hosts().processes_of(team_.rank());
        times.even.emplace(mine.size(), 0);
        for (const NanosecondsOf& part : balance::deliver_each(
                 team_, std::move(taken.even), [&](const NanosecondsOf& p) { return hosts().member_of(p.process); }))
            (*times.even)[part.process - mine.begin] += part.nanoseconds;
    }
    const std::vector<double> noise = noise_of(settings_.noise, seed_, step, hosts().processes_of(team_.rank()));
    // Only the run's own partition is observed, because times of compared models' partitions cannot be measured.
    observed_ = balance::observe(setting_, {step, *last_step_, noise},
                                 wall_->trusts(mean) ? std::optional(std::move(times)) : std::nullopt, state_);
    elapsed_ += static_cast<double>(sum) * 1e-9 / team_.size() / wall_->mean_threads();
    if (observed_->row.decision == balance::Decision::none) {
        measure_reference(engine);
        return true;
    }
    rows_ = {observed_->row};
    last_step_ = step;
    return false;
}

void LoadBalancer::measure_reference(Engine& engine) {
    if (!finds_speeds()) return;
    if (!reference_) reference_.emplace(engine.setup(), team_.comm());
    reference_seconds_ = reference_->measure(std::exchange(elapsed_, 0.0));
    if (reference_seconds_) *reference_seconds_ *= wall_->of_thread() / engine.take_share();
}

// Seconds that the reference work takes on each process of this rank. Either all ranks have them or none.
std::optional<std::vector<double>> LoadBalancer::reference_times(std::int64_t step) const {
    if (!finds_speeds() || !last_step_) return std::nullopt;
    const balance::IndexRange hosted = hosts().processes_of(team_.rank());
    std::vector<double> seconds;
    if (settings_.clock == balance::BalanceClock::work)
        seconds = counted_reference(settings_.work.slow, settings_.noise, seed_, step, hosted);
    else if (reference_seconds_) seconds.assign(hosted.size(), *reference_seconds_);
    else return std::nullopt;
    if (hosts().processes() == team_.size())  // with several processes a rank, times are of CPUs alone
        for (double& s : seconds) s /= zones_.speed_up();
    return seconds;
}

void LoadBalancer::balance(std::int64_t step, Engine& engine) {
    const double begin = comm::now();
    const bool first = !last_step_, wall = settings_.clock == balance::BalanceClock::wall;
    if (!wall && !first) engine.build_neighbour_lists();  // the pairs that are counted
    balance::Decomposition owners = timed_around_home(engine);
    const balance::ProcessBoxes before = partition();
    balance::RoundOutcome outcome = make_round(step, engine, owners);
    last_step_ = timed_from_ = step;
    if (keeps_cells_ && !first)
        cells_ = balanced_cells(step, balance::whole(team_, before), outcome, state_.load, state_.speeds.relative(),
                                grid(), team_);
    rows_ = std::move(outcome.rows);
    resources_.insert(resources_.end(), outcome.resources.begin(), outcome.resources.end());
    if (first && !outcome.dead_end && !outcome.next)  // accelerators get their part
        outcome.next = balance::LocalPartition{before, owners.known()};
    if (!zones_.on()) outcome.cells = {};  // room for a migration
    if (outcome.next && !(first && outcome.dead_end)) {
        const double start = comm::now();
        migrate(step, engine, std::move(owners), std::move(*outcome.next), before, outcome.cells);
        if (!first) rows_.front().migrate_seconds = comm::now() - start;
        if (!first && wall) {  // the expected cost of the next migration
            const std::int64_t nanoseconds = team_.max_of(std::llround((comm::now() - begin) * 1e9));
            state_.models.front().history.move_seconds = static_cast<double>(nanoseconds) * 1e-9;
        }
    }
    if (outcome.dead_end) throw *outcome.dead_end;
}

// Time from now to the state that the next measurement describes. By counted work, that is the state at the next
// balancing. By the wall clock, it is the mean of all steps until then.
double LoadBalancer::time_ahead(double dt, balance::BalanceClock clock) const {
    return static_cast<double>(settings_.every) * dt * (clock == balance::BalanceClock::work ? 1 : 0.5);
}

// The counts are for a load series. A replay of the series goes by counted work, even if this run uses the wall clock.
void LoadBalancer::look_ahead(Engine& engine) {
    if (!looks_ahead()) return;
    const balance::TileCells then{
        engine.cell_particles_after(time_ahead(engine.setup().dt, balance::BalanceClock::work)), {}};
    ahead_ = balance::collect_at_homes(team_, around_home(engine.tiles().shape()), then, nullptr, meter_).counts;
}

// Seconds a step that a mean process takes for ghosts, since the last call. The rank that spends the least time with
// ghosts waits the least for others. Collective.
double LoadBalancer::ghost_seconds(std::int64_t step) {
    const double spent = timers_.seconds(Phase::ghosts), since = std::exchange(ghosts_until_, spent);
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, step - std::exchange(ghosts_step_, step)));
    const std::int64_t least = -team_.max_of(-std::llround((spent - since) * 1e9));
    return static_cast<double>(least) * 1e-9 / steps * wall_->mean_threads() * team_.size() /
           static_cast<double>(hosts().processes());
}

// The library's part of a balancing.
balance::RoundOutcome LoadBalancer::make_round(std::int64_t step, Engine& engine,
                                               const balance::Decomposition& owners) {
    const Timed phase(timers_, Phase::balancing);
    const FieldsOnHeap fields;
    balance::Measured measured;
    const std::vector<double> noise = noise_of(settings_.noise, seed_, step, hosts().processes_of(team_.rank()));
    measured.moment = {step, last_step(), noise};
    measured.first = !last_step_;
    measured.observed = std::exchange(observed_, std::nullopt);
    measured.reference = reference_times(step);
    measured.accelerator_speeds = zones_.speeds();
    if (wall_ && !state_.candidates.empty()) measured.ghost_seconds = ghost_seconds(step);
    const bool pairs = settings_.clock == balance::BalanceClock::work && !measured.first;
    try {
        balance::TileCells cells = read_tiles(engine, pairs);
        if (!measured.first && wants_ahead(state_))
            cells.ahead = engine.cell_particles_after(time_ahead(engine.setup().dt, settings_.clock));
        return balance::rebalance(setting_, owners, std::move(cells), std::move(measured), state_);
    } catch (const balance::TooMuchWork& e) {
        throw_too_much_work(e, team_.comm());
    }
}

void LoadBalancer::choose(const balance::Choice& choice) {
    balance::become(setting_, choice.model, choice.partition, state_);
    state_.choice.round = choice.round, state_.choice.next = choice.next;
}

balance::Decomposition LoadBalancer::cut(balance::ProcessBoxes known, balance::TileShape tile) const {
    charge(cost::tiles, known.size(), home_cells());
    return {grid(), std::move(known), hosts(), tile, zones_.zones()};
}

balance::Decomposition LoadBalancer::decomposition(balance::TileShape tile) const { return cut(all_of(whole()), tile); }

balance::Decomposition LoadBalancer::around_home(balance::TileShape tile) const {
    if (zones_.on()) return decomposition(tile);
    return cut(balance::around_home(team_, grid(), partition()), tile);
}

balance::Decomposition LoadBalancer::timed_around_home(const Engine& engine) const {
    const Timed phase(timers_, Phase::balancing);
    return around_home(engine.tiles().shape());
}

// before: boxes of this rank's processes in the old partition.
void LoadBalancer::migrate(std::int64_t step, Engine& engine, balance::Decomposition old, balance::LocalPartition next,
                           const balance::ProcessBoxes& before, const balance::HomeCells& cells) {
    const balance::TileShape tile = old.tile();
    if (zones_.on()) {
        const balance::Partition all = balance::whole(team_, next.hosted);
        zones_.place(step, next.hosted.boxes, zones_.loads_at_homes(next.hosted.boxes, cells));
        return engine.repartition(std::move(old), cut(all_of(all), tile));
    }
    const Setup& setup = engine.setup();
    balance::MigrationKnowledge known =
        balance::around_migration(team_, grid(), {before, old.known()}, next, std::max(setup.halo, setup.reach));
    engine.repartition(cut(std::move(known.before), tile), cut(std::move(known.after), tile));
}

void LoadBalancer::move_border(std::int64_t step, Engine& engine) {
    const bool counted = settings_.clock == balance::BalanceClock::work && zones_.placed();
    if (counted) engine.build_neighbour_lists();  // the pairs that are counted
    const balance::Decomposition owners = timed_around_home(engine);
    const balance::Region& mine = partition().boxes;
    bool changed = false;
    {
        const Timed phase(timers_, Phase::balancing);
        const FieldsOnHeap fields;
        zones_.take_seconds(engine);
        if (counted) {
            const balance::HomeCells cells = count_cells(team_, engine, owners, setting_.policy.counting.at(step));
            changed = zones_.check(step, owners, mine, zones_.loads_at_homes(mine, cells), cells.work);
        } else {
            changed = zones_.check(step, owners, mine, zones_.loads_in_tiles(engine.tiles()));
        }
    }
    if (!changed) return;
    const balance::Decomposition next = cut(owners.known(), owners.tile());
    engine.repartition(owners, next);
}

// Contents of files, and of the table at the end of a run.

std::vector<balance::ContenderCost> LoadBalancer::costs() const {
    std::vector<balance::ContenderCost> costs;
    for (const BalancedModel& b : state_.models)
        if (!b.cost.each.empty()) costs.push_back(b.cost);
    return costs;
}

std::optional<balance::WorthSums> LoadBalancer::worth() const {
    if (!(state_.worth.measured > 0) || zones_.on()) return std::nullopt;
    balance::WorthSums elapsed = state_.worth;
    if (wall_)  // sums over threads become elapsed times of a mean rank
        for (double* seconds : {&elapsed.measured, &elapsed.perfect, &elapsed.possible, &elapsed.even})
            *seconds /= wall_->mean_threads();
    return elapsed;
}

std::vector<comm::FieldBlock<double>> LoadBalancer::load(const Engine& engine) const {
    const std::vector<balance::CellCounts> counts =
        balance::collect_at_homes(team_, around_home(engine.tiles().shape()), {engine.tiles().cell_particles(), {}},
                                  nullptr, meter_)
            .counts;
    const balance::Box home = setting_.home();
    comm::FieldBlock<double> field{home, {}};
    for (int z = home.lower[2]; z < home.upper[2]; ++z)
        for (int y = home.lower[1]; y < home.upper[1]; ++y)
            for (int x = home.lower[0]; x < home.upper[0]; ++x) {
                const std::int64_t i = balance::place_in(home, x, y, z);
                field.values.push_back(counts[i].n > 0 ? static_cast<double>(state_.load->load[i]) * state_.load->unit
                                                       : 0.0);
            }
    return !home.empty() ? std::vector{std::move(field)} : std::vector<comm::FieldBlock<double>>{};
}

std::int64_t LoadBalancer::bytes() const {
    std::size_t n = state_.load ? state_.load->load.capacity() * sizeof(std::int64_t) : 0;
    for (const auto* list : {&state_.models, &state_.candidates})
        for (const BalancedModel& b : *list)
            n += (b.state.capacity() + b.watch.spent.capacity() + b.cost.each.capacity()) * sizeof(double) +
                 b.seen.capacity();
    return static_cast<std::int64_t>(n) + state_.speeds.bytes() + ownership_bytes();
}

std::int64_t LoadBalancer::ownership_bytes() const {
    std::int64_t n = 0;
    for (const auto* list : {&state_.models, &state_.candidates})
        for (const BalancedModel& b : *list) n += b.partition.bytes() + b.splits.bytes();
    return n;
}

}  // namespace app
