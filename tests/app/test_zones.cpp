// SPDX-License-Identifier: MIT
// Accelerators beside the CPU, on any number of ranks: whatever they compute, wherever the border lies and however it
// moves, every bit is that of a run without them. Threads stand in for the accelerators, and take the work of each
// launch in a random order.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "app/balancing/measure.hpp"
#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"
#include "comm/team.hpp"
#include "gpu/kernels/view.hpp"
#include "md/random.hpp"
#include "tests/app/run.hpp"

using namespace app;
using test::collision;
using test::world;

namespace {

const std::string walls = R"(
system:
  box: [60.0, 60.0]
  boundary: [reflecting, periodic]
  slabs:
    - {lower: [1, 1], upper: [30, 58], lattice: hexagonal, density: 0.8, temperature: 1.0, velocity: [-9.0, 3.0]}
run: {dt: 0.001, steps: 120}
)";

// Particles cross all edges of the box.
const std::string liquid = R"(
system:
  box: fit
  slabs:
    - {lattice: hexagonal, cells: [40, 23], density: 0.85, temperature: 4.0}
run: {dt: 0.002, steps: 120}
)";

struct Case {
    std::vector<std::string> settings;
    int devices = 1, threads = 1;
    std::uint64_t shuffle = 0;
};

std::vector<std::string> in_120_steps(std::vector<std::string> settings) {
    settings.push_back("run.steps=120");
    return settings;
}

// A run whose steps a test takes one by one.
class Run {
public:
    Run(const std::string& text, const Case& c)
        : deck(parse_deck(text, "test.yaml", in_120_steps(c.settings))),
          setup(with_accelerators(deck, c)),
          balancer(deck, setup.domain.grid(), processes(), world(), timers,
                   {static_cast<int>(setup.accelerators.devices.size()), setup.halo}),
          engine(setup, balancer.decomposition({8, 8}), world(), timers) {
        engine.fill(deck.system, balancer.decomposition({8, 8}));
    }

    std::int64_t processes() const { return deck.balance.processes.value_or(world().size()); }

    // One step; move: the border before it. Energies of the step.
    md::SystemSums step(std::int64_t n, bool move) {
        if (engine.displaced() || move) {
            engine.rebin();
            if (move) balancer.move_border(n, engine);
            engine.build_neighbour_lists();
        }
        engine.force_pass({n == 0 ? md::Kick::first : n == deck.run.steps ? md::Kick::last : md::Kick::middle, true});
        return engine.sums();
    }

    // All steps, with a border that jumps every seven of them where `jump`.
    std::vector<md::Int128> all_steps(bool jump) {
        std::vector<md::Int128> seen;
        for (std::int64_t n = 0; n <= deck.run.steps; ++n) {
            const bool move = jump ? n % 7 == 0 : n == 0 && balancer.zones().on();
            if (jump) {
                std::vector<double> shares;
                for (int r = 0; r < world().size(); ++r) {
                    const double x = static_cast<double>(md::mix(1000 * n + r) % 1000) / 800;
                    shares.insert(shares.end(), {std::min(1.0, x), 0.0});  // often all that is possible
                }
                REQUIRE(balancer.zones().restore(shares));
            }
            const md::SystemSums s = step(n, move);
            seen.insert(seen.end(),
                        {s.particles, s.pairs, s.momentum[0], s.momentum[1], s.kinetic, s.energy, s.virial});
        }
        return seen;
    }

    const Deck deck;
    const Setup setup;
    Timers timers;
    LoadBalancer balancer;
    EngineOf<2> engine;

private:
    static Setup with_accelerators(const Deck& deck, const Case& c) {
        Setup s = make_setup(deck, "");
        add_accelerators(s, deck, 0, 1);
        s.accelerators.shuffle = c.shuffle;
        s.accelerators.threads = c.threads;
        if (deck.accelerator.backend != AcceleratorBackend::none) s.accelerators.devices.assign(c.devices, 0);
        return s;
    }
};

std::vector<std::string> zone_of(double share, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"accelerator.backend=host", "accelerator.controller=fixed",
                             "accelerator.share=" + std::to_string(share)});
    return more;
}

std::int64_t on_accelerators(const EngineOf<2>& engine) {
    std::array<std::int64_t, 1> n{0};
    for (std::size_t t = engine.tiles().on_cpu(); t < engine.tiles().size(); ++t) n[0] += engine.tiles().particles(t);
    world().sum(std::span<std::int64_t>(n));
    return n[0];
}

}  // namespace

