// SPDX-License-Identifier: MIT
// Whole rounds on teams of 1 to 64 members, without an engine: against the same rules written down once more over a
// plain array of all cells, by counted work and by given times.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "balance/round.hpp"
#include "random_partition.hpp"
#include "sanitized.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid grid{{24, 18, 1}, {true, false, false}};
constexpr std::int64_t processes = 6, every = 5;
constexpr int rounds = 9;

// A dense drop that drifts over a thin gas.
int particles_at(int x, int y, int round) {
    x = ((x - round) % grid.cells[0] + grid.cells[0]) % grid.cells[0];
    const int r2 = (x - 6) * (x - 6) + (y - 9) * (y - 9);
    return r2 < 25 ? 9 + (x * 7 + y * 3) % 5 : (x + 2 * y) % 3;
}
CellCounts counts_at(int x, int y, int round) {
    const auto sum = [&](int reach) {
        int n = 0;
        for (int i = -reach; i <= reach; ++i)
            for (int j = std::max(0, y - reach); j <= std::min(grid.cells[1] - 1, y + reach); ++j)
                n += particles_at(x + i, j, round);
        return n;
    };
    return {particles_at(x, y, round), sum(1), sum(2)};
}
std::int64_t bytes_at(int x, int y, int round) { return 384 * ((x * 3 + y + round) % 7); }
std::int64_t work_at(int x, int y, int round) {
    const CellCounts c = counts_at(x, y, round);
    return to_ticks(2e-9 + 6e-9 * c.n + 1e-9 * c.n * c.n3);
}

struct Case {
    std::string name;
    Policy policy;
    std::vector<std::string> models;
    std::vector<double> noise = {};  // factors
    bool wall = false;
    bool bytes = false;                 // given
    std::optional<Policy> others = {};  // criterion and partition of all models but the driver
};

Balancing start(const Setting& setting, const Case& c) {
    std::vector<Contender> others;
    const Policy& policy = c.others ? *c.others : c.policy;
    for (std::size_t m = 1; m < c.models.size(); ++m)
        others.push_back({c.models[m], c.models[m], policy.criterion, policy.partition});
    return make_balancing(setting, {}, c.models[0], others);
}

// One round as a member tells of it.
struct Told {
    std::vector<BalanceRow> rows;
    std::vector<ResourceRow> resources;
    Partition partition;  // the driver's afterwards
    std::int64_t smallest_limit = 0;
    History history;  // the driver's
    double worth_even = 0, worth_possible = 0;
};
auto values_of(const BalanceRow& r) {
    return std::tuple(r.step, r.model, r.driver, r.lbe, r.mean_seconds, r.max_seconds, r.lbe_model, r.moved.cells,
                      r.moved.particles, r.ghost_cells, r.ghost_bytes, r.lbe_observed, r.decision, r.lost_seconds,
                      r.move_seconds, r.lbe_reachable, r.load_step);
}
auto values_of(const ResourceRow& r) { return std::tuple(r.step, r.process, r.speed, r.load, r.seconds); }
bool same(const Told& a, const Told& b) {
    const auto equal = [](const auto& p, const auto& q) { return values_of(p) == values_of(q); };
    return std::ranges::equal(a.rows, b.rows, equal) && std::ranges::equal(a.resources, b.resources, equal) &&
           a.partition == b.partition && a.smallest_limit == b.smallest_limit &&
           a.history.to_numbers() == b.history.to_numbers() && a.worth_even == b.worth_even &&
           a.worth_possible == b.worth_possible;
}

// By the wall clock: what the processes of a partition took, from the array of all cells.
std::vector<double> times_of(const Partition& p, int round, const Slowdown& slow) {
    const std::vector<int> owner = owners_of(grid, p);
    std::vector<std::int64_t> ticks(processes, 0);
    for_each_cell(grid.box(), [&](int x, int y, int) { ticks[owner[x * grid.cells[1] + y]] += work_at(x, y, round); });
    std::vector<double> times;
    for (std::int64_t q = 0; q < processes; ++q)
        times.push_back(to_seconds(ticks[q]) / speed_of(slow, q, round * every));
    return times;
}

