// SPDX-License-Identifier: MIT
// A round runs model by model. Each cell has a home member. The home adds up the load of each process within its own
// cells and sends the sums to the member that hosts the process. Results that depend on all processes come from
// over_all(), so no member needs an array with one entry for each process. Sums don't depend on the number of members,
// and so no result does.
#include "balance/round.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "balance/sides.hpp"
#include "balance/trial.hpp"

namespace balance {
namespace {

std::int64_t home_cells(const Setting& s) { return s.home().cells(); }

Owners owners_of(const Setting& s, const ProcessBoxes& known) {
    s.meter.part(RoundPart::owners, known.size(), home_cells(s));
    return {s.grid, s.home(), known};
}

IndexRange hosted_by(const Setting& s) { return s.hosts.processes_of(s.team.rank()); }

// Numbers that this member adds up in an over_all() with `lists` lists.
std::int64_t added_up(const Setting& s, std::int64_t lists) {
    const bool of_all = s.team.rank() == 0 && s.hosts.processes() <= most_known_to_one;
    return lists * (of_all ? s.hosts.processes() : hosted_by(s).size());
}

// The part of a row on the partition in use and on the decision.
void describe(const BalancedModel& b, BalanceRow& row) {
    row.lbe_model = b.history.lbe_model;
    row.ghost_cells = static_cast<std::int64_t>(b.history.ghost_cells);
    row.load_step = static_cast<std::int64_t>(b.history.load_step);
    row.criterion = b.contender.criterion.name;
    if (b.criterion->always()) return;
    row.lost_seconds = b.history.lost_seconds;
    row.move_seconds = b.history.move_seconds;
}

// Looks at the processes' times of one model: could a migration pay? hosted: seconds of the processes that this member
// hosts. add_worth(all): gets the results over all processes. also: numbers to be added up over all members.
template <class AddWorth>
Observation observed_by(const Setting& s, const RoundMoment& moment, BalancedModel& b,
                        std::span<const ProcessTimes> hosted, AddWorth add_worth, std::span<std::int64_t> also = {}) {
    Observation seen;
    for (const ProcessTimes& p : hosted) seen.seconds.push_back(p.seconds);
    seen.times = seen.seconds;
    for (std::size_t p = 0; p < moment.noise.size(); ++p) seen.times[p] *= moment.noise[p];
    const auto steps = static_cast<double>(moment.step - moment.last);
    spend(seen.seconds, steps, b.watch);
    std::vector<std::vector<double>> lists{seen.times, b.watch.spent};
    for (std::vector<double>& list : WorthTotals::lists_of(hosted)) lists.push_back(std::move(list));
    s.meter.part(RoundPart::quality, added_up(s, std::ssize(lists)), 0);
    const std::vector<OverAll> over = over_all(s.team, s.hosts.processes(), lists, also);
    const OverAll &times = over[0], &spent = over[1];
    const WorthTotals all = WorthTotals::from(std::span(over).subspan(2));
    add_worth(all);
    const auto processes = static_cast<double>(s.hosts.processes());

    BalanceRow& row = seen.row;
    row.step = moment.step;
    row.model = b.label;
    row.mean_seconds = all.seconds.mean;
    row.max_seconds = all.seconds.largest;
    row.lbe = efficiency(all.seconds.sum, processes, all.seconds.largest);
    row.lbe_reachable = b.history.lbe_reachable;
    std::optional<double> left;
    if (s.policy.end) left = static_cast<double>(*s.policy.end - moment.step);
    account(b.history, b.watch, all.seconds, spent, steps, s.policy.clock, *b.criterion, left);
    row.lbe_observed = efficiency(times.sum, processes, times.largest);
    row.decision = decide(b.history, *b.criterion);
    describe(b, row);
    return seen;
}

// The part of a round that belongs to one model.
class ModelRound {
public:
    // known: around_home() of a partition.
    ModelRound(const Setting& setting, const Measured& measured, const ProcessBoxes& known, const HomeCells& cells,
               Balancing& all, BalancedModel& model)
        : s_(setting),
          measured_(measured),
          known_(known),
          cells_(cells),
          all_(all),
          b_(model),
          driver_(&model == &all.models.front()),
          pieces_(pieces_of(known)) {}

