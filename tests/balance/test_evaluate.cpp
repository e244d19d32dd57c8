// SPDX-License-Identifier: MIT
// Load models run over a partition by a team: what comes out does not depend on who hosts which process.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "balance/model/counted_work.hpp"
#include "balance/model/evaluate.hpp"
#include "balance/model/exact_sum.hpp"
#include "cell_work.hpp"
#include "random_partition.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

const Grid grid{{19, 14, 1}, {true, true, false}};
constexpr std::int64_t processes = 5;

CellCounts counts_at(int x, int y) {
    const int n = (x * 3 + y * 5) % 7 == 0 ? 0 : 2 + (x + y) % 5;
    return {n, 8 * n + x % 3, 22 * n + y % 4};
}

// Loads of the whole grid, in the model's unit, after some balancings.
struct Learnt {
    std::vector<std::int64_t> load;
    std::vector<double> state, memory;
    double unit = 0;
    friend bool operator==(const Learnt&, const Learnt&) = default;
};
// whole_processes: the model is shown whole processes, though it may be additive.
Learnt learn(const Team& team, const std::string& name, const Hosts& hosts, bool whole_processes = false) {
    const Box home = Homes{grid, team.size()}.of(team.rank());
    const auto model = make_model(name, ModelConstants{});
    std::vector<CellCounts> counts;
    std::vector<double> state;
    for (int x = home.lower[0]; x < home.upper[0]; ++x)
        for (int y = home.lower[1]; y < home.upper[1]; ++y) {
            counts.push_back(counts_at(x, y));
            state.push_back(model->first_state(counts.back()));
        }
    CellLoads loads;
    for (const std::uint64_t round : {1, 2, 3}) {
        const Partition partition = random_partition(grid, processes, round);
        std::vector<double> times;
        for (std::int64_t p = 0; p < processes; ++p)
            times.push_back(1e-3 * static_cast<double>(1 + (p * 7 + static_cast<std::int64_t>(round)) % 4));
        const ProcessBoxes known = all_of(partition);
        const ProcessCells cells = model->additive() && !whole_processes
                                       ? ProcessCells::at_home(team, grid, known, hosts)
                                       : ProcessCells::whole_processes(team, grid, known, hosts);
        const IndexRange mine = hosts.processes_of(team.rank());
        times = {times.begin() + mine.begin, times.begin() + mine.end};
        loads = evaluate(*model, team, grid, cells, counts, state, times);
    }
    const FieldPlan plan = plan_by_columns(team, grid);
    const auto whole = [&]<class T>(const std::vector<T>& field) {
        return all_gather<T>(team, plan.to_boxes(std::span<const T>(field)));
    };
    return {whole(loads.load), whole(state), model->memory(), loads.unit};
}

}  // namespace

TEST_CASE("what a model learns does not depend on the team or on who hosts which process") {
    const SerialTeam alone;
    for (const std::string& name : model_names()) {
        CAPTURE(name);
        const Learnt expected = learn(alone, name, Hosts(processes, 1));
        CHECK(*std::max_element(expected.load.begin(), expected.load.end()) > 0);
        for (const std::vector<std::int64_t>& first :
             {std::vector<std::int64_t>{0, 2, 5}, {0, 0, 5}, {0, 1, 3, 5}, {0, 1, 1, 2, 3, 4, 5, 5}}) {
            const Hosts hosts(first);
            const auto learnt =
                ThreadTeam::run(hosts.members(), [&](const Team& team) { return learn(team, name, hosts); });
            for (const Learnt& l : learnt) CHECK((l == expected));
        }
    }
}

TEST_CASE("an additive model learns the same from whole processes as from what they have in homes") {
    const Hosts hosts(std::vector<std::int64_t>{0, 2, 2, 5});
    for (const std::string& name : model_names()) {
        if (!make_model(name, ModelConstants{})->additive()) {
            CHECK((name != "r1" && name != "r1_ahead"));
            continue;
        }
        const auto in_pieces = ThreadTeam::run(3, [&](const Team& team) { return learn(team, name, hosts); });
        CHECK((in_pieces == ThreadTeam::run(3, [&](const Team& team) { return learn(team, name, hosts, true); })));
    }
}

