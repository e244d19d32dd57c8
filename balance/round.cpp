// SPDX-License-Identifier: MIT
// A round runs model by model. Each model's partition is painted once (Owners): its times, what the speeds learn, the
// efficiency and what moves are all read off that picture. Sums over members are of integers, so nothing depends on
// their number.
#include "balance/round.hpp"

#include <algorithm>
#include <utility>

#include "balance/model/cell_counts.hpp"
#include "balance/sides.hpp"

namespace balance {
namespace {

std::int64_t home_cells(const Setting& s) { return s.home().cells(); }

Owners owners_of(const Setting& s, const ProcessBoxes& known) {
    s.meter.part(RoundPart::owners, known.size(), home_cells(s));
    return {s.grid, s.home(), known};
}

// How fast the deck lets each process run, by counted work; empty where all are alike.
std::vector<double> true_speeds(const Setting& s, std::int64_t step) {
    const auto speed = [&](std::int64_t p) { return speed_of(s.policy.counting.work.slow, p, step); };
    std::int64_t p = 0;
    while (p < s.hosts.processes() && speed(p) == 1) ++p;
    if (p == s.hosts.processes()) return {};
    std::vector<double> speeds;
    for (p = 0; p < s.hosts.processes(); ++p) speeds.push_back(speed(p));
    return speeds;
}

// What a row says of the partition in use and of the decision.
void describe(const BalancedModel& b, Row& row) {
    row.lbe_model = b.history.lbe_model;
    row.ghost_cells = static_cast<std::int64_t>(b.history.ghost_cells);
    row.load_step = static_cast<std::int64_t>(b.history.load_step);
    row.criterion = b.contender.criterion.name;
    if (b.criterion->always()) return;
    row.lost_seconds = b.history.lost_seconds;
    row.move_seconds = b.history.move_seconds;
}

// What the processes of one model took, and whether a migration could pay.
Observation observed_by(const Policy& policy, const Moment& moment, BalancedModel& b, std::vector<double> times) {
    Row row;
    row.step = moment.step;
    row.model = b.label;
    for (const double t : times) row.mean_seconds += t / static_cast<double>(times.size());
    row.max_seconds = *std::max_element(times.begin(), times.end());
    row.lbe = efficiency(times);
    row.lbe_reachable = b.history.lbe_reachable;
    account(b.history, b.watch, times, static_cast<double>(moment.step - moment.last), policy.clock, *b.criterion);
    std::vector<double> seconds = times;
    for (std::size_t p = 0; p < moment.noise.size(); ++p) times[p] *= moment.noise[p];
    row.lbe_observed = efficiency(times);
    row.decision = decide(b.history, *b.criterion);
    describe(b, row);
    return {std::move(row), std::move(times), std::move(seconds)};
}

// The part of a round that belongs to one model.
class ModelRound {
public:
    ModelRound(const Setting& setting, const Measured& measured, const ProcessBoxes& known, const HomeCells& cells,
               Balancing& all, std::size_t model)
        : s_(setting),
          measured_(measured),
          known_(known),
          cells_(cells),
          all_(all),
          b_(all.models[model]),
          driver_(model == 0),
          before_(owners_of(setting, known)) {}

    // Seconds a step of the processes by counted work.
    std::vector<double> times() {
        const std::vector<double> speeds = true_speeds(s_, measured_.moment.step);
        std::vector<double> times = driver_ ? measured_.driver_times : std::vector<double>();
        if (times.empty()) {
            const std::size_t processes = s_.hosts.processes();
            const bool worth = driver_ && measured_.accelerator_speeds.empty();
            std::vector<std::int64_t> sums(worth ? 2 * processes : processes, 0);  // in use, and of the even partition
            const auto ticks = std::span(sums).first(processes), even = std::span(sums).subspan(processes);
            add_home_sums(before_, cells_.work, ticks);
            if (worth) add_even_sums(even);
            s_.team.sum(sums);
            times.reserve(processes);
            for (std::size_t p = 0; p < processes; ++p)
                times.push_back(to_seconds(ticks[p]) / (speeds.empty() ? 1 : speeds[p]));
            if (worth) add_worth(times, even, speeds);
            return times;
        }
        for (std::size_t p = 0; p < speeds.size(); ++p) times[p] /= speeds[p];
        return times;
    }