TEST_CASE("accelerators compute the same bits as the CPU, whatever their share") {
    // Many ranks on few cores are slow.
    const std::vector<double> shares = world().size() > 2 ? std::vector{0.9, 1.0} : std::vector{0.1, 0.5, 0.9, 1.0};
    for (const std::string& text : {collision, walls, liquid})
        for (const std::string precision : {"run.precision=mixed", "run.precision=double"}) {
            Run plain(text, {{precision}});
            const std::vector<md::Int128> sums = plain.all_steps(false);
            for (const double share : shares)
                for (const int devices : {1, 2}) {
                    const bool inner = share == 0.5 || (share == 0.9 && devices == 2);
                    const std::string reach = inner ? "accelerator.reach=inner" : "accelerator.reach=border";
                    Run r(text, {zone_of(share, {precision, reach}), devices, devices, 77});
                    CAPTURE(precision, share, devices);
                    CHECK((r.all_steps(false) == sums));
                    CHECK(r.engine.state_hash() == plain.engine.state_hash());
                    CHECK(r.engine.tiles().accelerators() == devices);
                    const std::int64_t there = on_accelerators(r.engine), all = sums[0];
                    if (world().size() == 1 || !inner) CHECK(std::abs(there - share * all) < 0.12 * all);
                    if (share == 1.0) CHECK(there == all);
                    CHECK((there > 0 || world().size() > 3));
                    if (inner) CHECK(there < all);
                }
        }
}

TEST_CASE("a border that jumps changes no bit, with one process a rank and with many") {
    const std::string& text = GENERATE(std::cref(collision), std::cref(liquid));
    Run plain(text, {});
    const std::vector<md::Int128> sums = plain.all_steps(false);
    for (const std::int64_t each : {1, 5}) {
        const std::string processes = "balance.processes=" + std::to_string(each * world().size());
        Run r(text, {zone_of(0.5, {processes, "balance.clock=work", "grid.skin=0.4"}), 2, 1, 5});
        CAPTURE(each);
        CHECK((r.all_steps(true) == sums));
        CHECK(r.engine.state_hash() == plain.engine.state_hash());
    }
}

TEST_CASE("what is counted in cells is the same with accelerators") {
    Run plain(collision, {{"balance.every=5"}}), with(collision, {zone_of(0.6, {"balance.every=5"}), 2});
    for (Run* r : {&plain, &with})
        for (std::int64_t n = 0; n < 20; ++n) r->step(n, n == 0 && r == &with);
    const comm::Ranks team(world());
    std::vector<std::vector<std::int64_t>> seen;
    for (Run* r : {&plain, &with}) {
        r->engine.rebin();
        r->engine.build_neighbour_lists();
        const balance::Decomposition owners = r->balancer.decomposition({8, 8});
        const balance::Counting counting{{}, {2.5, 2.5}};
        const balance::HomeCells cells = count_cells(team, r->engine, owners, counting);
        seen.push_back(cells.work);
        for (const balance::CellCounts& c : cells.counts) seen.back().insert(seen.back().end(), {c.n, c.n3, c.n5});
    }
    CHECK(on_accelerators(with.engine) > 0);
    CHECK(seen[0] == seen[1]);
}

TEST_CASE("a rank finds the loads of its cells in its own tiles as at the cells' homes") {
    const comm::Ranks team(world());
    for (const std::string& text : {collision, liquid, walls})
        for (const std::int64_t each : {1, 3}) {
            const std::string processes = "balance.processes=" + std::to_string(each * world().size());
            Run r(
                text,
                {zone_of(0.7, {processes, "balance.clock=work", "balance.constants.costs=[3e-9, 2e-8, 6e-10, 1e-10]"}),
                 2});
            for (std::int64_t n = 0; n < 30; ++n) r.step(n, n == 0);
            CHECK((on_accelerators(r.engine) > 0 || world().size() > 3));
            r.engine.rebin();
            const balance::Region& mine = r.balancer.partition().boxes;
            const balance::Decomposition owners = r.balancer.decomposition({8, 8});
            const balance::HomeCells cells =
                balance::collect_at_homes(team, owners, read_tiles(r.engine, false), nullptr);
            const ZoneBalancer& zones = r.balancer.zones();
            std::vector<std::vector<std::int64_t>> seen;
            for (const RankLoads& loads : {zones.loads_at_homes(mine, cells), zones.loads_in_tiles(r.engine.tiles())}) {
                seen.emplace_back();
                for (const balance::Box& box : mine)  // the box, a strip in it, and one across all boxes
                    for (const balance::Box& b :
                         {box, balance::slab(box, 0, box.lower[0] + 1, box.lower[0] + 2),
                          balance::slab(r.balancer.grid().box(), 1, box.lower[1], box.upper[1])})
                        seen.back().push_back(load_of(loads, b));
            }
            CHECK(seen[0].front() > 0);
            REQUIRE(seen[0].size() == seen[1].size());
            const std::int64_t rounding = r.balancer.grid().box().cells();  // half a tick for each cell at most
            for (std::size_t i = 0; i < seen[0].size(); ++i) CHECK(std::abs(seen[0][i] - seen[1][i]) <= rounding);
        }
}