TEST_CASE("an additive model may do without rounds") {
    struct Particles final : LoadModel {
        double first_state(const CellCounts&) const override { return 0; }
        bool additive() const override { return true; }
        void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
            for (std::size_t i = 0; i < load.size(); ++i) load[i] = p.cells[i].n;
        }
    };
    for (const int members : {1, 2, 7}) {
        const auto good = ThreadTeam::run(members, [&](const Team& team) {
            std::vector<CellCounts> counts;
            for_each_cell(Homes{grid, members}.of(team.rank()),
                          [&](int x, int y, int) { counts.push_back(counts_at(x, y)); });
            const ProcessBoxes known = all_of(random_partition(grid, processes, 2));
            const ProcessCells cells = ProcessCells::at_home(team, grid, known, Hosts(processes, members));
            Particles model;
            std::vector<double> state(counts.size(), 0.0);
            const std::vector<double> times(cells.hosted().size(), 1.0);
            const CellLoads loads = evaluate(model, team, grid, cells, counts, state, times);
            int right = loads.load.size() == counts.size();
            for (std::size_t i = 0; right == 1 && i < counts.size(); ++i)
                right = std::abs(static_cast<double>(loads.load[i]) * loads.unit - counts[i].n) < 1e-9;
            return right;
        });
        CHECK(good == std::vector<int>(members, 1));
    }
}

TEST_CASE("rows of pieces are summed for the hosts of their processes, and come back to all pieces") {
    const Grid space{{9, 11, 7}, {true, false, false}, 3};
    for (const Grid& g : {grid, space})
        for (const std::vector<std::int64_t>& first :
             {std::vector<std::int64_t>{0, 5}, {0, 2, 5}, {0, 0, 1, 1, 5}, {0, 1, 1, 2, 3, 4, 5, 5}}) {
            const Hosts hosts(first);
            const Partition partition = random_partition(g, processes, 4);
            const std::vector<int> owner = owners_of(g, partition);
            const auto wrong = ThreadTeam::run(hosts.members(), [&](const Team& team) {
                const ProcessCells cells = ProcessCells::at_home(team, g, all_of(partition), hosts);
                std::vector<double> rows;  // of each piece its cells, and what they weigh
                for (const Piece& p : cells.pieces()) {
                    double weight = 0;
                    for (const Box& b : p.boxes) for_each_cell(b, [&](int x, int y, int z) { weight += x * y + z; });
                    rows.insert(rows.end(), {static_cast<double>(p.cells), weight});
                }
                std::vector<double> expected(2 * cells.hosted().size());
                std::size_t at = 0;
                for_each_cell(g.box(), [&](int x, int y, int z) {
                    const std::int64_t place = owner[at++] - cells.hosted().begin;
                    if (place < 0 || place >= cells.hosted().size()) return;
                    expected[2 * place] += 1, expected[2 * place + 1] += x * y + z;
                });
                int differ = cells.sums_at_hosts(rows, 2) != expected;
                std::vector<double> names;
                for (std::int64_t p = cells.hosted().begin; p < cells.hosted().end; ++p)
                    names.push_back(static_cast<double>(p));
                const std::vector<double> back = cells.for_pieces(names, 1);
                for (std::size_t i = 0; i < back.size(); ++i)
                    differ += back[i] != static_cast<double>(cells.pieces()[i].process);
                return differ;
            });
            CHECK(wrong == std::vector<int>(wrong.size(), 0));
        }
}