    // By counted work.
    Observation observe() {
        const std::int64_t step = measured_.moment.step, first = hosted_by(s_).begin;
        const bool counted = !driver_ || !measured_.driver_times;
        std::vector<ProcessTimes> took;
        if (counted)
            for (const std::int64_t ticks : at_hosts(pieces_, cells_.work)) took.push_back({to_seconds(ticks)});
        else
            for (const double seconds : *measured_.driver_times) took.push_back({seconds});
        for (std::size_t i = 0; i < took.size(); ++i) {
            took[i].speed = speed_of(s_.policy.counting.work.slow, first + static_cast<std::int64_t>(i), step);
            took[i].seconds /= took[i].speed;
        }
        if (b_.seen.empty()) b_.seen = processes_that_see(owners_of(s_, known_));
        std::array bytes{ghosts_of(b_.seen)[1]};
        const auto observed = [&](auto add_worth) {
            Observation seen = observed_by(s_, measured_.moment, b_, took, add_worth, bytes);
            seen.row.ghost_bytes = whole_bytes(bytes[0]);
            return seen;
        };
        if (!driver_ || !counted || !measured_.accelerator_speeds.empty()) return observed([](const WorthTotals&) {});

        // The cost of each cell is known at each balancing, so also what the even partition would have taken.
        const std::vector<std::int64_t> even = at_hosts(even_pieces(), cells_.work);
        for (std::size_t i = 0; i < took.size(); ++i) took[i].even = static_cast<double>(even[i]);
        std::int64_t dearest = 0;
        for (const std::int64_t w : cells_.work) dearest = std::max(dearest, w);
        dearest = s_.team.max_of(dearest);
        return observed([&](const WorthTotals& all) {
            balance::add(all_.worth, static_cast<double>(step - measured_.moment.last), all,
                         peaks_of(all, static_cast<double>(dearest)));
        });
    }

    // New loads; times: of the hosted processes; of the first round there are none, and all models start from the same
    // loads.
    CellLoads model_loads(const std::vector<double>& times, BalanceRow& row) {
        if (driver_) all_.load.reset();  // room for the new ones
        const bool measured = !measured_.first;
        const double begin = s_.meter.now();
        if (b_.state.empty())
            for (const CellCounts& c : cells_.counts) b_.state.push_back(b_.model->first_state(c));
        CellLoads loads = measured ? learnt_loads(times) : first_loads(s_.policy.start, cells_.counts);
        row.model_seconds = s_.meter.now() - begin;
        if (driver_ && s_.policy.clock == BalanceClock::wall && measured_.accelerator_speeds.empty())
            all_.heaviest_cell =
                heaviest_cell_share(s_.team, loads.load, all_.speeds.capacity(), all_.speeds.fastest());
        b_.history.updates += measured;
        return loads;
    }

    // A new partition by these loads.
    void repartition(CellLoads loads, const std::vector<double>& times, BalanceRow& row, RoundOutcome& outcome) {
        b_.history.load_step = static_cast<double>(measured_.moment.step);
        const double begin = s_.meter.now();
        std::optional<LocalPartition> next = partition_by(loads, row, outcome);
        row.partition_seconds = s_.meter.now() - begin;
        const std::vector<double> speeds = all_.speeds.relative(hosted_by(s_));
        const ProcessLoads kept = weigh(next, loads, speeds, row);
        const bool moves = next && row.decision == Decision::moved;
        if (moves) b_.partition = next->hosted;
        if (moves && s_.policy.clock == BalanceClock::work) b_.seen = std::move(seen_next_);
        if (driver_ && !measured_.first && s_.policy.finds_speeds()) add_resources(kept, times, speeds, outcome);
        describe(b_, row);
        if (moves || row.decision == Decision::kept_same) {
            b_.history.lost_seconds = 0;
            b_.watch = {};
        }
        if (!driver_) return;
        all_.load = std::move(loads);
        if (moves) outcome.next = std::move(next);
    }

    // LBE of the partition in use with these costs of the cells at home.
    double efficiency_by(std::span<const std::int64_t> cost) const {
        std::array<std::vector<double>, 2> lists;  // costs, and costs / speed
        const std::vector<std::int64_t> of_hosted = at_hosts(pieces_, cost);
        const std::vector<double> speeds = all_.speeds.relative(hosted_by(s_));
        for (std::size_t i = 0; i < speeds.size(); ++i) {
            lists[0].push_back(static_cast<double>(of_hosted[i]));
            lists[1].push_back(lists[0].back() / speeds[i]);
        }
        const std::vector<OverAll> all = over_all(s_.team, s_.hosts.processes(), lists);
        return efficiency(all[0].sum, all_.speeds.capacity(), all[1].largest);
    }