    // New loads and a new partition; without times, the loads that all models start from.
    void repartition(const std::vector<double>& times, Row& row, Outcome& outcome) {
        if (driver_) all_.load.reset();  // room for the new ones
        CellLoads loads = model_loads(times, row);
        b_.history.load_step = static_cast<double>(measured_.moment.step);
        const double begin = s_.meter.now();
        std::optional<LocalPartition> next = partition_by(loads, row, outcome);
        row.partition_seconds = s_.meter.now() - begin;
        const std::vector<double> speeds = all_.speeds.relative_unless_equal();
        std::vector<std::int64_t> sums;  // loads of the processes
        if (next) sums = weigh(*next, loads, speeds, !times.empty(), row);
        else {
            sums = sums_by_process(s_.team, before_, loads.load, s_.hosts.processes());
            b_.history.lbe_model = efficiency(sums, speeds);
        }
        const bool moves = next && row.decision == Decision::moved;
        if (moves) b_.partition = next->hosted;
        if (driver_ && s_.team.rank() == 0 && !times.empty() && s_.policy.finds_speeds())
            add_resources(sums, times, speeds, outcome);
        describe(b_, row);
        if (moves || row.decision == Decision::kept_same) {
            b_.history.lost_seconds = 0;
            b_.watch = {};
        }
        if (!driver_) return;
        all_.load = std::move(loads);
        if (moves) outcome.next = std::move(next);
    }

private:
    CellLoads model_loads(const std::vector<double>& times, Row& row) {
        const bool measured = !times.empty();
        const double begin = s_.meter.now();
        if (b_.state.empty())
            for (const CellCounts& c : cells_.counts) b_.state.push_back(b_.model->first_state(c));
        CellLoads loads = measured ? learnt_loads(times) : first_loads(s_.policy.start, cells_.counts);
        row.model_seconds = s_.meter.now() - begin;
        if (driver_ && s_.policy.clock == Clock::wall && measured_.accelerator_speeds.empty())
            all_.dearest_cell =
                dearest_of(s_.team, loads.load, s_.hosts.processes(), all_.speeds.relative_unless_equal());
        b_.history.updates += measured;
        return loads;
    }

    CellLoads learnt_loads(const std::vector<double>& times) {
        const auto pieces_at_home = [&] {
            s_.meter.part(RoundPart::fields, known_.size(), 0);
            return ProcessCells::at_home(s_.team, s_.grid, known_, s_.hosts);
        };
        std::optional<ProcessCells> at_home;
        if (driver_ && s_.policy.finds_speeds())
            all_.speeds.learn(s_.team, s_.grid, at_home.emplace(pieces_at_home()), cells_.counts, times, s_.meter);
        const auto loads_of = [&](const ProcessCells& cells) {
            s_.meter.part(RoundPart::model, s_.hosts.processes(), cells.cells());
            return evaluate(*b_.model, s_.team, s_.grid, cells, cells_.counts, b_.state,
                            all_.speeds.at_mean_speed(times), cells_.work, cells_.ahead);
        };
        if (b_.model->additive()) return loads_of(at_home ? *at_home : pieces_at_home());
        const ProcessCells whole = ProcessCells::whole_processes(s_.team, s_.grid, known_, s_.hosts);
        // States to the processes, and home again with the loads; and three numbers of each cell to them.
        const int fields = b_.model->needs_particles() ? 6 : 3;
        s_.meter.part(RoundPart::fields, known_.size(), fields * whole.packed_values());
        return loads_of(whole);
    }

