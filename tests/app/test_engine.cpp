// SPDX-License-Identifier: MIT
// The engine as a whole on any number of ranks: one hash, conservation, reversal, faults.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <set>

#include "md/initial.hpp"
#include "md/observables.hpp"
#include "md/potential.hpp"
#include "md/random.hpp"
#include "tests/app/run.hpp"

using namespace app;
using test::collision;
using test::world;

namespace {

struct Record : Observer {
    std::int64_t sums_every = 0, state_every = 0, fields_every = 0, first = 0, last = 0;
    std::vector<md::Thermo> rows;
    Due due(std::int64_t s) const override {
        const auto on = [s](std::int64_t every) { return every > 0 && s % every == 0; };
        return {on(sums_every) || s == first || s == last, on(fields_every), on(state_every), false};
    }
    void sums(std::int64_t, const Engine& t) override { rows.push_back(md::thermo(t.sums(), t.setup().domain)); }
    void series(std::int64_t step, Engine& t) override {
        if (!due(step).cells) return;
        std::array<std::int64_t, 1> n{0};
        for (std::size_t k = 0; k < t.tiles().size(); ++k)
            for (const std::int32_t count : t.tiles().counts(k)) n[0] += count;
        world().sum(std::span<std::int64_t>(n));
        field_particles = n[0];
    }
    void balanced(const std::vector<BalanceRow>& r, const std::vector<ResourceRow>&) override {
        balance_rows.insert(balance_rows.end(), r.begin(), r.end());
    }
    std::vector<BalanceRow> balance_rows;
    std::int64_t field_particles = 0;
};

template <int D>
struct RunIn : test::Run<Record, D> {
    using Base = test::Run<Record, D>;
    explicit RunIn(const std::string& text, const std::vector<std::string>& settings = {}, std::int64_t processes = 0)
        : Base(text, settings, {.processes = processes, .tile = {16, 32, 5}}) {}
    RunIn& steps(std::int64_t first, std::int64_t last) {
        this->record.first = first;
        this->record.last = last;
        Base::steps(first, last);
        return *this;
    }
};
using Run = RunIn<2>;

const std::string walls = R"(
system:
  box: [60.0, 40.0]
  boundary: [reflecting, reflecting]
  slabs:
    - {lower: [4, 1], upper: [30, 38], lattice: hexagonal, density: 0.8, temperature: 1.0, velocity: [-9.0, 3.0]}
run: {dt: 0.001, steps: 300}
)";
const std::string liquid = R"(
system:
  box: fit
  slabs:
    - {lattice: hexagonal, cells: [40, 23], density: 0.85, temperature: 1.0}
  potential: {shift: force}
run: {dt: 0.004, steps: 1000}
)";

const std::string space = R"(
system:
  box: [36.0, 24.0, 30.0]
  boundary: [reflecting, periodic, reflecting]
  slabs:
    - {lower: [1, 2, 1], upper: [17, 22, 15], density: 0.8, temperature: 1.0, velocity: [6.0, 1.0, -4.0]}
    - {lower: [18.5, 3, 3], upper: [35, 20, 28], lattice: bcc, density: 0.8, temperature: 1.0, velocity: [-6, 0, 3]}
run: {dt: 0.001, steps: 200}
)";

// Particles in the cells of a box of 1 + 2 width cells a side; counts: of the whole grid.
template <int D>
std::int64_t around(const balance::Grid& grid, const std::vector<std::int64_t>& counts, const md::CellIndex& middle,
                    int width) {
    std::int64_t n = 0;
    const balance::Box cell{middle, {middle[0] + 1, middle[1] + 1, middle[2] + 1}};
    md::for_each_cell<D>(balance::with_halo(cell, balance::halo_of(grid, width)), [&](md::CellIndex c) {
        for (int a = 0; a < D; ++a)
            if (grid.periodic[a]) c[a] = (c[a] + grid.cells[a]) % grid.cells[a];
        if (grid.box().contains(c))
            n += counts[static_cast<std::size_t>(balance::place_in(grid.box(), c[0], c[1], c[2]))];
    });
    return n;
}

