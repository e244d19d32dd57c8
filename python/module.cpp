// SPDX-License-Identifier: MIT
// The module steelyard._core: replays and partitions of arrays by the library balance, without MPI and files. Options
// come as settings `key.path=value` of a deck, so their checks and messages are the program's. Arrays come as
// [t, z, y, x], and callables see [y, x] or [z, y, x].
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>

#include "app/balancing/contenders.hpp"
#include "app/balancing/simulated_cost.hpp"
#include "app/deck/checks.hpp"
#include "app/output/series/tables.hpp"
#include "balance/model/work.hpp"
#include "balance/partition/cell_graph.hpp"
#include "balance/partition/quality.hpp"
#include "tools/replay/replay_checks.hpp"

namespace py = pybind11;

namespace {

using balance::Grid;
using Loads = py::array_t<double, py::array::c_style>;

// Calls visit(place of a cell in an array, place of it in the library's order) for each cell of a grid.
template <class Visit>
void for_each_cell(const Grid& grid, Visit visit) {
    std::int64_t in_array = 0;
    for (int z = 0; z < grid.cells[2]; ++z)
        for (int y = 0; y < grid.cells[1]; ++y)
            for (int x = 0; x < grid.cells[0]; ++x) visit(in_array++, balance::place_in(grid.box(), x, y, z));
}

std::vector<py::ssize_t> shape_of(const Grid& grid) {
    std::vector<py::ssize_t> shape(grid.cells.rend() - grid.dimensions, grid.cells.rend());
    return shape;
}

template <class T, class Value>
py::array_t<T> array_of(const Grid& grid, Value value) {  // value(place in the library's order)
    py::array_t<T> made(shape_of(grid));
    for_each_cell(grid, [to = made.mutable_data(), &value](auto a, auto cell) { to[a] = static_cast<T>(value(cell)); });
    return made;
}

// The cells of an array of the grid's shape that a callable has returned.
template <class T>
py::array_t<T> array_from(const py::object& found, const Grid& grid, const std::string& who, const char* kinds) {
    const auto any = py::reinterpret_borrow<py::array>(py::module_::import("numpy").attr("asarray")(found));
    const std::vector<py::ssize_t> shape = shape_of(grid);
    if (!std::equal(shape.begin(), shape.end(), any.shape(), any.shape() + any.ndim()))
        throw py::value_error(who + ": it returns an array of shape " + std::string(py::str(any.attr("shape"))) +
                              "; return one of shape " + std::string(py::str(py::tuple(py::cast(shape)))));
    if (std::string(kinds).find(any.dtype().kind()) == std::string::npos)
        throw py::value_error(who + ": it returns an array of " + std::string(py::str(any.dtype())) +
                              "; return numbers, and whole ones for owners");
    return py::array_t<T, py::array::c_style | py::array::forcecast>(any);
}

std::vector<std::int32_t> parts_from(const py::object& found, const Grid& grid, std::int64_t parts,
                                     const std::string& who) {
    const py::array_t<std::int64_t> owner = array_from<std::int64_t>(found, grid, who, "iu");
    std::vector<std::int32_t> part(owner.size());
    for_each_cell(grid, [&](auto a, auto cell) {
        const std::int64_t p = owner.data()[a];
        if (p < 0 || p >= parts)
            throw py::value_error(fmt::format("{}: an owner is {}; use numbers from 0 to {}", who, p, parts - 1));
        part[cell] = static_cast<std::int32_t>(p);
    });
    return part;
}

void write_owners(const Grid& grid, const balance::ProcessBoxes& all, std::int32_t* to) {
    const balance::Owners owners(grid, grid.box(), all);
    std::vector<std::int32_t> owner(grid.box().cells());
    owners.for_each([&](std::size_t cell, std::int32_t process) { owner[cell] = process; });
    for_each_cell(grid, [&](auto a, auto cell) { to[a] = owner[cell]; });
}

py::array_t<std::int32_t> owner_array(const Grid& grid, const balance::ProcessBoxes& all) {
    py::array_t<std::int32_t> made(shape_of(grid));
    write_owners(grid, all, made.mutable_data());
    return made;
}

struct OwnModel final : balance::LoadModel {
    OwnModel(Grid g, py::object o, std::string n, bool has) : grid(g), object(std::move(o)), who(n), counted(has) {}
    double first_state(const balance::CellCounts&) const override { return 0; }
    bool needs_particles() const override { return false; }
    bool sees_all() const override { return true; }
    void update(const balance::ProcessView&, const balance::Totals&, std::span<double>) const override {}
    void update_all(const balance::ProcessBoxes& owners, std::span<const double> times,
                    std::span<const balance::CellCounts> counts, std::span<double> load) override {
        const py::gil_scoped_acquire held;
        py::object particles = py::none();
        if (counted) particles = array_of<std::int64_t>(grid, [&](auto cell) { return counts[cell].n; });
        const py::array_t<double> found =
            array_from<double>(object.attr("update")(py::array_t<double>(std::ssize(times), times.data()), particles,
                                                     owner_array(grid, owners)),
                               grid, who + ".update", "iuf");
        for_each_cell(grid, [&](auto a, auto cell) {
            load[cell] = found.data()[a];
            if (!(load[cell] >= 0 && std::isfinite(load[cell])))
                throw py::value_error(fmt::format("{}.update: a load is {}; return loads >= 0", who, load[cell]));
        });
    }
    Grid grid;
    py::object object;
    std::string who;
    bool counted;
};

struct Seen : balance::Opportunity {
    double lost = 0, cost = 0;
};

// Without lost(), the loss is that of the criterion menon.
struct OwnCriterion final : balance::Criterion {
    OwnCriterion(py::object o, std::string n) : object(std::move(o)), who(std::move(n)) {}
    double lost(const balance::Opportunity& now, std::span<double>) const override {
        const py::gil_scoped_acquire held;
        seen = {now};
        if (!py::hasattr(object, "lost")) return now.lost_before + std::max(0.0, now.largest - now.mean) * now.steps;
        const auto lost = object.attr("lost")(seen).cast<double>();
        if (!(lost >= 0 && std::isfinite(lost)))
            throw py::value_error(fmt::format("{}.lost: it returns {}; return seconds >= 0", who, lost));
        return lost;
    }
    bool balances(double lost, double cost) const override {
        const py::gil_scoped_acquire held;
        seen.lost = lost, seen.cost = cost;
        const py::object answer = (py::hasattr(object, "decide") ? object.attr("decide") : object)(seen);
        if (answer.is_none()) throw py::value_error(who + ": it returns nothing; return True or False");
        return py::bool_(answer);
    }
    py::object object;
    std::string who;
    mutable Seen seen;
};

balance::Partitioner own_partitioner(const balance::BalancedModel& b, py::object call, std::string who) {
    return [&b, call = std::move(call), who = std::move(who)](const balance::PartitionInput& in,
                                                              const balance::PartitionOptions& options,
                                                              balance::Scattered<balance::Split>&) {
        const py::gil_scoped_acquire held;
        const auto load = array_of<std::int64_t>(in.grid, [&](auto cell) { return in.load[cell]; });
        const py::object found = call(load, options.processes, owner_array(in.grid, b.partition));
        return all_of(lines_of(in.grid, parts_from(found, in.grid, options.processes, who), options.processes));
    };
}

// own: name, model, criterion, criterion_name, partition, as far as the contender has its own.
void give(balance::BalancedModel& b, const py::dict& own, const Grid& grid, bool has_particles) {
    if (own.contains("name")) b.label = own["name"].cast<std::string>();
    if (own.contains("model")) b.model = std::make_unique<OwnModel>(grid, own["model"], b.label, has_particles);
    if (own.contains("criterion")) {
        b.criterion = std::make_unique<OwnCriterion>(own["criterion"], b.label);
        b.contender.criterion.name = own["criterion_name"].cast<std::string>();
    }
    if (own.contains("partition")) b.partitioner = own_partitioner(b, own["partition"], b.label);
}

// An entry of a series: loads, and particles or None.
struct Entry {
    explicit Entry(const py::tuple& found) : load(found[0].cast<Loads>()) {
        if (!found[1].is_none()) particles = found[1].cast<Loads>();
    }
    std::span<const double> loads() const { return {load.data(), static_cast<std::size_t>(load.size())}; }
    std::span<const double> counts() const { return {particles.data(), static_cast<std::size_t>(particles.size())}; }
    balance::HomeCells cells(const Grid& grid, double scale) const {
        balance::HomeCells home;
        home.work.resize(load.size());
        std::vector<std::int64_t> count(particles.size());
        for_each_cell(grid, [&](auto a, auto cell) {
            home.work[cell] = balance::to_ticks(loads()[a] * scale);
            if (!count.empty()) count[cell] = static_cast<std::int64_t>(counts()[a]);
        });
        if (count.empty()) home.counts.resize(home.work.size());
        else home.counts = balance::counts_around(count, grid);
        return home;
    }
    Loads load, particles{0};
};

// cells, periodic: along x, y, z.
Grid grid_of(const std::array<int, 3>& cells, const std::array<bool, 3>& periodic, int dimensions) {
    return {cells, periodic, dimensions};
}

app::Deck deck_of(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                  const Grid& grid, bool has_particles, bool optimum) {
    app::Deck deck = app::parse_balance(text, file, settings);
    if (!has_particles) deck.balance.constants.start = balance::Start::uniform;
    app::check_replayable(deck, {grid, has_particles ? "" : "there is no argument particles"}, optimum, 1);
    return deck;
}

const char* const series = "the series";

py::dict replay(const py::function& entry, const std::vector<std::int64_t>& steps, const Grid& grid, bool has_particles,
                const std::tuple<std::string, std::string, std::vector<std::string>>& text,
                const std::vector<py::dict>& own, bool optimum, bool all_owners, const py::object& progress) {
    const app::Deck deck =
        deck_of(std::get<0>(text), std::get<1>(text), std::get<2>(text), grid, has_particles, optimum);
    app::require_ascending(steps, series);
    app::SeriesNumbers numbers;
    std::vector<std::int64_t> times;  // opportunities, the first of which is the start
    for (std::int64_t t = 0; t < std::ssize(steps); ++t) {
        const Entry e(entry(t));
        numbers.see(e.loads(), e.counts());
        app::require_entry(numbers, t, series);
        if (t == 0 || steps[t] % std::max<std::int64_t>(deck.balance.every, 1) == 0) times.push_back(t);
    }
    app::require_sums(numbers, grid.box().cells(), series);
    const double scale = balance::series_scale(numbers.largest, grid.box().cells());
    const comm::Communicator alone;
    const balance::SerialTeam team;
    const app::RoundMeter meter;
    const std::int64_t processes = *deck.balance.processes;
    balance::Replay run(team, grid, {processes, 1}, policy_of(deck.balance, processes, alone), meter, scale,
                        deck.balance.constants, deck.balance.model, others_of(deck.balance, processes, alone), optimum);
    const std::size_t contenders = run.state().models.size(), watched = all_owners ? contenders : 1;
    for (std::size_t i = 0; i < own.size(); ++i) give(run.contender(i), own[i], grid, has_particles);
    std::vector<py::ssize_t> shape = shape_of(grid);
    shape.insert(shape.begin(), std::ssize(times));
    std::vector<py::array_t<std::int32_t>> owners;
    for (std::size_t i = 0; i < watched; ++i) owners.emplace_back(shape);
    const app::Columns<balance::Row>& columns = app::balance_columns();
    std::string rows = head_of(columns);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const std::int64_t step = steps[times[i]];
        const Entry e(entry(times[i]));
        balance::Outcome outcome;
        {
            const py::gil_scoped_release free;
            outcome = run.balance(step, e.cells(grid, scale), disturbance_of(deck, {0, processes}, step));
        }
        app::require_partition(step, outcome);
        for (const balance::Row& row : outcome.rows)
            for (const auto& c : columns) rows += &c == &columns.front() ? '\n' : ',', c.append(row, rows);
        for (std::size_t m = 0; m < watched; ++m)
            write_owners(grid, run.state().models[m].partition,
                         owners[m].mutable_data() + static_cast<std::int64_t>(i) * grid.box().cells());
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        progress(i + 1, times.size());
    }
    py::dict result;
    py::list names, costs;
    for (const balance::ContenderCost& c : run.costs())
        costs.append(py::make_tuple(c.computing_seconds, c.balancing_seconds, c.balancings, c.migrations));
    for (const balance::BalancedModel& b : run.state().models) names.append(b.label);
    py::dict overall;
    for (const app::Overall& o : app::overall_of(run.state().models)) overall[py::str(o.model)] = o.lbe;
    std::vector<std::int64_t> at;
    for (const std::int64_t t : times) at.push_back(steps[t]);
    result["rows"] = rows + "\n";
    result["names"] = names;
    result["costs"] = costs;
    result["lbe"] = overall;
    result["owners"] = owners;
    result["steps"] = at;
    result["speeds"] = run.state().speeds.relative();
    result["notes"] = app::never_balanced(run.state().models);
    result["optimum"] = py::none();
    if (const auto best = run.optimum()) result["optimum"] = py::make_tuple(best->seconds, best->steps);
    return result;
}