    // Makes a candidate's next partition by the driver's loads. Returns what moves.
    Moved take_partition(const CellLoads& loads) {
        BalanceRow row;
        RoundOutcome unused;
        std::optional<LocalPartition> next = partition_by(loads, row, unused);
        weigh(next, loads, all_.speeds.relative(hosted_by(s_)), row);
        if (next) b_.partition = std::move(next->hosted);
        return row.moved;
    }

    // Seconds a step of each hosted process by these loads at the mean speed.
    std::vector<double> foretold(const CellLoads& loads) const {
        std::vector<double> seconds;
        for (const std::int64_t load : at_hosts(pieces_, loads.load))
            seconds.push_back(static_cast<double>(load) * loads.unit);
        return seconds;
    }

private:
    ProcessCells pieces_of(const ProcessBoxes& known) const {
        s_.meter.part(RoundPart::fields, known.size(), 0);
        return ProcessCells::at_home(s_.team, s_.grid, known, s_.hosts);
    }

    // Loads with the even partition.
    ProcessCells even_pieces() const {
        const Box& grid = s_.grid.box();
        const std::int64_t processes = s_.hosts.processes();
        std::set<std::int64_t> here;
        for_each_even_part_in(s_.home(), grid, processes, [&](std::int64_t p) { here.insert(p); });
        for (std::int64_t p = hosted_by(s_).begin; p < hosted_by(s_).end; ++p) here.insert(p);
        ProcessBoxes known;
        for (const std::int64_t p : here) known.add(p, std::array{even_part(grid, processes, p)});
        return pieces_of(known);
    }

    // Sums over the cells of each process that this member hosts. values: of the cells at home.
    std::vector<std::int64_t> at_hosts(const ProcessCells& pieces, std::span<const std::int64_t> values) const {
        s_.meter.part(RoundPart::sums, 0, home_cells(s_));
        return pieces.sums_at_hosts(pieces.piece_sums(values), 1);
    }

    CellLoads learnt_loads(const std::vector<double>& times) {
        if (driver_ && s_.policy.finds_speeds() && measured_.reference)
            all_.speeds.learn(s_.team, hosted_by(s_), *measured_.reference, s_.meter);
        const std::vector<double> at_mean_speed = all_.speeds.at_mean_speed(times, hosted_by(s_).begin);
        if (b_.whole_model)
            return as_integers(s_.team, s_.grid, b_.whole_model(b_.partition, at_mean_speed, cells_.counts));
        const auto loads_of = [&](const ProcessCells& cells) {
            s_.meter.part(RoundPart::model, std::min(s_.hosts.processes(), most_concluded), cells.cells());
            return evaluate(*b_.model, s_.team, s_.grid, cells, cells_.counts, b_.state, at_mean_speed, cells_.work,
                            cells_.ahead);
        };
        if (b_.model->additive()) return loads_of(pieces_);
        const ProcessCells whole = ProcessCells::whole_processes(s_.team, s_.grid, known_, s_.hosts);
        // States to the processes, and home again with the loads; and three numbers of each cell to them.
        const int fields = b_.model->needs_particles() ? 6 : 3;
        s_.meter.part(RoundPart::fields, known_.size(), fields * whole.packed_values());
        return loads_of(whole);
    }

    void charge_bisection() const {
        const std::int64_t processes = s_.hosts.processes(), cells = s_.grid.box().cells();
        const CutTogether together = cut_together_of(static_cast<double>(cells), s_.grid.dimensions, s_.team.size());
        s_.meter.part(RoundPart::lines, 0, together.lines);
        s_.meter.part(RoundPart::bisection, (processes + s_.team.size() - 1) / s_.team.size(), home_cells(s_));
        s_.meter.part(RoundPart::fields, known_.size(),
                      worth_packing(cells, s_.team.size()) ? 2 * together.moves * home_cells(s_) : 0);
    }