// The engine of a system in space whose particles are those of a run in the plane, at half its height, at rest along z.
// Calls move(engine) and returns the sum of the particles' hashes as the plane has them. All must stay where they were
// along z.
std::uint64_t hash_in_plane(const Run& flat, md::Boundary above, const std::function<void(EngineOf<3>&)>& move) {
    md::System system = flat.deck.system;
    system.dimensions = 3;
    system.box[2] = 16;
    system.boundary[2] = above;
    Method method;
    method.dt = flat.deck.run.dt;
    method.precision = flat.deck.run.precision;
    method.cell = flat.deck.grid.cell;
    const Setup setup = make_setup(system, method);
    const balance::Grid grid = setup.domain.grid();
    const balance::Decomposition owners(grid, balance::one_box_each(balance::even_partition(grid, world().size())),
                                        {world().size(), world().size()}, {7, 8, 4});
    Timers timers;
    EngineOf<3> engine(setup, owners, world(), timers);
    const std::int64_t height = setup.domain.axis[2].fixed_length() / 2;
    std::vector<md::Particle<3>> particles;
    for (std::size_t t = 0; t < flat.engine.tiles().size(); ++t)
        for (std::int64_t i = 0; i < flat.engine.tiles().particles(t); ++i) {
            particles.push_back(flat.engine.tiles().particle(t, i));
            particles.back().x[2] = height;
        }
    engine.distribute(particles, owners);
    move(engine);
    std::uint64_t sum = 0;
    bool flat_still = true;
    for (const md::Tile<3>& tile : engine.tiles())
        for (std::int64_t i = 0; i < tile.size(); ++i) {
            const md::Particle<3> p = tile.particle(i);
            flat_still = flat_still && p.x[2] == height && p.v[2] == 0;
            sum += md::particle_hash(
                md::Particle<2>{p.id,
                                {md::wrapped(p.x[0], setup.domain.axis[0]), md::wrapped(p.x[1], setup.domain.axis[1])},
                                {p.v[0], p.v[1]}});
        }
    CHECK(flat_still);
    std::array<md::Int128, 1> all{static_cast<md::Int128>(sum)};
    world().sum(all);
    return static_cast<std::uint64_t>(all[0]);
}

}  // namespace

TEST_CASE("particles in one plane of space move as those in the plane, bit by bit") {
    for (const std::string precision : {"mixed", "double"})
        for (const md::Boundary above : {md::Boundary::periodic, md::Boundary::reflecting}) {
            constexpr std::int64_t steps = 300;
            Run r(collision, {"run.precision=" + precision});
            const std::uint64_t in_space = hash_in_plane(r, above, [](EngineOf<3>& engine) {
                for (std::int64_t n = 0; n <= steps; ++n) {
                    if (engine.displaced()) engine.rebin(), engine.build_neighbour_lists();
                    engine.force_pass({n == 0 ? md::Kick::first : n == steps ? md::Kick::last : md::Kick::middle});
                }
            });
            r.steps(0, steps);
            CHECK(in_space == r.engine.state_hash());
        }
}

TEST_CASE("an engine whose functions are called in the wrong order says so, in every build") {
    Run r(collision);
    const balance::Decomposition owners = r.balancer.decomposition({16, 32});
    CHECK_THROWS_AS(r.engine.repartition(owners, owners), std::logic_error);
    CHECK_THROWS_AS(r.engine.build_neighbour_lists(), std::logic_error);
    CHECK_THROWS_AS(r.engine.force_pass({md::Kick::none}), std::logic_error);
    r.engine.rebin();
    CHECK_THROWS_AS(r.engine.force_pass({md::Kick::none}), std::logic_error);
    r.engine.build_neighbour_lists();
    CHECK_NOTHROW(r.engine.force_pass({md::Kick::none}));
}

