// SPDX-License-Identifier: MIT
// The module steelyard._core: replays and partitions by the library balance, without MPI and files. Options come as
// settings `key.path=value` of a deck, so their checks and words are the program's. All fields are flat arrays in the
// library's order of cells, x slowest; the package gives them their shape.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <set>

#include "app/balancing/from_deck.hpp"
#include "app/balancing/simulated_cost.hpp"
#include "app/deck/checks.hpp"
#include "app/output/series/tables.hpp"
#include "balance/model/cell_counts.hpp"
#include "balance/model/work.hpp"
#include "balance/partition/cell_graph.hpp"
#include "balance/partition/quality.hpp"
#include "balance/replay.hpp"

namespace py = pybind11;
using namespace py::literals;

namespace {

using balance::Grid;
template <class T>
using Array = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
    return {array.data(), static_cast<std::size_t>(array.size())};
}
template <class T>
Array<T> array_of(std::span<const T> values) {
    return Array<T>(std::ssize(values), values.data());
}

// Other threads of Python go on meanwhile.
template <class Work>
auto without_lock(Work work) {
    const py::gil_scoped_release free;
    return work();
}

Array<std::int32_t> owners_of(const Grid& grid, const balance::ProcessBoxes& all) {
    Array<std::int32_t> owner(grid.box().cells());
    balance::Owners(grid, grid.box(), all).for_each([to = owner.mutable_data()](auto cell, auto p) { to[cell] = p; });
    return owner;
}

// The loss is that of the criterion menon.
struct OwnCriterion final : balance::Criterion {
    explicit OwnCriterion(py::object c) : call(std::move(c)) {}
    double lost(const balance::Opportunity& now, std::span<double> memory) const override {
        seen = now;
        return menon->lost(now, memory);
    }
    bool balances(double lost, double cost) const override {
        const py::gil_scoped_acquire held;
        return call("steps"_a = seen.steps, "mean"_a = seen.mean, "largest"_a = seen.largest,
                    "spent_mean"_a = seen.spent_mean, "spent_largest"_a = seen.spent_largest,
                    "reachable"_a = seen.reachable, "lost_before"_a = seen.lost_before, "lbe"_a = seen.lbe(),
                    "lost"_a = lost, "cost"_a = cost, "left"_a = seen.left)
            .cast<bool>();
    }
    std::unique_ptr<balance::Criterion> menon = balance::make_criterion({"menon"});
    py::object call;
    mutable balance::Opportunity seen;
};

// own: name, model, criterion, criterion_name, partition, as far as the contender has its own.
void give(balance::BalancedModel& b, const py::dict& own, const Grid& grid) {
    if (own.contains("name")) b.label = b.cost.name = own["name"].cast<std::string>();
    if (own.contains("criterion")) {
        b.criterion = std::make_unique<OwnCriterion>(own["criterion"]);
        b.contender.criterion.name = own["criterion_name"].cast<std::string>();
    }
    if (own.contains("model"))
        b.whole_model = [&grid, call = py::object(own["model"])](const auto& owners, auto times, auto counts) {
            const py::gil_scoped_acquire held;
            std::vector<std::int32_t> n;
            for (const balance::CellCounts& c : counts) n.push_back(c.n);
            const auto load = call(array_of(times), array_of<std::int32_t>(n), owners_of(grid, owners))
                                  .template cast<Array<double>>();
            return std::vector<double>(load.data(), load.data() + load.size());
        };
    if (own.contains("partition"))
        b.partitioner = [&b, &grid, call = py::object(own["partition"])](const auto& in, const auto& options, auto&) {
            const py::gil_scoped_acquire held;
            const auto part = call(array_of(in.load), options.processes, owners_of(grid, b.partition))
                                  .template cast<Array<std::int32_t>>();
            return all_of(lines_of(grid, span_of(part), options.processes));
        };
}

// An entry of a series: loads, then particles, now and ahead, and bytes, or nothing.
struct Entry {
    explicit Entry(const py::object& found)
        : load(found["load"].cast<Array<double>>()),
          particles(found["particles"].cast<Array<double>>()),
          ahead(found["particles_ahead"].cast<Array<double>>()),
          bytes(found["bytes"].cast<Array<double>>()) {}
    Array<double> load, particles, ahead, bytes;
};

