// SPDX-License-Identifier: MIT
// What each model promises: properties over many balancings of a small team of processes with known costs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "balance/model/exact_sum.hpp"
#include "balance/model/load_model.hpp"
#include "balance/partition/quality.hpp"

using namespace balance;

namespace {

// Processes that own fixed runs of cells; costs are known, times are their sums.
struct World {
    std::vector<CellCounts> cells;
    std::vector<double> cost, state;
    std::vector<std::size_t> first;  // by process, one more at the end

    World(int processes, int each) {
        for (int p = 0; p < processes; ++p) {
            first.push_back(cells.size());
            for (int c = 0; c < each + p % 3; ++c) {
                const int i = static_cast<int>(cells.size()), n = i % 7 == 0 ? 0 : 3 + i * 13 % 11;
                cells.push_back({n, 9 * n + i % 4, 25 * n + i % 9});
            }
        }
        first.push_back(cells.size());
        for (const CellCounts& c : cells) cost.push_back(1e-9 + 8e-9 * c.n + 1e-9 * c.n * c.n3);
    }
    std::int64_t processes() const { return static_cast<std::int64_t>(first.size()) - 1; }
    double time(std::int64_t p) const {
        return std::accumulate(cost.begin() + first[p], cost.begin() + first[p + 1], 0.0);
    }

    /// One balancing by times that are `scale` times the true ones; returns the loads.
    std::vector<double> balance(LoadModel& model, double scale = 1) {
        if (state.empty())
            for (const CellCounts& c : cells) state.push_back(model.first_state(c));
        std::vector<ProcessView> views;
        std::vector<double> times;
        Totals totals{0, 0, static_cast<std::int64_t>(cells.size()), processes()};
        for (const CellCounts& c : cells) totals.particles += c.n;
        for (std::int64_t p = 0; p < processes(); ++p) {
            times.push_back(scale * time(p));
            totals.time += times.back();
            views.push_back({std::span(cells).subspan(first[p], first[p + 1] - first[p]),
                             std::span(state).subspan(first[p], first[p + 1] - first[p]), times.back(), p});
        }
        std::vector<std::vector<double>> contributions(views.size());
        for (int round = 0; round < model.rounds(); ++round) {
            std::vector<double> rows;
            for (std::size_t p = 0; p < views.size(); ++p) {
                contributions[p] = model.contribution(round, views[p]);
                rows.insert(rows.end(), contributions[p].begin(), contributions[p].end());
            }
            model.learn(round, model.conclude(round, rows, times));
        }
        for (std::size_t p = 0; p < views.size(); ++p) views[p].contribution = contributions[p];
        std::vector<double> load(cells.size());
        for (const ProcessView& v : views)
            model.update(v, totals, std::span(load).subspan(first[v.index], v.cells.size()));
        return load;
    }
    double sum(const std::vector<double>& load, std::int64_t p) const {
        return std::accumulate(load.begin() + first[p], load.begin() + first[p + 1], 0.0);
    }
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double d = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) d += (a[i] - b[i]) * (a[i] - b[i]), norm += b[i] * b[i];
    return std::sqrt(d / norm);
}

}  // namespace

TEST_CASE("every model gives finite loads that are not negative, also for idle and empty processes") {
    for (const std::string& name : model_names()) {
        CAPTURE(name);
        World w(5, 6);
        w.first.insert(w.first.begin() + 2, w.first[2]);  // a process without cells
        for (std::size_t i = w.first[3]; i < w.first[4]; ++i) w.cells[i] = {}, w.cost[i] = 0;  // one that needs no time
        const auto model = make_model(name, {});
        for (int i = 0; i < 5; ++i)
            for (double l : w.balance(*model)) CHECK((std::isfinite(l) && l >= 0 && !std::signbit(l)));
    }
    CHECK_THROWS_AS(make_model("c3", {}), std::invalid_argument);
}

TEST_CASE("loads of measured models add up to each process's time") {
    for (const std::string name : {"time_average", "hybrid", "a1", "b1"}) {
        CAPTURE(name);
        World w(7, 9);
        const auto model = make_model(name, {});
        for (int i = 0; i < 3; ++i) {
            const std::vector<double> load = w.balance(*model);
            for (std::int64_t p = 0; p < w.processes(); ++p) CHECK(w.sum(load, p) == Approx(w.time(p)).epsilon(1e-12));
        }
    }
}

TEST_CASE("formulas of the paper's models") {
    World w(3, 4);
    const std::int64_t n1 = [&] {
        std::int64_t n = 0;
        for (std::size_t i = w.first[1]; i < w.first[2]; ++i) n += w.cells[i].n;
        return n;
    }();
    const double t1 = w.time(1), cells1 = static_cast<double>(w.first[2] - w.first[1]);
    const std::size_t i = w.first[1] + 1;
    CHECK(w.balance(*make_model("time_average", {}))[i] == Approx(t1 / cells1));
    CHECK(w.balance(*make_model("particle_count", {}))[i] == w.cells[i].n);
    CHECK(w.balance(*make_model("hybrid", {}))[i] == Approx(w.cells[i].n * t1 / static_cast<double>(n1)));
    // Moving average: the first value is the share itself, then a quarter of it is new.
    World v(3, 4);
    ModelConstants quarter;
    quarter.weight = 0.25;
    const auto moving = make_model("moving_average", quarter);
    CHECK(v.balance(*moving)[i] == Approx(t1 / cells1));
    CHECK(v.balance(*moving, 3)[i] == Approx(1.5 * t1 / cells1));
    // A1 within the threshold keeps its loads as they are.
    ModelConstants c;
    c.threshold = 0.09;
    World u(3, 4);
    const auto a1 = make_model("a1", c);
    const std::vector<double> before = u.balance(*a1), same = u.balance(*a1, 1.05), other = u.balance(*a1, 1.5);
    CHECK(same == before);
    CHECK(other != before);
}