std::vector<Told> play(const Team& team, const Case& c) {
    const Meter meter;
    const Setting setting{team, grid, {processes, team.size()}, c.policy, meter};
    Balancing balancing = start(setting, c);
    const Box home = setting.home();
    const IndexRange mine = setting.hosts.processes_of(team.rank());
    std::vector<Told> story;
    for (int round = 0; round < rounds; ++round) {
        HomeCells cells;
        if (c.bytes) cells.bytes.emplace();
        for_each_cell(home, [&](int x, int y, int) {
            if (c.bytes) cells.bytes->push_back(bytes_at(x, y, round));
            cells.counts.push_back(counts_at(x, y, round));
            if (!c.wall && round > 0) cells.work.push_back(work_at(x, y, round));
        });
        const Partition in_use = whole(team, balancing.models[0].partition);
        Measured measured;
        std::span<const double> noise = c.noise;
        if (!noise.empty()) noise = noise.subspan(mine.begin, mine.size());
        measured.moment = {round * every, (round - 1) * every, noise};
        measured.first = round == 0;
        measured.reference.emplace();
        for (std::int64_t p = mine.begin; p < mine.end; ++p)
            measured.reference->push_back(1e-5 / speed_of(c.policy.counting.work.slow, p, round * every));
        Told told;
        if (c.wall && round > 0) {
            const std::vector<double> times = times_of(in_use, round, c.policy.counting.work.slow);
            MeasuredTimes hosted{{times.begin() + mine.begin, times.begin() + mine.end}};
            hosted.even.emplace();
            for (std::int64_t p = mine.begin; p < mine.end; ++p) hosted.even->push_back(100 + 7 * p * p);
            measured.observed = observe(setting, measured.moment, hosted, balancing);
            if (measured.observed->row.decision != Decision::none) told.rows = {measured.observed->row};
        }
        if (told.rows.empty()) {
            RoundOutcome outcome = rebalance(setting, std::move(cells), measured, balancing);
            told.rows = outcome.rows;
            told.resources = all_gather<ResourceRow>(team, outcome.resources);
            told.partition = outcome.next ? whole(team, outcome.next->hosted) : in_use;
            told.smallest_limit = outcome.dead_end ? outcome.dead_end->smallest : 0;
        } else {
            told.partition = in_use;
        }
        if (whole(team, balancing.models[0].partition) != told.partition) told.smallest_limit = -1;  // they must agree
        told.history = balancing.models[0].history;
        told.worth_even = balancing.worth.even, told.worth_possible = balancing.worth.possible;
        story.push_back(std::move(told));
    }
    return story;
}

// The same rules over an array of all cells, for `particle_count` and `time_average` without sticky cuts.
class Plain {
public:
    Plain(const Case& c, std::size_t model) : c_(c), model_(c.models[model]) {
        if (model > 0 && c.others) c_.policy = *c.others;
        const bool fixed = c_.policy.partition.kind == "none";
        row_name_ = fixed ? "none" : model_;
        partition_ = one_box_each(even_partition(grid, processes));
    }
    const Partition& partition() const { return partition_; }

    void start() { adopt(particles(0), 0, {}, nullptr); }

    BalanceRow round(int number) {
        BalanceRow row;
        row.step = number * every;
        row.model = row_name_;
        std::vector<double> times = times_of(partition_, number, c_.policy.counting.work.slow);
        const double mean = sum(times) / processes, largest = *std::ranges::max_element(times);
        row.mean_seconds = mean, row.max_seconds = largest, row.lbe = mean / largest;
        row.lbe_reachable = reachable_;
        const std::string& criterion = c_.policy.criterion.name;
        const bool gain = criterion == "gain", every_time = criterion == "every";
        const double best = updates_ == 0 && mean > reachable_ * largest ? 1 : reachable_;
        if (criterion == "menon") lost_ += (largest - mean) * every;
        if (gain) {
            for (std::size_t p = 0; p < times.size(); ++p) spent_[p] += times[p] * every;
            if (c_.wall) lost_ = std::max(0.0, *std::ranges::max_element(spent_) - sum(spent_) / processes / best);
            else lost_ += std::max(0.0, largest - mean / best) * every;
        }
        const double lost = lost_;
        for (std::size_t p = 0; p < c_.noise.size(); ++p) times[p] *= c_.noise[p];
        row.lbe_observed = sum(times) / processes / *std::ranges::max_element(times);
        if (!every_time && lost_ <= move_seconds_) row.decision = gain ? Decision::kept_gain : Decision::kept_criterion;
        else adopt(loads_of(times, number), number, times, &row);
        const bool kept = row.decision == Decision::kept_gain || row.decision == Decision::kept_criterion;
        const double bytes = ghosts_of(partition_, [&](int x, int y) {
            return c_.bytes ? bytes_at(x, y, number) / 1024.0 : 8.0 * particles_at(x, y, number);
        });
        row.ghost_bytes = c_.wall && kept ? 0 : std::llround(bytes);
        row.lbe_model = lbe_model_, row.ghost_cells = ghosts_, row.load_step = load_step_;
        if (!every_time) row.lost_seconds = lost, row.move_seconds = move_seconds_;
        if (row.decision == Decision::moved || row.decision == Decision::kept_same) forget();
        return row;
    }

private:
    static double sum(const std::vector<double>& v) {
        double s = 0;
        for (const double x : v) s += x;
        return s;
    }
    static std::size_t at(int x, int y) { return static_cast<std::size_t>(x) * grid.cells[1] + y; }