using Memory = balance::Scattered<balance::Split>;

py::array_t<std::int32_t> partition(const py::tuple& entry, const Grid& grid, const std::vector<std::string>& settings,
                                    const std::vector<double>& given, Memory& memory) {
    const Entry e(entry);
    const app::Deck deck = deck_of("", "", settings, grid, !entry[1].is_none(), false);
    app::SeriesNumbers numbers;
    numbers.see(e.loads(), e.counts());
    app::require_entry(numbers, 0, series);
    app::require_sums(numbers, grid.box().cells(), series);
    const double scale = balance::load_scale(numbers.largest, grid.box().cells());
    std::vector<std::int64_t> load(e.load.size()), size(e.particles.size());
    for_each_cell(grid, [&](auto a, auto cell) {
        load[cell] = balance::rounded(e.loads()[a] * scale);
        if (!size.empty()) size[cell] = static_cast<std::int64_t>(e.counts()[a]);
    });
    balance::Speeds speeds(*deck.balance.processes);
    if (!given.empty()) speeds.set(given);
    const balance::SerialTeam team;
    const balance::Hosts hosts(*deck.balance.processes, 1);
    balance::Outcome outcome;
    balance::ProcessBoxes made;
    try {
        const py::gil_scoped_release free;
        made = make_partition({team, grid, hosts, load, size, speeds.targets()},
                              policy_of(deck.balance, *deck.balance.processes, {}).partition, memory);
    } catch (const balance::Infeasible& none) {
        outcome.dead_end = none;
    }
    app::require_partition(0, outcome);
    return owner_array(grid, made);
}