TEST_CASE("r1 finds costs that its features explain, and learns those they don't") {
    World w(40, 12);
    ModelConstants c;
    c.costs = {1e-9, 1e-9, 1e-9, 1e-9};  // a bad first guess
    const auto r1 = make_model("r1", c);
    std::vector<double> load = w.balance(*r1);
    CHECK(distance(load, w.cost) < 0.01);
    // Cells of process 7 cost three times as much for no visible reason: its loads must follow within a few balancings.
    for (std::size_t i = w.first[7]; i < w.first[8]; ++i) w.cost[i] *= 3;
    for (int i = 0; i < 12; ++i) load = w.balance(*r1);
    for (std::int64_t p = 0; p < w.processes(); ++p) CHECK(w.sum(load, p) == Approx(w.time(p)).epsilon(0.03));
}

TEST_CASE("r1_ahead learns as r1 does, and gives the loads of what cells will hold") {
    World now(20, 9), same = now;
    const auto r1 = make_model("r1", {}), ahead = make_model("r1_ahead", {});
    CHECK((ahead->wants_ahead() && !r1->wants_ahead()));
    for (int i = 0; i < 3; ++i) CHECK(now.balance(*r1, 1 + 0.1 * i) == same.balance(*ahead, 1 + 0.1 * i));
    // The next cell's particles come.
    std::vector<CellCounts> next(now.cells.begin() + 1, now.cells.end());
    next.push_back(now.cells.front());
    std::vector<double> state(now.cells.size(), 1.0), as_now(next.size()), then(next.size());
    ExactSum seconds;
    seconds.add(0.9);  // where the process took one
    const std::array expected{seconds.coarse, seconds.fine};
    r1->update({.cells = next, .state = state, .time = 1, .index = 0, .contribution = expected}, {}, as_now);
    std::fill(state.begin(), state.end(), 1.0);
    ahead->update({.cells = now.cells, .state = state, .time = 1, .index = 0, .ahead = next, .contribution = expected},
                  {}, then);
    CHECK(then == as_now);
}

TEST_CASE("what a model has learnt can be saved and restored") {
    for (const std::string& name : model_names()) {
        CAPTURE(name);
        World w(12, 8);
        const auto model = make_model(name, {});
        const auto disturb = [&w](int by) {  // deviations that r1 takes for noise, and must remember as such
            for (std::int64_t q = 0; q < w.processes(); ++q)
                for (std::size_t i = w.first[q]; i < w.first[q + 1]; ++i)
                    w.cost[i] *= 1 + 0.02 * static_cast<double>((q * 5 + by * 3) % 7 - 3);
        };
        for (int i = 0; i < 3; ++i) {
            disturb(i);
            w.balance(*model);
        }
        disturb(3);
        World again = w;
        const auto restored = make_model(name, {});
        // What a model has learnt is what it accepts from a file, and nothing else.
        CHECK(restored->accepts_memory(model->memory()));
        CHECK(restored->accepts_memory(make_model(name, {})->memory()));
        CHECK(restored->accepts_state(model->first_state({3, 9, 20})));
        CHECK(std::all_of(w.state.begin(), w.state.end(), [&](double v) { return restored->accepts_state(v); }));
        for (double nonsense : {-5.0, 1e300, std::nan("")}) {
            CHECK_FALSE(restored->accepts_state(nonsense));
            std::vector<double> memory = model->memory();
            if (memory.empty()) continue;
            memory.back() = nonsense;
            CHECK_FALSE(restored->accepts_memory(memory));
        }
        std::vector<double> longer = model->memory();
        longer.push_back(0);
        CHECK_FALSE(restored->accepts_memory(longer));
        restored->set_memory(model->memory());
        CHECK(w.balance(*model, 1.2) == again.balance(*restored, 1.2));
    }
}

TEST_CASE("first loads are the particle counts, or all equal") {
    CHECK(first_load(Start::particles, {3, 9, 20}) == 3);
    CHECK(first_load(Start::particles, {}) == 0);
    CHECK(first_load(Start::uniform, {3, 9, 20}) == 1);
    CHECK(first_load(Start::uniform, {}) == 1);
}

TEST_CASE("efficiency is mean over largest") {
    CHECK(efficiency(std::vector<double>{1, 2, 3}) == Approx(2.0 / 3));
    CHECK(efficiency(std::vector<double>{}) == 1);
    CHECK(efficiency(std::vector<double>{0, 0}) == 1);
}