    static std::vector<std::int64_t> particles(int number) {
        std::vector<std::int64_t> all;
        for_each_cell(grid.box(), [&](int x, int y, int) { all.push_back(particles_at(x, y, number)); });
        return all;
    }
    std::vector<std::int64_t> loads_of(const std::vector<double>& times, int number) const {
        const std::vector<int> owner = owners_of(grid, partition_);
        std::map<int, int> cells_of;
        for (const int o : owner) ++cells_of[o];
        std::vector<double> loads;
        for_each_cell(grid.box(), [&](int x, int y, int) {
            const int o = owner[at(x, y)];
            loads.push_back(model_ == "particle_count" ? particles_at(x, y, number) : times[o] / cells_of[o]);
        });
        const double scale = load_scale(*std::ranges::max_element(loads), grid.box().cells());
        std::vector<std::int64_t> integers;
        for (const double l : loads) integers.push_back(std::llround(l * scale));
        return integers;
    }
    double efficiency_of(const Partition& p, const std::vector<std::int64_t>& loads) const {
        const std::vector<int> owner = owners_of(grid, p);
        std::vector<double> sums(processes, 0.0);
        for (std::size_t i = 0; i < loads.size(); ++i) sums[owner[i]] += static_cast<double>(loads[i]);
        return sum(sums) / processes / *std::ranges::max_element(sums);
    }
    template <class Weight>
    static double ghosts_of(const Partition& p, Weight weight) {
        const std::vector<int> owner = owners_of(grid, p);
        double ghosts = 0;
        for_each_cell(grid.box(), [&](int x, int y, int) {
            std::set<int> others;
            for (int i = -1; i <= 1; ++i)
                for (int j = std::max(0, y - 1); j <= std::min(grid.cells[1] - 1, y + 1); ++j)
                    others.insert(owner[at((x + i + grid.cells[0]) % grid.cells[0], j)]);
            ghosts += static_cast<double>(others.size() - 1) * weight(x, y);
        });
        return ghosts;
    }
    void adopt(const std::vector<std::int64_t>& loads, int number, const std::vector<double>& times, BalanceRow* row) {
        updates_ += !times.empty();
        load_step_ = number * every;
        lbe_model_ = efficiency_of(partition_, loads);
        const std::vector<std::int64_t> sizes = particles(number);
        Scattered<Split> memory;
        const SerialTeam alone;
        const ProcessBoxes in_use = all_of(partition_);
        const Partition next =
            whole(alone,
                  make_partition({alone, grid, {c_.policy.partition.processes, 1}, loads, sizes, {}, no_meter, &in_use},
                                 c_.policy.partition, memory));
        const std::vector<int> before = owners_of(grid, partition_), after = owners_of(grid, next);
        Moved moved;
        for (std::size_t i = 0; i < before.size(); ++i)
            if (before[i] != after[i]) ++moved.cells, moved.particles += sizes[i];
        reachable_ = efficiency_of(next, loads);
        const std::string& criterion = c_.policy.criterion.name;
        const bool gain = criterion == "gain";
        const WorkCosts& costs = c_.policy.counting.work;
        if (!c_.wall) {
            move_seconds_ = costs.balancing;
            if (!times.empty() || !gain) move_seconds_ += costs.move * static_cast<double>(moved.particles) / processes;
        }
        const double sunk = c_.wall ? 0 : costs.balancing;
        const bool pays = times.empty() || !gain || lost_ > move_seconds_ - sunk;
        const Decision decision = !pays              ? Decision::kept_gain
                                  : moved.cells == 0 ? Decision::kept_same
                                                     : Decision::moved;
        if (row) row->decision = decision;
        if (decision != Decision::kept_gain) {
            if (row) row->moved = moved;
            ghosts_ = std::llround(ghosts_of(next, [](int, int) { return 1; })), lbe_model_ = reachable_;
        }
        if (decision == Decision::moved) partition_ = next;
        if (!row && decision != Decision::kept_gain) forget();
    }
    void forget() {
        lost_ = 0;
        spent_.assign(processes, 0.0);
    }