    // Nothing where no partition keeps the limit.
    std::optional<LocalPartition> partition_by(const CellLoads& loads, Row& row, Outcome& outcome) {
        const std::int64_t processes = s_.hosts.processes(), cells = s_.grid.box().cells();
        const CutTogether together = cut_together_of(static_cast<double>(cells), s_.grid.dimensions, s_.team.size());
        s_.meter.part(RoundPart::lines, 0, together.lines);
        s_.meter.part(RoundPart::bisection, (processes + s_.team.size() - 1) / s_.team.size(), home_cells(s_));
        s_.meter.part(RoundPart::fields, known_.size(),
                      worth_packing(cells, s_.team.size()) ? 2 * together.moves * home_cells(s_) : 0);
        const std::vector<std::int64_t> sizes =
            b_.contender.partition.max_size > 0 ? particles() : std::vector<std::int64_t>();
        std::optional<LocalPartition> next;
        try {
            ProcessBoxes hosted =
                make_partition({s_.team, s_.grid, s_.hosts, loads.load, sizes, all_.speeds.targets(), s_.meter},
                               b_.contender.partition, b_.splits);
            next = LocalPartition{std::move(hosted), {}};
        } catch (const Infeasible& e) {
            if (!outcome.dead_end || e.smallest > outcome.dead_end->smallest) outcome.dead_end = e;
            row.decision = Decision::kept_limit;
        }
        return next;
    }

    std::vector<std::int64_t> particles() const {  // of the cells at home
        std::vector<std::int64_t> numbers;
        numbers.reserve(cells_.counts.size());
        for (const CellCounts& c : cells_.counts) numbers.push_back(c.n);
        return numbers;
    }

    // Decides whether the next partition takes the place of the one before. Also where the same cells come in other
    // boxes, in which the tiles would have another order, nothing changes. Returns the loads that the processes have
    // from now on.
    std::vector<std::int64_t> weigh(LocalPartition& next, const CellLoads& loads, std::span<const double> speeds,
                                    bool measured, Row& row) {
        next.around_home = around_home(s_.team, s_.grid, next.hosted);
        const Owners after = owners_of(s_, next.around_home);
        s_.meter.part(RoundPart::quality, s_.hosts.processes(), home_cells(s_));
        const Moved mine = moved_between(before_, after, particles());
        // One list, so that one reduction needs no copy of the others.
        const std::size_t processes = s_.hosts.processes();
        std::vector<std::int64_t> sums(2 * processes + 3, 0);
        const auto now = std::span(sums).first(processes), then = std::span(sums).subspan(processes, processes),
                   changes = std::span(sums).last(3);
        add_home_sums(before_, loads.load, now);
        add_home_sums(after, loads.load, then);
        std::ranges::copy(std::array{mine.cells, mine.particles, ghost_cells(after)}, changes.begin());
        s_.team.sum(sums);
        const Moved moved{changes[0], changes[1]};
        b_.history.lbe_model = efficiency(now, speeds);
        b_.history.lbe_reachable = efficiency(then, speeds);
        // By the wall clock a migration costs what the last one took. Of the first partition a criterion that weighs
        // each one doesn't count what it moves, so that it has one weighed as soon as the rest of the cost is lost.
        if (s_.policy.clock == Clock::work) {
            const WorkCosts& costs = s_.policy.counting.work;
            b_.history.move_seconds = costs.balancing;
            if (measured || !b_.criterion->weighs_partitions())
                b_.history.move_seconds +=
                    costs.move * static_cast<double>(moved.particles) / static_cast<double>(processes);
        }
        const double sunk = s_.policy.clock == Clock::work ? s_.policy.counting.work.balancing : 0;
        row.decision = decide(b_.history, *b_.criterion, measured, moved, sunk);
        if (row.decision != Decision::kept_gain) {
            row.moved = moved;
            b_.history.ghost_cells = static_cast<double>(changes[2]);
            b_.history.lbe_model = b_.history.lbe_reachable;
        }
        if (row.decision == Decision::moved) std::ranges::copy(then, now.begin());
        sums.resize(processes);
        return sums;
    }