TEST_CASE("one hash, whatever the engine, the skin, the processes, and where the run stops to look") {
    for (const std::string& deck : {collision, walls})
        for (const char* precision : {"mixed", "double"}) {
            std::set<std::uint64_t> hashes;
            const auto hash_of = [&](std::vector<std::string> settings, std::int64_t processes, std::int64_t sums,
                                     std::int64_t state, std::int64_t fields) {
                settings.push_back(std::string("run.precision=") + precision);
                Run r(deck, settings, processes);
                r.record.sums_every = sums;
                r.record.state_every = state;
                r.record.fields_every = fields;
                r.steps(0, 75).steps(75, 150);
                if (fields) CHECK(r.record.field_particles == r.engine.sums().particles);
                hashes.insert(r.engine.state_hash());
            };
            hash_of({}, 0, 0, 0, 0);
            hash_of({"grid.tile=6", "grid.skin=0.2"}, 40, 1, 0, 0);
            hash_of({"grid.tile=[5, 11]", "grid.skin=0.4"}, 13, 50, 7, 0);
            hash_of({"grid.skin=0", "grid.cell=3.7"}, 0, 0, 0, 11);
            CAPTURE(precision);
            CHECK(hashes.size() == 1);
        }
}

TEST_CASE("counting neighbours leaves the tiles sorted") {
    Run r(collision, {"grid.tile=8"});
    r.engine.rebin();
    r.engine.build_neighbour_lists();
    const std::vector<std::int64_t> pairs = r.engine.cell_neighbours();
    CHECK(std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0}) > 0);
    CHECK(std::ranges::all_of(r.engine.tiles(), &md::Tile<2>::sorted));
}

TEMPLATE_TEST_CASE_SIG("features of a cell count the particles in the boxes of 3 and 5 cells a side around it", "",
                       ((int D), D), 2, 3) {
    RunIn<D> r(D == 2 ? collision : space, {"balance.every=5", "grid.tile=4"});
    r.engine.rebin();
    r.engine.build_neighbour_lists();
    const md::Domain& domain = r.engine.setup().domain;
    const balance::Grid grid = domain.grid();
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.box().cells()), 0);
    std::int64_t id = 0;
    for (const md::Body& slab : r.deck.system.slabs) {
        std::vector<md::Particle<D>> made;
        md::make_particles(domain, md::Lattice(slab), id, r.deck.system.seed, grid.box(), made);
        id += static_cast<std::int64_t>(made.size());
        for (const md::Particle<D>& p : made) {
            md::CellIndex c{};
            for (int a = 0; a < D; ++a) c[a] = domain.axis[a].cell_of(p.x[a]);
            ++counts[static_cast<std::size_t>(balance::place_in(grid.box(), c[0], c[1], c[2]))];
        }
    }
    for (std::size_t t = 0; t < r.engine.tiles().size(); ++t) {
        std::vector<std::array<std::int64_t, 3>> found, expected;
        for (const auto& [n, n3, n5] : r.engine.tiles().cell_counts_of(t)) found.push_back({n, n3, n5});
        md::for_each_cell<D>(r.engine.tiles().box(t), [&](const md::CellIndex& c) {
            expected.push_back(
                {around<D>(grid, counts, c, 0), around<D>(grid, counts, c, 1), around<D>(grid, counts, c, 2)});
        });
        CHECK(found == expected);
    }
}

TEMPLATE_TEST_CASE_SIG("what cells will hold is where all particles fly", "", ((int D), D), 2, 3) {
    for (const std::string& deck : D == 2 ? std::vector{collision, walls} : std::vector{space})
        for (const double time : {0.0, 0.05, 0.2, 5.0, 1e9}) {
            CAPTURE(time);
            RunIn<D> r(deck, {"balance.every=5", "grid.tile=4", "run.steps=30"});
            r.steps(0, 30);
            r.engine.rebin();
            const md::Domain& domain = r.engine.setup().domain;
            const balance::Grid grid = domain.grid();
            std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.box().cells()), 0);
            for (const md::Tile<D>& tile : r.engine.tiles())
                for (std::int64_t i = 0; i < tile.size(); ++i) {
                    const md::Particle<D> p = tile.particle(i);
                    md::CellIndex from{}, to{};
                    for (int a = 0; a < D; ++a) {
                        const double at = static_cast<double>(p.x[a]) + static_cast<double>(p.v[a]) * time;
                        from[a] = domain.axis[a].cell_of(p.x[a]);
                        to[a] = domain.axis[a].cell_of(std::llround(std::clamp(at, -0x1p62, 0x1p62)));
                        to[a] = std::clamp(to[a], tile.box().lower[a] - 2, tile.box().upper[a] + 1);
                        if (grid.periodic[a]) to[a] = (to[a] + grid.cells[a]) % grid.cells[a];
                        else to[a] = std::clamp(to[a], 0, grid.cells[a] - 1);
                    }
                    CHECK((time > 0 || from == to));
                    ++counts[static_cast<std::size_t>(balance::place_in(grid.box(), to[0], to[1], to[2]))];
                }
            world().sum(std::span<std::int64_t>(counts));
            const std::vector<balance::CellCounts> now = r.engine.tiles().cell_counts();
            const std::vector<std::int32_t> found = r.engine.cell_particles_after(time);
            std::vector<std::int32_t> expected;
            for (const md::Tile<D>& tile : r.engine.tiles())
                md::for_each_cell<D>(tile.box(), [&](const md::CellIndex& c) {
                    expected.push_back(static_cast<std::int32_t>(
                        counts[static_cast<std::size_t>(balance::place_in(grid.box(), c[0], c[1], c[2]))]));
                });
            CHECK(found == expected);
            const std::vector<balance::CellCounts> again = r.engine.tiles().cell_counts();
            CHECK(std::ranges::equal(
                now, again, [](const auto& a, const auto& b) { return a.n == b.n && a.n3 == b.n3 && a.n5 == b.n5; }));
        }
}