TEST_CASE(
    "what borders have learnt is taken over on as many ranks, else their mean share, and refused if it makes no "
    "sense") {
    Run r(collision, {zone_of(0.3)});
    ZoneBalancer& zones = r.balancer.zones();
    std::vector<double> memory;
    for (int k = 0; k < world().size(); ++k)
        memory.insert(memory.end(), {0.5 / (k + 1), 6, 0.1 * k, 1, 0.005, 0.1 * k, 0, 0});
    REQUIRE(zones.restore(memory));
    CHECK(zones.memory() == memory);
    memory.insert(memory.end(), {1.0, 0});  // of one more rank
    double mean = 0;
    for (std::size_t k = 0; k < memory.size(); k += 8) mean += memory[k] / (world().size() + 1);
    Run other(collision, {zone_of(0.3)});
    REQUIRE(other.balancer.zones().restore(memory));
    std::vector<double> expected;
    for (int k = 0; k < world().size(); ++k) expected.insert(expected.end(), {mean, 0});
    const std::vector<double> taken = other.balancer.zones().memory();
    REQUIRE(taken.size() == expected.size());
    for (std::size_t k = 0; k < taken.size(); ++k) CHECK(taken[k] == Approx(expected[k]));
    const std::vector<double> before = zones.memory();
    for (const std::vector<double>& bad : {std::vector<double>{},
                                           {0.5},
                                           {0.5, 1},
                                           {0.5, -1},
                                           {0.5, 1e300},
                                           {1.5, 0},
                                           {-0.1, 0},
                                           {NAN, 0},
                                           {0.5, NAN},
                                           {0.5, 0, 0.5},
                                           {0.5, 2, 7, 8}})
        CHECK_FALSE(zones.restore(bad));
    CHECK(zones.memory() == before);
}

TEST_CASE("what crosses between a zone and the CPU in a step are the positions of its frame, and sums") {
    const std::string& text = GENERATE(std::cref(collision), std::cref(liquid));
    const std::string kind = GENERATE("rcb", "chain");
    Run r(text, {zone_of(0.6, {"balance.every=5", "balance.partition.kind=" + kind, "grid.skin=0.5"})});
    r.step(0, true);
    const EngineOf<2>& engine = r.engine;
    const balance::Grid grid = r.setup.domain.grid();
    const auto& zone = engine.tiles().zone(0);
    std::vector<std::int64_t> particles(grid.box().cells(), 0);  // of all ranks, by cell
    std::vector<char> in_zone(grid.box().cells(), 0);
    const std::vector<balance::Box> blocks = engine.tiles().blocks(0);
    for (const balance::Box& b : blocks)
        balance::for_each_cell(b, [&](int x, int y, int z) { in_zone[balance::place_in(grid.box(), x, y, z)] = 1; });
    const std::vector<std::int32_t> mine = engine.tiles().cell_particles();
    auto next = mine.begin();
    for (std::size_t t = 0; t < engine.tiles().size(); ++t)
        balance::for_each_cell(engine.tiles().box(t), [&](int x, int y, int z) {
            particles[balance::place_in(grid.box(), x, y, z)] = *next++;
        });
    world().sum(particles);
    // Visits the cells of the grid, other than those of the box, that lie within reach of it.
    const auto for_each_around = [&](const balance::Box& box, auto visit) {
        balance::for_each_cell(balance::with_halo(box, balance::halo_of(grid, r.setup.reach)),
                               [&](int x, int y, int z) {
                                   std::array<int, 3> c{x, y, z};
                                   if (box.contains(c)) return;
                                   for (int a = 0; a < 2; ++a)
                                       if (grid.periodic[a]) c[a] = (c[a] + grid.cells[a]) % grid.cells[a];
                                   if (grid.box().contains(c)) visit(balance::place_in(grid.box(), c[0], c[1], c[2]));
                               });
    };
    std::int64_t out = 0, in = 0;
    for (const balance::Box& block : blocks) {
        for_each_around(block, [&](std::int64_t cell) { in += in_zone[cell] ? 0 : particles[cell]; });
        balance::for_each_cell(block, [&](int x, int y, int z) {
            bool seen = false;
            for_each_around({{x, y, z}, {x + 1, y + 1, z + 1}}, [&](std::int64_t c) { seen = seen || !in_zone[c]; });
            if (seen) out += particles[balance::place_in(grid.box(), x, y, z)];
        });
    }
    CHECK((out > 0 && in > 0));
    for (std::int64_t n = 1; n < 4 && !engine.displaced(); ++n) {
        const std::int64_t before = zone.copied();
        r.step(n, false);
        const std::int64_t sums = sizeof(gpu::Totals), position = sizeof(md::Packed<2>);
        CHECK(zone.copied() - before == (out + in) * position + sums);
    }
}