std::vector<balance::CellCounts> counts_of(const Array<double>& particles, const Grid& grid) {
    const std::span<const double> all = span_of(particles);
    return counts_around(balance::SerialTeam(), grid, std::vector<std::int32_t>(all.begin(), all.end()));
}

balance::HomeCells cells_of(const Entry& e, const Grid& grid, double scale) {
    balance::HomeCells cells;
    for (const double load : span_of(e.load)) cells.work.push_back(balance::to_ticks(load * scale));
    if (e.particles.size() > 0) cells.counts = counts_of(e.particles, grid);
    cells.counts.resize(cells.work.size());
    if (e.ahead.size() > 0) cells.ahead = counts_of(e.ahead, grid);
    if (e.bytes.size() > 0) cells.bytes = balance::in_parts_of_bytes(span_of(e.bytes));
    return cells;
}

void require(const std::string& flaw) {
    if (!flaw.empty()) throw py::value_error("the series: " + flaw);
}

app::Deck deck_of(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                  const Grid& grid, bool counted, bool ahead, bool optimum) {
    app::Deck deck = app::parse_balance(text, file, settings);
    if (!counted) deck.balance.constants.start = balance::Start::uniform;
    const app::SeriesLacks lacks{counted ? "" : "there is no argument particles",
                                 ahead ? "" : "there is no argument particles_ahead"};
    app::check_replay(deck, grid, lacks, optimum, 1);
    return deck;
}

// The scale of a series, of which every number is looked at.
double scale_of(const py::function& entry, std::int64_t entries, std::int64_t cells) {
    balance::SeriesNumbers numbers;
    for (std::int64_t t = 0; t < entries; ++t) {
        const Entry e(entry(t));
        require(numbers.flaw_of_entry(numbers.see(span_of(e.load), span_of(e.particles), span_of(e.bytes)), t));
        require(numbers.flaw_of_entry(numbers.see({}, span_of(e.ahead)), t, "/particles_ahead"));
    }
    require(numbers.flaw(cells));
    return balance::series_scale(numbers.largest, cells);
}

// The values of Cost in the package, by the names of the contenders.
py::dict in_tuples(const std::vector<balance::ContenderCost>& costs) {
    py::dict all;
    std::vector<balance::Excess> over(costs.size());
    for (const balance::Excess& e : balance::ranking(costs)) over[e.contender] = e;
    for (std::size_t m = 0; m < costs.size(); ++m) {
        const balance::ContenderCost& c = costs[m];
        all[py::str(c.name)] = py::make_tuple(c.seconds(), c.computing_seconds, c.balancing_seconds, c.balancings,
                                              c.migrations, c.ghost_cells, over[m].part, over[m].error, c.ghost_bytes);
    }
    return all;
}