std::int64_t ghosts(const py::object& owner, const Grid& grid, std::int64_t parts) {
    const balance::Partition partition = lines_of(grid, parts_from(owner, grid, parts, "owner"), parts);
    return ghost_cells(balance::Owners(grid, grid.box(), all_of(partition)));
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    using Now = balance::Opportunity;
    py::register_local_exception_translator([](std::exception_ptr thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const app::RunError& e) {  // options of the command line are arguments here
            const std::string_view text = e.what(), option = "--set ";
            PyErr_SetString(PyExc_ValueError, text.data() + (text.starts_with(option) ? option.size() : 0));
        }
    });
    py::class_<Grid>(m, "Grid").def(py::init(&grid_of));
    py::class_<Memory>(m, "Memory").def(py::init<>());
    py::class_<Seen>(m, "Opportunity")
        .def_readonly("steps", &Now::steps)
        .def_readonly("mean", &Now::mean)
        .def_readonly("largest", &Now::largest)
        .def_readonly("spent_mean", &Now::spent_mean)
        .def_readonly("spent_largest", &Now::spent_largest)
        .def_readonly("reachable", &Now::reachable)
        .def_readonly("lost_before", &Now::lost_before)
        .def_readonly("lost", &Seen::lost)
        .def_readonly("cost", &Seen::cost)
        .def_property_readonly("lbe", [](const Seen& now) { return now.lbe(); });
    m.def("replay", &replay);
    m.def("partition", &partition);
    m.def("ghosts", &ghosts);
}