TEST_CASE("forces on particles are known where accelerators computed them") {
    std::vector<std::map<std::int64_t, std::array<double, 3>>> seen;
    for (const double share : {-1.0, 0.5}) {
        Run r(collision, {share < 0 ? std::vector<std::string>{} : zone_of(share), 2});
        for (std::int64_t n = 0; n < 10; ++n) r.step(n, n == 0 && share > 0);
        r.engine.force_pass({md::Kick::last, false, true});
        seen.emplace_back();
        for (std::size_t t = 0; t < r.engine.tiles().size(); ++t)
            for (std::int64_t i = 0; i < r.engine.tiles()[t].size(); ++i)
                seen.back()[r.engine.tiles()[t].id(i)] = r.engine.force(t, i);
    }
    CHECK(!seen[0].empty());
    CHECK((world().size() > 1 || seen[0].size() == 2982));
    CHECK(seen[0] == seen[1]);
}

TEST_CASE("a particle that is too fast is found on an accelerator as on the CPU") {
    std::set<std::string> messages;
    for (const double share : {-1.0, 0.9}) {
        Run r(collision, {share < 0 ? std::vector<std::string>{"run.dt=0.02"} : zone_of(share, {"run.dt=0.02"})});
        try {
            r.all_steps(false);
        } catch (const md::SimulationError& e) {
            messages.insert(e.what());
        }
    }
    CHECK(messages.size() == 1);
}

namespace {

// A border without an engine: cells of 10 particles, and costs of which a thousand cells of 1000 s would overflow.
struct LoneBorder {
    explicit LoneBorder(const std::vector<std::string>& settings)
        : deck(parse_deck(liquid, "test.yaml", settings)), zones(deck, setting, 1, 2) {
        cells.counts.assign(setting.home().cells(), {10, 90, 250});
    }
    balance::Region mine() const { return {balance::even_partition(grid, world().size())[world().rank()]}; }
    bool check(std::int64_t step) {
        return zones.check(step, owners(), mine(), zones.loads_at_homes(mine(), cells), cells.work);
    }
    balance::Decomposition owners() {
        return {grid,
                balance::one_box_each(balance::even_partition(grid, world().size())),
                setting.hosts,
                {8, 8},
                zones.zones()};
    }

    const Deck deck;
    comm::Ranks team{world()};
    balance::Meter meter;
    balance::Grid grid{{96, 96, 1}, {true, true, false}};
    balance::Setting setting{team, grid, {world().size(), world().size()}, {}, meter};
    ZoneBalancer zones;
    balance::HomeCells cells;
};

}  // namespace

TEST_CASE("after a migration the border is not judged by times of the cells before") {
    LoneBorder b({"accelerator.backend=host"});
    b.check(0);
    CHECK(b.zones.take_rows().empty());  // the first time it is only placed
    b.check(8);
    const std::size_t ranks = world().rank() == 0 ? world().size() : 0;
    CHECK(b.zones.take_rows().size() == ranks);
    b.zones.place(9, b.mine(), b.zones.loads_at_homes(b.mine(), b.cells));
    b.check(9);
    CHECK(b.zones.take_rows().empty());
    b.check(10);
    CHECK(b.zones.take_rows().size() == ranks);
}

TEST_CASE("loads of cells that cost 1000 seconds each can still be summed") {
    LoneBorder b({"accelerator.backend=host", "accelerator.share=0.5", "balance.constants.costs=[1, 1, 1, 1]"});
    for (balance::CellCounts& c : b.cells.counts) c = {1000, 9000, 25000};
    b.check(0);
    CHECK(b.zones.share() > 0.2);  // a sum that has wrapped around gives any share, or none
    CHECK(b.zones.share() <= b.zones.most_share());
    CHECK(b.zones.share() < 0.8);
}

TEST_CASE("where the reach allows no larger share the border is kept, however fast the accelerator is") {
    LoneBorder b({"accelerator.backend=host", "accelerator.speed=100", "accelerator.reach=inner"});
    b.setting.policy.clock = balance::BalanceClock::work;
    b.cells.work.assign(b.setting.home().cells(), 1000);
    constexpr std::int64_t last = 9;
    for (std::int64_t step = 0; step <= last; ++step) b.check(step);
    if (world().size() > 1) CHECK(b.zones.share() == b.zones.most_share());
    if (world().size() == 2) CHECK(b.zones.most_share() == Approx(44 / 48.0));  // without two rows on either side
    for (const ZoneRow& row : b.zones.take_rows())
        if (row.step == last) CHECK(row.decision == balance::BorderDecision::kept);
}