    // Adds the work in this member's home that each process would have with the even partition.
    void add_even_sums(std::span<std::int64_t> sums) const {
        const std::int64_t processes = s_.hosts.processes();
        ProcessBoxes here;
        for_each_even_part_in(s_.home(), s_.grid.box(), processes,
                              [&](std::int64_t p) { here.add(p, std::array{even_part(s_.grid.box(), processes, p)}); });
        add_home_sums(owners_of(s_, here), cells_.work, sums);
    }

    // By counted work the cost of each cell is known at each balancing.
    void add_worth(std::span<const double> times, std::span<const std::int64_t> even, std::span<const double> speeds) {
        std::int64_t dearest = 0;
        for (const std::int64_t w : cells_.work) dearest = std::max(dearest, w);
        s_.team.max(std::span(&dearest, 1));
        balance::add(all_.worth, static_cast<double>(measured_.moment.step - measured_.moment.last), times,
                     shape_of(even, dearest, speeds), speeds);
    }

    void add_resources(std::span<const std::int64_t> sums, std::span<const double> times, std::span<const double> speed,
                       Outcome& outcome) {
        double mean = 0;
        for (const std::int64_t l : sums) mean += static_cast<double>(l) / static_cast<double>(sums.size());
        for (std::size_t p = 0; p < sums.size(); ++p)
            outcome.resources.push_back({measured_.moment.step, static_cast<std::int64_t>(p),
                                         speed.empty() ? 1 : speed[p],
                                         mean > 0 ? static_cast<double>(sums[p]) / mean : 0.0, times[p]});
    }