    Case c_;
    std::string model_, row_name_;
    Partition partition_;
    std::vector<double> spent_ = std::vector<double>(processes, 0.0);
    double reachable_ = 1, lost_ = 0, move_seconds_ = 0, lbe_model_ = 1;
    std::int64_t ghosts_ = 0, load_step_ = 0, updates_ = 0;
};

void compare(const BalanceRow& row, const BalanceRow& plain) {
    CHECK(row.model == plain.model);
    CHECK(row.step == plain.step);
    CHECK(row.decision == plain.decision);
    CHECK(row.moved.cells == plain.moved.cells);
    CHECK(row.moved.particles == plain.moved.particles);
    CHECK(row.ghost_cells == plain.ghost_cells);
    CHECK(row.ghost_bytes == plain.ghost_bytes);
    CHECK(row.load_step == plain.load_step);
    const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-11 * std::max(std::abs(a), std::abs(b)); };
    CHECK(close(row.mean_seconds, plain.mean_seconds));
    CHECK(close(row.max_seconds, plain.max_seconds));
    CHECK(close(row.lbe, plain.lbe));
    CHECK(close(row.lbe_observed, plain.lbe_observed));
    CHECK(close(row.lbe_model, plain.lbe_model));
    CHECK(close(row.lbe_reachable, plain.lbe_reachable));
    CHECK(close(row.lost_seconds, plain.lost_seconds));
    CHECK(close(row.move_seconds, plain.move_seconds));
}

std::vector<Case> cases() {
    Policy plain;
    plain.clock = BalanceClock::work;
    plain.speeds = SpeedSource::off;
    plain.partition.processes = processes;
    plain.partition.sticky = false;
    plain.counting.work.move = 2e-8;
    std::vector<Case> all;
    const auto add = [&](std::string name, std::vector<std::string> models, auto change) {
        Case c{std::move(name), plain, std::move(models)};
        change(c);
        all.push_back(std::move(c));
    };
    const std::vector<std::string> both{"particle_count", "time_average"};
    add("gain", both, [](Case&) {});
    add("always", both, [](Case& c) { c.policy.criterion.name = "every"; });
    add("dear migrations", both, [](Case& c) { c.policy.counting.work.move = 1e-5; });
    add("dear balancings", both, [](Case& c) { c.policy.counting.work.balancing = 1e-2; });
    add("menon", both, [](Case& c) { c.policy.criterion.name = "menon", c.policy.counting.work.balancing = 2e-4; });
    add("another criterion and partition", both, [](Case& c) {
        c.others = c.policy;
        c.others->criterion.name = "menon";
        c.others->partition.kind = "rcb";
    });
    add("bytes", both, [](Case& c) { c.bytes = true, c.policy.criterion.name = "menon"; });
    add("bytes and a limit", both, [](Case& c) { c.bytes = true, c.policy.partition.max_size = 1000; });
    add("cells", both, [](Case& c) { c.policy.partition.cut = CutAt::cells; });
    add("rcb", both, [](Case& c) { c.policy.partition.kind = "rcb"; });
    add("compact", both, [](Case& c) { c.policy.partition.kind = "compact"; });
    add("diffusion", both, [](Case& c) { c.policy.partition.kind = "diffusion"; });
    add("none", both, [](Case& c) { c.policy.partition.kind = "none"; });
    add("noise", both, [](Case& c) { c.noise = {1.1, 0.8, 1, 1, 1.3, 0.95}; });
    add("slow processes", both, [](Case& c) { c.policy.counting.work.slow.fraction = 0.34; });
    add("wall clock", {"time_average"}, [](Case& c) { c.wall = true, c.policy.clock = BalanceClock::wall; });
    add("wall clock, always", {"particle_count"},
        [](Case& c) { c.wall = true, c.policy.clock = BalanceClock::wall, c.policy.criterion.name = "every"; });
    return all;
}