TEST_CASE("an exact sum is the same in any order, and near the true one") {
    std::vector<double> seconds;
    for (int i = 0; i < 2000; ++i) seconds.push_back(1e-9 * (1 + i % 7) / 3 + (i % 50 == 0 ? 1.0 / 7 : 0) + 1e-13 * i);
    long double expected = 0;
    ExactSum forwards, backwards, halves[2];
    for (const double s : seconds) expected += s, forwards.add(s);
    for (std::size_t i = seconds.size(); i-- > 0;) backwards.add(seconds[i]), halves[i % 3 == 0].add(seconds[i]);
    CHECK(forwards.seconds() == backwards.seconds());
    CHECK(forwards.coarse == halves[0].coarse + halves[1].coarse);
    CHECK(forwards.fine == halves[0].fine + halves[1].fine);
    CHECK(forwards.coarse == std::round(forwards.coarse));
    CHECK(forwards.fine == std::round(forwards.fine));
    CHECK(forwards.seconds() == Approx(static_cast<double>(expected)).epsilon(1e-15));
    ExactSum small;
    small.add(1e-10);
    CHECK(small.seconds() == Approx(1e-10).epsilon(1e-9));
}

TEST_CASE("the loads of a process add up to its time, by the models that share it out") {
    const SerialTeam alone;
    const Partition partition = random_partition(grid, processes, 3);
    const std::vector<int> owner = owners_of(grid, partition);
    for (const char* name : {"time_average", "hybrid", "a1", "b1"}) {
        const Learnt l = learn(alone, name, Hosts(processes, 1));
        std::vector<double> sums(processes, 0.0);
        for (std::size_t i = 0; i < l.load.size(); ++i) sums[owner[i]] += static_cast<double>(l.load[i]) * l.unit;
        for (std::int64_t p = 0; p < processes; ++p) {
            CAPTURE(name, p);
            CHECK(sums[p] == Approx(1e-3 * static_cast<double>(1 + (p * 7 + 3) % 4)).epsilon(1e-9));
        }
    }
}

TEST_CASE("work that is too much to be summed exactly is found, with the key that makes it so large") {
    const Box home = grid.box();
    std::vector<CellCounts> counts;
    std::vector<std::int64_t> neighbours;
    for (int x = 0; x < 19; ++x)
        for (int y = 0; y < 14; ++y) counts.push_back(counts_at(x, y)), neighbours.push_back(10 * counts.back().n);
    const SerialTeam alone;
    const auto found = [&](WorkCosts costs) {
        const CountedCells cells{home, {1.0, 1.0}, counts, neighbours};
        return excessive(alone, costs, cells, counted_work(costs, cells));
    };
    CHECK_FALSE(found(WorkCosts{}).has_value());
    WorkCosts costs;
    costs.pair = 1.5;
    const auto excess = found(costs);
    REQUIRE(excess.has_value());
    CHECK(std::string(excess->expensive.key) == "pair");
    double expected = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) expected += static_cast<double>(neighbours[i]) * 0.75;
    CHECK(excess->seconds == Approx(expected).epsilon(1e-3));
}

TEST_CASE("the work of a home is that of its cells, in the region and beside it") {
    WorkCosts costs;
    costs.region_factor = 1.7;
    costs.region_upper = {12.5, 9.9};
    for (const double lower : {0.0, 4.2, 12.5}) {
        costs.region_lower = {lower, lower};
        for (const Box& home : {grid.box(), Box{{3, 2, 0}, {9, 11, 4}}}) {
            std::vector<CellCounts> counts;
            for_each_cell(home, [&](int x, int y, int z) { counts.push_back(counts_at(x + z, y)); });
            const std::vector<std::int64_t> neighbours(counts.size(), 60);
            std::vector<std::int64_t> expected;
            for_each_cell(home, [&](int x, int y, int z) {
                expected.push_back(cell_work(costs, counts_at(x + z, y), 60, (x + 0.5) * 1.1, (y + 0.5) * 0.9));
            });
            CHECK(counted_work(costs, {home, {1.1, 0.9, 1.0}, counts, neighbours}) == expected);
        }
    }
}