    const Setting& s_;
    const Measured& measured_;
    const ProcessBoxes& known_;
    const HomeCells& cells_;
    Balancing& all_;
    BalancedModel& b_;
    bool driver_;
    Owners before_;  // of the partition in use
};

}  // namespace

Balancing make_balancing(const Setting& s, const ModelConstants& constants, const std::string& driver,
                         std::span<const Contender> others) {
    Balancing all{{}, Speeds(s.hosts.processes(), constants), {}, {}, 0};
    const ProcessBoxes even = even_processes(s.grid, s.hosts.processes(), s.hosts.processes_of(s.team.rank()));
    const auto add = [&](const Contender& c, const std::string& label) {
        BalancedModel b{c, label, make_model(c.model, constants), even};
        b.criterion = make_criterion(c.criterion);
        all.models.push_back(std::move(b));
    };
    prepare_partitions(s.team, s.grid, s.policy.partition);
    add({driver, driver, s.policy.criterion, s.policy.partition},
        kind_of(s.policy.partition).follows_loads ? driver : "none");
    for (const Contender& c : others) add(c, c.name);
    return all;
}

Observation observe(const Policy& policy, const Moment& moment, const std::optional<MeasuredTimes>& measured,
                    Balancing& balancing) {
    BalancedModel& driver = balancing.models.front();
    Observation seen;
    if (measured) {
        const std::vector<double> speeds = balancing.speeds.relative_unless_equal();
        if (!measured->even.empty()) {
            LoadShape shape = shape_of(measured->even, 0, speeds);
            shape.dearest = balancing.dearest_cell;
            add(balancing.worth, static_cast<double>(moment.step - moment.last), measured->seconds, shape, speeds);
        }
        seen = observed_by(policy, moment, driver, measured->seconds);
    } else {
        seen.row.step = moment.step;
        seen.row.model = driver.label;
        seen.row.decision = Decision::kept_clock;
        describe(driver, seen.row);
    }
    seen.row.driver = true;
    return seen;
}

HomeCells bring_home(const Team& team, const Decomposition& owners, const TileCells& tiles, const Counting* counting,
                     const Meter& meter) {
    const Homes homes{owners.grid(), team.size()};
    const Box home = homes.of(team.rank());
    const FieldPlan plan(team, homes, owners.ranks_around(home),
                         [&](int member) { return owners.tiles_of_rank(member); });
    const auto to_home = [&]<class T>(const std::vector<T>& in_tiles) {  // values of cells
        std::vector<T> at_home(home.cells());
        meter.part(RoundPart::fields, owners.known().size(),
                   plan.to_home(std::span<const T>(in_tiles), std::span(at_home)));
        return at_home;
    };
    const auto around = [&](const std::vector<std::int32_t>& in_tiles) {
        const std::vector<std::int32_t> particles = to_home(in_tiles);
        meter.part(RoundPart::around, 0, home.cells());
        return counts_around(team, owners.grid(), particles);
    };
    HomeCells cells{around(tiles.particles), {}};
    if (tiles.ahead) cells.ahead = around(*tiles.ahead);
    if (!counting) return cells;
    const std::vector<std::int64_t> neighbours = to_home(tiles.neighbours);
    const CountedCells counted{home, counting->cell_width, cells.counts, neighbours};
    cells.work = counted_work(counting->work, counted);
    meter.part(RoundPart::counted, 0, home.cells());
    if (const auto excess = excessive(team, counting->work, counted, cells.work)) throw TooMuchWork(*excess);
    return cells;
}

bool wants_ahead(const Balancing& balancing) {
    return std::any_of(balancing.models.begin(), balancing.models.end(),
                       [](const BalancedModel& b) { return b.model->wants_ahead(); });
}

namespace {

// in_use: around_home() of the driver's partition.
Outcome rebalance_all(const Setting& s, const ProcessBoxes& in_use, HomeCells cells, const Measured& measured,
                      Balancing& all) {
    Outcome outcome;
    const std::size_t models = measured.observed ? 1 : all.models.size();
    for (std::size_t m = 0; m < models; ++m) {
        std::optional<ProcessBoxes> other;
        if (m > 0) other = around_home(s.team, s.grid, all.models[m].partition);
        ModelRound round(s, measured, other ? *other : in_use, cells, all, m);
        Observation seen;
        if (measured.observed) seen = *measured.observed;
        else if (!measured.first) seen = observed_by(s.policy, measured.moment, all.models[m], round.times());
        seen.row.driver = m == 0;
        if (seen.row.decision == Decision::none) round.repartition(seen.times, seen.row, outcome);
        if (!measured.first) outcome.rows.push_back(std::move(seen.row));
        if (m == 0) outcome.seconds = std::move(seen.seconds);
    }
    outcome.cells = std::move(cells);
    return outcome;
}

}  // namespace

Outcome rebalance(const Setting& s, HomeCells cells, const Measured& measured, Balancing& all) {
    return rebalance_all(s, around_home(s.team, s.grid, all.models.front().partition), std::move(cells), measured, all);
}

Outcome rebalance(const Setting& s, const Decomposition& in_use, TileCells tiles, Measured measured, Balancing& all) {
    const bool counted = s.policy.clock == Clock::work && !measured.first;
    const Counting now = s.policy.counting.at(measured.moment.step);
    HomeCells cells = bring_home(s.team, in_use, std::exchange(tiles, TileCells()), counted ? &now : nullptr, s.meter);
    if (counted && !measured.accelerator_speeds.empty() && s.hosts.processes() == s.team.size()) {
        const std::vector<double> sides = side_times(s.team, in_use, cells.work, measured.accelerator_speeds);
        for (std::size_t p = 0; p < sides.size(); p += 2)
            measured.driver_times.push_back(std::max(sides[p], sides[p + 1]));
    }
    return rebalance_all(s, in_use.known(), std::move(cells), measured, all);
}

}  // namespace balance