Case case_of(const std::string& name) {
    for (const Case& c : cases())
        if (c.name == name) return c;
    throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("a round does what its rules say, over all cells at once") {
    for (const Case& c : cases()) {
        CAPTURE(c.name);
        const std::vector<Told> story = play(SerialTeam{}, c);
        std::vector<Plain> plain;
        for (std::size_t m = 0; m < c.models.size(); ++m) plain.emplace_back(c, m);
        for (Plain& p : plain) p.start();
        CHECK(story[0].rows.empty());
        std::set<Decision> seen;
        for (int round = 1; round < rounds; ++round) {
            CAPTURE(round);
            REQUIRE(story[round].rows.size() == c.models.size());
            CHECK(story[round].smallest_limit == 0);
            for (std::size_t m = 0; m < plain.size(); ++m) {
                CAPTURE(m);
                BalanceRow expected = plain[m].round(round);
                if (m > 0) expected.model = c.models[m];  // only a driver can be called `none`
                CHECK(story[round].rows[m].driver == (m == 0));
                compare(story[round].rows[m], expected);
                seen.insert(expected.decision);
            }
            CHECK(story[round].partition == plain[0].partition());
        }
        if (c.name == "gain") CHECK(seen.contains(Decision::moved));
        if (c.name == "dear migrations" || c.name == "dear balancings") CHECK(seen.contains(Decision::kept_gain));
        if (c.name == "menon") CHECK((seen.contains(Decision::kept_criterion) && seen.contains(Decision::moved)));
        if (c.name == "none") CHECK(seen.contains(Decision::kept_same));
    }
}

TEST_CASE("teams of 2 to 64 tell the same story as one member, to the last bit") {
    std::vector<Case> all = cases();
    const auto add = [&](std::string name, std::vector<std::string> models, auto change) {
        Case c{std::move(name), all[0].policy, std::move(models)};
        c.policy.partition.sticky = true;
        change(c);
        all.push_back(std::move(c));
    };
    add("measured speeds", {"r1", "a1", "b1", "hybrid"}, [](Case& c) {
        c.policy.speeds = SpeedSource::measured;
        c.policy.criterion.name = "every";
        c.policy.counting.work.slow.fraction = 0.2;
    });
    add("limit", {"particle_count", "time_average"}, [](Case& c) {
        c.policy.criterion.name = "every";
        c.policy.partition.cut = CutAt::cells;
        c.policy.partition.max_size = 190;
    });
    add("impossible limit", {"particle_count"}, [](Case& c) { c.policy.partition.max_size = 10; });
    for (const Case& c : all) {
        CAPTURE(c.name);
        const std::vector<Told> alone = play(SerialTeam{}, c);
        for (const int members : test::teams({2, 3, 4, 7, 16, 33, 64})) {
            CAPTURE(members);
            const auto told = ThreadTeam::run(members, [&](const Team& team) { return play(team, c); });
            int different = 0;
            for (const std::vector<Told>& story : told)
                for (int round = 0; round < rounds; ++round) different += !same(story[round], alone[round]);
            CHECK(different == 0);
        }
        if (c.name == "impossible limit") {
            CHECK(alone[0].smallest_limit > 10);
            CHECK(alone[1].rows[0].decision == Decision::kept_limit);
            CHECK(alone[1].partition == alone[0].partition);
        }
        if (c.name == "measured speeds") {
            REQUIRE(alone.back().resources.size() == processes);
            double mean = 0, speed = 0;
            const auto speed_at_end = [&](std::int64_t p) {
                return speed_of(c.policy.counting.work.slow, p, (rounds - 1) * every);
            };
            for (std::int64_t p = 0; p < processes; ++p) speed += speed_at_end(p) / processes;
            for (const ResourceRow& r : alone.back().resources) {
                mean += r.load / processes;
                CHECK(r.speed == Approx(speed_at_end(r.process) / speed));
            }
            CHECK(mean == Approx(1));
        }
    }
}

TEST_CASE("resources say what each process has from now on") {
    Case c = case_of("always");
    c.models = {"hybrid"};
    c.policy.speeds = SpeedSource::measured;
    int moved = 0;
    for (const Told& told : play(SerialTeam{}, c)) {
        if (told.rows.empty()) continue;
        REQUIRE(told.resources.size() == processes);
        double largest = 0;
        for (const ResourceRow& r : told.resources) largest = std::max(largest, r.load / r.speed);
        CHECK(largest * told.rows[0].lbe_model == Approx(1).epsilon(1e-9));
        moved += told.rows[0].decision == Decision::moved;
    }
    CHECK(moved > 2);
}

TEST_CASE("times that come from elsewhere take the place of counted ones, for the driver alone") {
    Case c = case_of("always");
    const SerialTeam team;
    const Meter meter;
    const Setting setting{team, grid, {processes, 1}, c.policy, meter};
    Balancing balancing = start(setting, c);
    HomeCells cells;
    for_each_cell(grid.box(), [&](int x, int y, int) {
        cells.counts.push_back(counts_at(x, y, 1));
        cells.work.push_back(work_at(x, y, 1));
    });
    Measured measured;
    measured.moment = {every, 0, {}};
    measured.driver_times = std::vector<double>{1, 2, 3, 4, 5, 6};
    measured.accelerator_speeds = {4};
    const Partition even = whole(team, balancing.models[1].partition);
    const RoundOutcome outcome = rebalance(setting, cells, measured, balancing);
    CHECK(outcome.rows[0].max_seconds == 6);
    CHECK(outcome.rows[0].lbe == Approx(3.5 / 6));
    const std::vector<double> counted = times_of(even, 1, {});
    CHECK(outcome.rows[1].max_seconds == Approx(*std::ranges::max_element(counted)));
    CHECK(balancing.worth.steps == 0);  // of a process with accelerators the cells alone do not tell
    CHECK(outcome.cells.work == cells.work);
}

TEST_CASE("by the wall clock an observation can end the round, and says why") {
    Case c = case_of("wall clock");
    const SerialTeam team;
    const Meter meter;
    const Setting setting{team, grid, {processes, 1}, c.policy, meter};
    Balancing balancing = start(setting, c);
    balancing.models[0].history.lbe_model = 0.25;
    const Observation blind = observe(setting, {10, 5, {}}, std::nullopt, balancing);
    CHECK(blind.row.decision == Decision::kept_clock);
    CHECK((blind.row.driver && blind.row.step == 10 && blind.row.lbe_model == 0.25));
    CHECK(balancing.worth.steps == 0);
    const Observation even =
        observe(setting, {15, 10, {}}, MeasuredTimes{{1, 1, 1, 1, 1, 1}, std::vector<std::int64_t>{2, 1, 1, 1, 1, 0}},
                balancing);
    CHECK(even.row.decision == Decision::kept_gain);
    CHECK(balancing.worth.steps == 5);
    CHECK(balancing.worth.even == Approx(10));  // the slowest would have had twice the mean
    const Observation uneven = observe(setting, {20, 15, {}}, MeasuredTimes{{1, 1, 1, 1, 1, 7}, {}}, balancing);
    CHECK(uneven.row.decision == Decision::none);
    CHECK(uneven.row.lost_seconds > 0);
    CHECK(uneven.times == std::vector<double>{1, 1, 1, 1, 1, 7});

    // The rest of the round is of the driver alone: the times of another model's partition cannot be measured.
    c.models = {"time_average", "particle_count"};
    Balancing two = start(setting, c);
    HomeCells cells;
    for_each_cell(grid.box(), [&](int x, int y, int) { cells.counts.push_back(counts_at(x, y, 1)); });
    Measured measured;
    measured.moment = {20, 15, {}};
    measured.observed = uneven;
    CHECK(rebalance(setting, std::move(cells), measured, two).rows.size() == 1);
    CHECK(two.models[1].history.updates == 0);
}

TEST_CASE("a meter hears whether all members make a partition, or one for all") {
    struct Watch final : Meter {
        void part(RoundPart part, std::int64_t, std::int64_t items) const override { cells[part] += items; }
        mutable std::map<RoundPart, std::int64_t> cells;
    };
    for (const char* kind : {"chain", "rcb", "nested", "compact", "diffusion"}) {
        Case c = case_of("always");
        c.policy.partition.kind = kind;
        c.models = {"hybrid"};
        const SerialTeam team;
        const Watch watch;
        const Setting setting{team, grid, {processes, 1}, c.policy, watch};
        Balancing balancing = start(setting, c);
        HomeCells cells;
        for_each_cell(grid.box(), [&](int x, int y, int) { cells.counts.push_back(counts_at(x, y, 0)); });
        Measured measured;
        measured.first = true;
        rebalance(setting, std::move(cells), measured, balancing);
        const bool by_all = kind == std::string("chain") || kind == std::string("rcb");
        CAPTURE(kind);
        CHECK(watch.cells[by_all ? RoundPart::bisection : RoundPart::whole] == grid.box().cells());
        CHECK(watch.cells[by_all ? RoundPart::whole : RoundPart::bisection] == 0);
    }
}