TEST_CASE("a run reversed retraces its steps bit by bit") {
    const auto there_and_back = [](auto r) {
        const std::uint64_t start = r->engine.state_hash();
        r->steps(0, 100);
        CHECK(r->engine.state_hash() != start);
        r->engine.reverse();
        r->steps(100, 200);
        r->engine.reverse();
        CHECK(r->engine.state_hash() == start);
    };
    for (const std::string& deck : {collision, walls}) there_and_back(std::make_unique<Run>(deck));
    for (const std::string precision : {"mixed", "double"})
        there_and_back(std::make_unique<RunIn<3>>(space, std::vector<std::string>{"run.precision=" + precision}));
}

TEMPLATE_TEST_CASE_SIG("the energy of a periodic crystal is that of all its pairs, with images beyond every side", "",
                       ((int D), D), 2, 3) {
    const std::string cells = D == 2 ? "[12, 7]" : "[5, 4, 6]";
    RunIn<D> r("{system: {box: fit, slabs: [{cells: " + cells +
               ", density: 0.85, temperature: 1}]}, run: {dt: 0.001, steps: 1}}");
    const md::Domain& domain = r.engine.setup().domain;
    const md::System& system = r.deck.system;
    std::vector<md::Particle<D>> all;
    md::make_particles(domain, md::Lattice(system.slabs[0]), 0, system.seed, domain.grid().box(), all);
    double energy = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            double r2 = 0;
            for (int a = 0; a < D; ++a) {
                const double d = static_cast<double>(all[i].x[a] - all[j].x[a]) * md::position_unit;
                const double nearest = std::remainder(d, domain.axis[a].real_length());
                r2 += nearest * nearest;
            }
            energy += md::pair_value(system.potential, std::sqrt(r2)).energy;
        }
    r.steps(0, 1);
    CHECK(r.record.rows.front().potential == Approx(energy).epsilon(1e-5));
}

TEST_CASE("momentum is conserved to rounding over 300 steps") {
    Run r(liquid);
    r.steps(0, 300);
    double absolute = 0;
    for (const md::Tile<2>& t : r.engine.tiles())
        for (std::int64_t i = 0; i < t.size(); ++i)
            absolute += std::hypot(static_cast<double>(t.particle(i).v[0]), static_cast<double>(t.particle(i).v[1])) *
                        md::velocity_unit;
    const double sum_of_p = world().spread(std::array{absolute})[0].mean * world().size();
    const md::Thermo &first = r.record.rows.front(), &last = r.record.rows.back();
    for (int a = 0; a < 2; ++a) CHECK(std::abs(last.momentum[a] - first.momentum[a]) < 1e-12 * sum_of_p);
    CHECK(last.kinetic != first.kinetic);
}