py::dict replay(const py::function& entry, const std::vector<std::int64_t>& steps, const Grid& grid, bool counted,
                bool ahead, const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                const std::vector<py::dict>& own, bool optimum, bool all_owners, const py::object& progress) {
    const app::Deck deck = deck_of(text, file, settings, grid, counted, ahead, optimum);
    const std::int64_t processes = *deck.balance.processes, cells = grid.box().cells();
    const double scale = scale_of(entry, std::ssize(steps), cells);
    std::vector<std::int64_t> times;  // opportunities, the first of which is the start
    for (std::int64_t t = 0; t < std::ssize(steps); ++t)
        if (t == 0 || app::is_opportunity(deck.balance, steps[t])) times.push_back(t);
    const comm::Communicator alone;
    const balance::SerialTeam team;
    const app::RoundMeter meter;
    balance::Policy policy = policy_of(deck.balance, processes, alone);
    policy.counting.cells_move = !counted;
    policy.end = app::last_opportunity(deck.balance, steps.back());
    add_candidates(policy, deck.balance, grid, {false, counted, ahead});
    balance::Replay run(team, grid, {processes, 1}, std::move(policy), meter, scale, deck.balance.constants,
                        deck.balance.driver(), others_of(deck.balance, processes, alone), optimum);
    const std::vector<balance::BalancedModel>& models = run.state().models;
    std::set<std::string> labels;
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (i < own.size()) give(run.contender(i), own[i], grid);
        if (!labels.insert(models[i].label).second)
            throw py::value_error("compare: " + models[i].label + " is there twice; give one a name");
    }
    std::vector<Array<std::int32_t>> owners;
    for (std::size_t m = 0; m < (all_owners ? models.size() : 1); ++m)
        owners.emplace_back(std::vector<std::int64_t>{std::ssize(times), cells});
    const app::Columns<balance::BalanceRow>& columns = app::balance_columns();
    std::string rows = head_of(columns);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const std::int64_t step = steps[times[i]];
        balance::HomeCells home = cells_of(Entry(entry(times[i])), grid, scale);
        const balance::RoundOutcome outcome = without_lock([&] {
            return run.balance(step, std::move(home), disturbance_of(deck, {0, processes}, step));
        });
        app::require_partition(step, outcome.dead_end);
        for (const balance::BalanceRow& row : outcome.rows)
            for (const auto& c : columns) rows += &c == &columns.front() ? '\n' : ',', c.append(row, rows);
        for (std::size_t m = 0; m < owners.size(); ++m)
            std::ranges::copy(span_of(owners_of(grid, models[m].partition)), owners[m].mutable_data(i, 0));
        progress(i + 1, times.size());  // on Ctrl-C it does not return
    }
    const std::vector<balance::ContenderCost> costs = run.costs();
    py::dict lbe;
    for (const app::Overall& o : app::overall_of(models)) lbe[py::str(o.model)] = o.lbe;
    std::vector<std::string> notes = app::never_balanced(models);
    if (times.size() == 1) notes.emplace_back("nothing was balanced: no entry after the start has a step for it");
    for (std::int64_t& t : times) t = steps[t];
    const auto best = without_lock([&] {
        return run.optimum([] {
            const py::gil_scoped_acquire held;
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        });
    });
    return py::dict("rows"_a = rows + "\n", "costs"_a = in_tuples(costs), "lbe"_a = lbe, "owners"_a = owners,
                    "steps"_a = times, "speeds"_a = run.state().speeds.relative(), "notes"_a = notes,
                    "least_time"_a = app::least_time(costs),
                    "prices"_a = app::prices_in_words(deck.balance.work, !counted, processes),
                    "optimum"_a = best ? py::object(py::make_tuple(best->seconds, best->steps)) : py::none());
}

using Memory = balance::Scattered<balance::Split>;

Array<std::int32_t> partition(const Array<std::int64_t>& load, const Array<std::int64_t>& size, const Grid& grid,
                              const std::vector<std::string>& settings, const std::vector<double>& given,
                              Memory& memory) {
    const app::Deck deck = deck_of("", "", settings, grid, size.size() > 0, false, false);
    const balance::SerialTeam team;
    const balance::PartitionOptions options = policy_of(deck.balance, *deck.balance.processes, {}).partition;
    const balance::Hosts hosts(options.processes, 1);
    balance::Speeds speeds(options.processes);
    if (!given.empty()) speeds.set(given);
    const balance::PartitionInput input{team, grid, hosts, span_of(load), span_of(size), speeds.targets()};
    return owners_of(grid, without_lock([&] { return make_partition(input, options, memory); }));
}

std::int64_t ghosts(const Array<std::int32_t>& owner, const Grid& grid, std::int64_t parts) {
    return ghost_cells(balance::Owners(grid, grid.box(), all_of(lines_of(grid, span_of(owner), parts))));
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    py::register_local_exception<app::RunError>(m, "Error", PyExc_ValueError);
    py::register_local_exception<balance::Infeasible>(m, "Infeasible", PyExc_ValueError);
    py::class_<Grid>(m, "Grid").def(
        py::init([](const std::array<int, 3>& cells, const std::array<bool, 3>& periodic, int dimensions) {
            return Grid{cells, periodic, dimensions};
        }));
    py::class_<Memory>(m, "Memory").def(py::init<>());
    m.def("replay", &replay);
    m.def("partition", &partition);
    m.def("ghosts", &ghosts);
}