    // Nothing where no partition keeps the limit.
    std::optional<LocalPartition> partition_by(const CellLoads& loads, BalanceRow& row, RoundOutcome& outcome) {
        const auto boxes_of = kind_of(b_.contender.partition).bisected_boxes;
        if (boxes_of && boxes_of(s_.grid, b_.contender.partition) > 0) charge_bisection();
        const std::vector<std::int64_t> sizes =
            b_.contender.partition.max_size > 0 ? particles() : std::vector<std::int64_t>();
        std::optional<LocalPartition> next;
        try {
            ProcessBoxes hosted = b_.partitioner(
                {s_.team, s_.grid, s_.hosts, loads.load, sizes, all_.speeds.targets(), s_.meter, &b_.partition},
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

    // Ghost cells in this member's home, and their bytes for whole_bytes(). seen: processes_that_see() the cells.
    std::array<std::int64_t, 2> ghosts_of(std::span<const std::uint8_t> seen) const {
        s_.meter.part(RoundPart::sums, 0, home_cells(s_));
        std::array<std::int64_t, 2> sums{};
        const auto nobody = [](std::uint8_t processes) { return processes == 0; };
        for (auto cell = seen.begin(); (cell = std::find_if_not(cell, seen.end(), nobody)) != seen.end(); ++cell) {
            const std::int64_t i = cell - seen.begin();
            sums[0] += *cell;
            sums[1] += *cell * (cells_.bytes ? (*cells_.bytes)[i] : cells_.counts[i].n);
        }
        return sums;
    }
    // A particle's position has a number of 4 bytes for each axis.
    std::int64_t whole_bytes(std::int64_t sum) const {
        return cells_.bytes ? (sum + parts_of_a_byte / 2) / parts_of_a_byte : 4 * s_.grid.dimensions * sum;
    }

    // Loads of the processes of a partition.
    struct ProcessLoads {
        std::vector<std::int64_t> hosted;  // of each that this member hosts
        double mean = 0;                   // of all processes
    };

    // Decides whether the next partition, if there is one, takes the place of the one before. Also where the same cells
    // come in other boxes, in which the tiles would have another order, nothing changes. Returns the loads that the
    // processes have from now on.
    ProcessLoads weigh(std::optional<LocalPartition>& next, const CellLoads& loads, std::span<const double> speeds,
                       BalanceRow& row) {
        ProcessLoads now{at_hosts(pieces_, loads.load)}, then{now.hosted};
        Moved mine;
        std::array<std::int64_t, 2> ghosts{};
        if (next) {
            next->around_home = around_home(s_.team, s_.grid, next->hosted);
            then.hosted = at_hosts(pieces_of(next->around_home), loads.load);
            const Owners before = owners_of(s_, known_), after = owners_of(s_, next->around_home);
            s_.meter.part(RoundPart::quality, added_up(s_, 4), home_cells(s_));
            mine = moved_between(before, after, particles());
            seen_next_ = processes_that_see(after);
            ghosts = ghosts_of(seen_next_);
        }
        std::array<std::vector<double>, 4> lists;  // loads, and loads / speed
        for (std::size_t i = 0; i < speeds.size(); ++i) {
            const auto of_now = static_cast<double>(now.hosted[i]), of_then = static_cast<double>(then.hosted[i]);
            const std::array<double, 4> values{of_now, of_now / speeds[i], of_then, of_then / speeds[i]};
            for (std::size_t k = 0; k < lists.size(); ++k) lists[k].push_back(values[k]);
        }
        std::array sums{mine.cells, mine.particles, ghosts[0], ghosts[1]};
        const std::vector<OverAll> all = over_all(s_.team, s_.hosts.processes(), lists, sums);
        const double capacity = all_.speeds.capacity();
        now.mean = all[0].mean, then.mean = all[2].mean;
        b_.history.lbe_model = efficiency(all[0].sum, capacity, all[1].largest);
        if (!next) return now;
        b_.history.lbe_reachable = efficiency(all[2].sum, capacity, all[3].largest);
        const Moved moved{sums[0], sums[1]};
        // By the wall clock a migration costs the time of the last one. A criterion that weighs partitions does not
        // count the moves of the first partition. So it weighs one as soon as the rest of the cost is lost.
        const bool measured = !measured_.first;
        if (s_.policy.clock == BalanceClock::work) {
            b_.history.move_seconds = s_.policy.counting.work.balancing;
            if (measured || !b_.criterion->weighs_partitions())
                b_.history.move_seconds += s_.policy.counting.moving_seconds(moved, s_.hosts.processes());
        }
        const double sunk = s_.policy.clock == BalanceClock::work ? s_.policy.counting.work.balancing : 0;
        row.decision = decide(b_.history, *b_.criterion, measured, moved, sunk);
        if (row.decision != Decision::kept_gain) {
            row.moved = moved;
            b_.history.ghost_cells = static_cast<double>(sums[2]);
            row.ghost_bytes = whole_bytes(sums[3]);
            b_.history.lbe_model = b_.history.lbe_reachable;
        }
        return row.decision == Decision::moved ? then : now;
    }

    void add_resources(const ProcessLoads& loads, std::span<const double> times, std::span<const double> speed,
                       RoundOutcome& outcome) const {
        for (std::size_t i = 0; i < times.size(); ++i)
            outcome.resources.push_back(
                {measured_.moment.step, hosted_by(s_).begin + static_cast<std::int64_t>(i), speed[i],
                 loads.mean > 0 ? static_cast<double>(loads.hosted[i]) / loads.mean : 0.0, times[i]});
    }

    const Setting& s_;
    const Measured& measured_;
    const ProcessBoxes& known_;
    const HomeCells& cells_;
    Balancing& all_;
    BalancedModel& b_;
    bool driver_;
    ProcessCells pieces_;  // of the partition in use
    std::vector<std::uint8_t> seen_next_{};
};

}  // namespace

Balancing make_balancing(const Setting& s, const ModelConstants& constants, const std::string& driver,
                         std::span<const Contender> others) {
    Balancing all{{}, Speeds(s.hosts.processes()), {}, {}, 0};
    const ProcessBoxes even = even_processes(s.grid, s.hosts.processes(), s.hosts.processes_of(s.team.rank()));
    const auto add = [&](const Contender& c, const std::string& label) {
        BalancedModel b{c, label, make_model(c.model, constants), even};
        b.criterion = make_criterion(c.criterion);
        all.models.push_back(std::move(b));
    };
    prepare_partitions(s.team, s.grid, s.policy.partition);
    const Candidates& candidates = s.policy.candidates;
    add({driver, candidates.empty() ? driver : candidates.models.front().model, s.policy.criterion, s.policy.partition},
        kind_of(s.policy.partition).follows_loads ? driver : "none");
    for (const Contender& c : others) add(c, c.name);
    all.choice.begun = s.meter.now();
    if (candidates.size() <= 2) return all;  // nothing to choose from
    const std::size_t balanced = all.models.size();
    for (const auto& list : {candidates.models, candidates.partitions})
        for (const Contender& c : list) add(c, c.name);
    all.candidates.assign(std::move_iterator(all.models.begin() + balanced), std::move_iterator(all.models.end()));
    all.models.resize(balanced);
    return all;
}

Observation observe(const Setting& s, const RoundMoment& moment, const std::optional<MeasuredTimes>& measured,
                    Balancing& balancing) {
    BalancedModel& driver = balancing.models.front();
    Observation seen;
    if (measured) {
        const std::vector<double> speeds = balancing.speeds.relative(hosted_by(s));
        std::vector<ProcessTimes> took;
        for (std::size_t i = 0; i < measured->seconds.size(); ++i)
            took.push_back(
                {measured->seconds[i], speeds[i], measured->even ? static_cast<double>((*measured->even)[i]) : 0});
        seen = observed_by(s, moment, driver, took, [&](const WorthTotals& all) {
            if (!measured->even) return;
            LoadPeaks shape = peaks_of(all, 0);
            shape.dearest = balancing.heaviest_cell;
            add(balancing.worth, static_cast<double>(moment.step - moment.last), all, shape);
        });
    } else {
        seen.row.step = moment.step;
        seen.row.model = driver.label;
        seen.row.decision = Decision::kept_clock;
        describe(driver, seen.row);
    }
    seen.row.driver = true;
    if (measured) rate_models(s, seen.times, balancing);
    return seen;
}

bool wants_ahead(const Balancing& balancing) {
    return std::any_of(balancing.models.begin(), balancing.models.end(),
                       [](const BalancedModel& b) { return b.model->wants_ahead(); });
}

namespace {

// in_use: around_home() of the driver's partition at the begin of the round.
CandidateSteps steps_of_candidates(const Setting& s, const ProcessBoxes& in_use, const HomeCells& cells,
                                   const Measured& measured, Balancing& all) {
    const auto with_own = [&](BalancedModel& b, auto use) {
        const ProcessBoxes known = around_home(s.team, s.grid, b.partition);
        return use(ModelRound(s, measured, known, cells, all, b));
    };
    return {
        [&](BalancedModel& b, const std::vector<double>& times) {
            BalanceRow row;
            return ModelRound(s, measured, in_use, cells, all, b).model_loads(times, row);
        },
        [with_own](BalancedModel& b, std::span<const std::int64_t> cost) {
            return with_own(b, [&](const ModelRound& r) { return r.efficiency_by(cost); });
        },
        [with_own](BalancedModel& b, const CellLoads& loads) {
            return with_own(b, [&](ModelRound r) { return r.take_partition(loads); });
        },
        [with_own](BalancedModel& b, const CellLoads& loads) {
            return with_own(b, [&](const ModelRound& r) { return r.foretold(loads); });
        },
    };
}

// in_use: around_home() of the driver's partition.
RoundOutcome rebalance_all(const Setting& s, const ProcessBoxes& in_use, HomeCells cells, const Measured& measured,
                           Balancing& all) {
    RoundOutcome outcome;
    const std::size_t models = measured.observed ? 1 : all.models.size();
    for (std::size_t m = 0; m < models; ++m) {
        std::optional<ProcessBoxes> other;
        if (m > 0) other = around_home(s.team, s.grid, all.models[m].partition);
        BalancedModel& model = all.models[m];
        const double ghosts = model.history.ghost_cells;
        ModelRound round(s, measured, other ? *other : in_use, cells, all, model);
        std::optional<Trial> trial;
        if (m == 0 && !measured.first && !all.candidates.empty())
            trial.emplace(s, measured, cells, all, steps_of_candidates(s, in_use, cells, measured, all));
        Observation seen;
        bool tried = false;
        if (measured.observed) seen = *measured.observed;
        else if (!measured.first) seen = round.observe();
        if (trial && !measured.observed) trial->rate(seen);
        seen.row.driver = m == 0;
        if (seen.row.decision == Decision::none) {
            CellLoads loads = round.model_loads(seen.times, seen.row);
            tried = trial && trial->balance(seen, loads);
            round.repartition(std::move(loads), seen.times, seen.row, outcome);
            if (tried) trial->go_on(seen.row);
            if (m == 0) all.choice.partition_seconds = seen.row.partition_seconds;
        }
        if (!measured.first && s.policy.clock == BalanceClock::work)
            model.cost.add(seen.row, measured.moment.step - measured.moment.last, s.policy.counting,
                           s.hosts.processes(), ghosts, tried ? std::ssize(all.candidates) : 0);
        if (!measured.first) outcome.rows.push_back(std::move(seen.row));
        if (m == 0) outcome.seconds = std::move(seen.seconds);
    }
    outcome.cells = std::move(cells);
    return outcome;
}

}  // namespace

RoundOutcome rebalance(const Setting& s, HomeCells cells, const Measured& measured, Balancing& all) {
    return rebalance_all(s, around_home(s.team, s.grid, all.models.front().partition), std::move(cells), measured, all);
}

RoundOutcome rebalance(const Setting& s, const Decomposition& in_use, TileCells tiles, Measured measured,
                       Balancing& all) {
    const bool counted = s.policy.clock == BalanceClock::work && !measured.first;
    const Counting now = s.policy.counting.at(measured.moment.step);
    HomeCells cells =
        collect_at_homes(s.team, in_use, std::exchange(tiles, TileCells()), counted ? &now : nullptr, s.meter);
    if (counted && !measured.accelerator_speeds.empty() && s.hosts.processes() == s.team.size()) {
        const std::vector<double> sides = side_times(s.team, in_use, cells.work, measured.accelerator_speeds);
        const std::size_t mine = 2 * static_cast<std::size_t>(s.team.rank());
        measured.driver_times.emplace(1, std::max(sides[mine], sides[mine + 1]));
    }
    return rebalance_all(s, in_use.known(), std::move(cells), measured, all);
}

}  // namespace balance