TEST_CASE("the energy error falls as dt^2") {
    // Melt the lattice first, then the same stretch of time with dt, dt/2, dt/4; the root mean square of E - E0 along
    // it.
    const auto error = [](double dt, std::int64_t steps, std::int64_t every) {
        Run r(liquid, {"run.precision=double", "run.dt=" + std::to_string(dt)});
        r.record.sums_every = every;
        r.steps(0, steps);
        double square = 0, mean = 0;
        for (const md::Thermo& t : r.record.rows) mean += t.total() / static_cast<double>(r.record.rows.size());
        for (const md::Thermo& t : r.record.rows) square += (t.total() - mean) * (t.total() - mean);
        return std::sqrt(square / static_cast<double>(r.record.rows.size()));
    };
    const double e1 = error(0.004, 100, 1), e2 = error(0.002, 200, 2), e4 = error(0.001, 400, 4);
    CAPTURE(e1, e2, e4);
    CHECK(e1 / e2 > 3.5);
    CHECK(e1 / e2 < 4.5);
    CHECK(e2 / e4 > 3.5);
    CHECK(e2 / e4 < 4.5);
}

TEST_CASE("a particle that cannot be followed ends the run on all ranks, with its step and id") {
    // One particle a slab: id 0 at x = 10, id 1 to its right, id 2 far away.
    const auto message = [](const char* upper, const char* lower) -> std::string {
        const std::string deck = std::string(R"(
system:
  box: [40.0, 30.0]
  slabs:
    - {lower: [10, 10], upper: [)") +
                                 upper + R"(, 10.4], lattice: hexagonal, density: 1.0}
    - {lower: [)" + lower + R"(, 10], upper: [11.2, 10.4], lattice: hexagonal, density: 1.0}
    - {lower: [30, 10], upper: [30.2, 10.4], lattice: hexagonal, density: 1.0}
run: {dt: 0.01, steps: 300}
)";
        try {
            Run r(deck);
            REQUIRE(md::particle_count(r.deck.system) == 3);
            r.steps(0, 300);
        } catch (const md::SimulationError& e) {
            CHECK(comm::thrown_by_all(e, world()));
            return e.what();
        }
        return "no error";
    };
    CHECK(message("10.2", "10.3") == "step 0: particle 0 feels a force out of the exact range");
    CHECK(message("10.2", "10.55") == "step 0: particle 0 moves more than a cell in one step");
    CHECK(message("10.2", "11.1") == "no error");
}

TEST_CASE("particles that a rebuild loses end the run on all ranks, with their number and the step") {
    struct Losing : Record {
        void rebuilding(std::int64_t step) override { lose(step); }
        std::function<void(std::int64_t)> lose;
    };
    test::Run<Losing> r(collision);
    std::array<std::int64_t, 2> lost{0, 0};  // particles, step
    r.record.lose = [&](std::int64_t step) {
        if (step < 5 || lost[1] > 0) return;
        lost[1] = step;
        if (world().rank() != world().size() - 1) return;
        auto& tiles = const_cast<Tiles<2>&>(r.engine.tiles());
        for (std::size_t t = 0; t < tiles.size() && lost[0] == 0; ++t) lost[0] = tiles[t].size(), tiles[t].clear();
    };
    std::string text = "no error";
    try {
        r.steps(0, 300);
    } catch (const md::SimulationError& e) {
        text = e.what();
        CHECK(comm::thrown_by_all(e, world()));
    }
    world().max(lost);
    CHECK(lost[0] > 0);
    CHECK(text == "step " + std::to_string(lost[1]) + ": " + std::to_string(lost[0]) + " of " +
                      std::to_string(md::particle_count(r.deck.system)) + " particles are lost");
}

TEST_CASE("a particle moves at most the width of a cell along each axis, which may differ between axes") {
    // Two particles push each other along one axis, each by more than 3 and less than 5.5. Cells are 5.5 wide along one
    // axis and 3 along the others.
    const auto message = [](int wide, int pushed) -> std::string {
        const auto vector = [](int axis, double there, double elsewhere) {
            std::string text;
            for (int a = 0; a < 3; ++a) text += (a ? ", " : "[") + std::to_string(a == axis ? there : elsewhere);
            return text + "]";
        };
        const auto particle = [&](double at) {
            return "    - {lower: " + vector(pushed, at, 1.0) + ", upper: " + vector(pushed, at + 0.3, 1.3) +
                   ", lattice: sc, density: 1.0}\n";
        };
        const std::string deck = "system:\n  box: " + vector(wide, 5.5, 30.0) +
                                 "\n  boundary: [reflecting, reflecting, reflecting]\n  slabs:\n" + particle(2.0) +
                                 particle(2.0 + 0.56) + "run: {dt: 0.01, steps: 1}\n";
        try {
            RunIn<3> r(deck);
            REQUIRE(md::particle_count(r.deck.system) == 2);
            for (int a = 0; a < 3; ++a) REQUIRE((r.engine.setup().domain.axis[a].cell_width() > 5.0) == (a == wide));
            r.steps(0, 1);
        } catch (const md::SimulationError& e) {
            return e.what();
        }
        return "no error";
    };
    for (int wide = 0; wide < 3; ++wide)
        for (int pushed = 0; pushed < 3; ++pushed) {
            CAPTURE(wide, pushed);
            CHECK(message(wide, pushed) ==
                  (pushed == wide ? "no error" : "step 0: particle 0 moves more than a cell in one step"));
        }
}

TEST_CASE(
    "balancing changes who computes, not what: every model, partition, clock and comparison gives the plain run's "
    "hash") {
    const std::uint64_t plain = Run(collision).steps(0, 30).engine.state_hash();
    for (const std::string& model : balance::model_names()) {
        CAPTURE(model);
        CHECK(Run(collision,
                  {"balance.every=3", "balance.clock=work", "balance.migrate=always", "balance.model=" + model}, 11)
                  .steps(0, 30)
                  .engine.state_hash() == plain);
    }
    for (const char* setting :
         {"balance.partition.kind=rcb", "balance.partition.kind=none", "balance.partition.kind=nested",
          "balance.partition.cut=patches", "balance.partition.cut=cells", "balance.partition.order=tree",
          "balance.partition.order=hilbert", "balance.partition.sticky=false", "balance.noise=0.05",
          "balance.partition.max_particles_per_process=900", "balance.compare=[a1, hybrid]", "grid.tile=5"}) {
        CAPTURE(setting);
        Run run(collision, {"balance.every=3", "balance.clock=work", "balance.migrate=always", setting}, 11);
        CHECK(run.steps(0, 30).engine.state_hash() == plain);
        CHECK(run.record.balance_rows.size() >= 8);
    }
    Run wall(collision, {"balance.every=3", "balance.migrate=always"}, 11);
    CHECK(wall.steps(0, 30).engine.state_hash() == plain);
    CHECK_FALSE(wall.record.balance_rows.empty());
    // Looking whether a migration pays costs no rebuild, unless one was made.
    Run calm(collision, {}, 11), watched(collision, {"balance.every=2"}, 11);
    calm.steps(0, 60);
    watched.steps(0, 60);
    const auto moved = std::ranges::count(watched.record.balance_rows, balance::Decision::moved, &BalanceRow::decision);
    CHECK(watched.record.balance_rows.size() >= 8);
    CHECK(watched.engine.rebuilds() <= calm.engine.rebuilds() + moved);
}

TEST_CASE("counted work: decisions to the last digit do not depend on ranks") {
    Run run(collision,
            {"balance.every=5", "balance.clock=work", "balance.compare=[a1, b1, moving_average]", "balance.noise=0.01",
             "balance.migrate=always", "balance.partition.cut=cells"},
            23);
    run.steps(0, 60);
    // One hash of all rows, pinned on one rank; this test runs on 1, 2, 3, 4, 7.
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t bits) { hash = md::mix(hash ^ bits); };
    std::int64_t moved = 0;
    for (const BalanceRow& r : run.record.balance_rows) {
        for (double x : {r.lbe, r.lbe_model, r.mean_seconds, r.max_seconds, r.lbe_observed})
            add(std::bit_cast<std::uint64_t>(x));
        for (std::int64_t n : {r.step, r.moved.cells, r.moved.particles, r.ghost_cells})
            add(static_cast<std::uint64_t>(n));
        moved += r.moved.particles;
    }
    CHECK(run.record.balance_rows.size() == 48);
    CHECK(moved > 1000);
    CHECK(hash == 0xe8870d227691505d);
}
