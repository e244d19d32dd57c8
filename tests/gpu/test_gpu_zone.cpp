// SPDX-License-Identifier: MIT
// A zone does what md::Tile and its kernels do, bit for bit.
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "gpu/kernels/rows.hpp"
#include "md/random.hpp"
#include "tests/gpu/beside_tiles.hpp"
#include "tests/md/faults.hpp"
#include "tests/md/one_tile.hpp"
#include "tests/md/other_parameters.hpp"

using md::Kick;
using md::Precision;

namespace {

constexpr double skin = 0.3, cutoff = 2.5;

// What a case takes in so many dimensions.
template <int D, class T>
T in(T plane, T space) {
    return D == 2 ? plane : space;
}

// The axes that have walls: this one, none, or all.
constexpr int no_axis = -1, all_axes = -2;

// A box of so many cells of 2.9 along each axis, periodic on the axes that are not `walled`.
gpu::ZoneSetup setup_of(const std::vector<int>& cells, int walled, const md::PotentialSpec& spec, Precision precision,
                        double dt = 0.002) {
    gpu::ZoneSetup s;
    s.domain.dimensions = static_cast<int>(cells.size());
    for (int a = 0; a < s.domain.dimensions; ++a)
        s.domain.axis[a] = {md::to_edge_units(2.9 * cells[a]), cells[a], walled != a && walled != all_axes};
    s.domain = test::packed_for(s.domain, precision);
    s.halo = 2;
    s.potential = spec;
    s.precision = precision;
    s.limits = md::force_limits(spec);
    s.dt = dt;
    return s;
}
// Of Lennard-Jones particles, without walls.
gpu::ZoneSetup periodic(const std::vector<int>& cells) { return setup_of(cells, no_axis, {}, Precision::mixed); }

// Particles all over the box, on a square or cubic lattice with some disorder, hot.
template <int D>
std::vector<md::Particle<D>> sample(const md::Domain& domain, double spacing = 1.1, double speed = 4.0) {
    const auto sites = [&](int a) { return a < D ? static_cast<int>(domain.axis[a].real_length() / spacing) : 1; };
    const auto random = [](std::int64_t id, std::uint64_t k) {
        return 2 * static_cast<double>(md::mix(1000 * static_cast<std::uint64_t>(id) + k) >> 11) /
                   (std::int64_t{1} << 53) -
               1;
    };
    std::vector<md::Particle<D>> all;
    md::for_each_cell<D>({{0, 0, 0}, {sites(0), sites(1), sites(2)}}, [&](const md::CellIndex& site) {
        const auto id = static_cast<std::int64_t>(all.size());
        md::Particle<D> p{id, {}, {}};
        for (int a = 0; a < D; ++a) {
            const double length = domain.axis[a].real_length();
            p.x[a] = std::llrint((length * (site[a] + 0.5) / sites(a) + 0.05 * random(id, a)) / md::position_unit);
            p.v[a] = std::llrint(speed * random(id, D + a) / md::velocity_unit);
        }
        all.push_back(p);
    });
    return all;
}

// A box of cells in the plane, and in space.
balance::Box box(int x0, int y0, int x1, int y1) { return {{x0, y0, 0}, {x1, y1, 1}}; }
balance::Box box(md::CellIndex lower, md::CellIndex upper) { return {lower, upper}; }

template <int D>
void steps(test::BesideTiles<D>& all, int count, bool rebuild_at_once = false) {
    all.pass({Kick::first, false, false});
    for (int k = 0; k < count; ++k) {
        if (all.displaced() || rebuild_at_once) all.rebuild();
        all.pass({Kick::middle, k % 5 == 0, k % 3 == 0});
    }
    if (all.displaced()) all.rebuild();
    all.pass({Kick::last, true, true});
    all.pass({Kick::none, true, true});
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("a zone steps like a tile, with every potential in both precisions", "", ((int D), D), 2, 3) {
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const int walled = GENERATE(no_axis, 0, D - 1);
    const auto on = test::accelerators();
    std::size_t n = 0;
    for (const md::PotentialSpec& spec : test::potentials()) {
        const gpu::ZoneSetup setup = setup_of(in<D, std::vector<int>>({7, 6}, {4, 3, 4}), walled, spec, precision);
        const auto particles = sample<D>(setup.domain, 1.15, 3.0);
        const test::Accelerator& a = on[n++ % on.size()];  // each kind of accelerator with some of the potentials
        CAPTURE(spec.kind, spec.softening, static_cast<int>(spec.shift), static_cast<int>(precision), walled);
        CAPTURE(a.threads, a.shuffle);
        const balance::Box some = in<D>(box(0, 1, 4, 6), box({0, 1, 0}, {3, 3, 2}));
        test::BesideTiles<D> all(setup, skin, a, n % 2 ? setup.domain.grid().box() : some, particles);
        steps(all, 6);
        all.check_cells();
    }
}

TEMPLATE_TEST_CASE_SIG("so it does where gravity, walls, a face that moves and a thermostat act", "", ((int D), D), 2,
                       3) {
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    gpu::ZoneSetup setup = setup_of(in<D, std::vector<int>>({7, 6}, {4, 3, 4}), all_axes, {}, precision);
    md::System system;
    system.dimensions = D;
    system.gravity = {0, -2, 0};
    system.walls = {{.face = md::BoxFace::y_lower, .epsilon = 1, .sigma = 0.3, .cutoff = 3.0},
                    {.face = md::BoxFace::x_upper, .velocity = 40, .from = 2}};
    setup.external = md::external_of(system, setup.domain, setup.dt);
    const auto particles = sample<D>(setup.domain, 1.15, 3.0);
    for (const test::Accelerator& a : test::accelerators()) {
        test::BesideTiles<D> all(setup, skin, a, setup.domain.grid().box(), particles);
        all.pass({Kick::first, false, false, 0});
        md::Int128 work = 0;
        for (std::int64_t step = 1; step < 12; ++step) {
            if (all.displaced()) all.rebuild();
            work += all.pass({Kick::middle, true, false, step}).step.work;
        }
        if (all.displaced()) all.rebuild();
        all.pass({Kick::last, true, true, 12});
        CHECK((work > 0));
        const md::Thermostat langevin{.kind = md::ThermostatKind::langevin};
        all.change_velocities(md::velocity_change<D>(langevin, 5, setup.dt, 12, {}));
        all.pass({Kick::first, true, false, 12});
    }
}

TEMPLATE_TEST_CASE_SIG("a zone goes on like a tile over many rebuilds", "", ((int D), D), 2, 3) {
    struct Place {
        const char* name;
        int walled;
        balance::Box block;
    };
    const std::vector<Place> in_plane{{"the whole periodic box", no_axis, box(0, 0, 8, 7)},
                                      {"in the middle", no_axis, box(2, 2, 6, 5)},
                                      {"one cell", no_axis, box(3, 3, 4, 4)},
                                      {"a strip across the box", no_axis, box(3, 0, 5, 7)},
                                      {"over a periodic edge", no_axis, box(5, 4, 8, 7)},
                                      {"the whole walled box", all_axes, box(0, 0, 8, 7)},
                                      {"a walled corner", all_axes, box(4, 4, 8, 7)},
                                      {"by one wall", 1, box(0, 0, 5, 3)}};
    const std::vector<Place> in_space{{"the whole periodic box", no_axis, box({0, 0, 0}, {4, 5, 3})},
                                      {"in the middle", no_axis, box({1, 1, 1}, {3, 4, 2})},
                                      {"one cell", no_axis, box({2, 3, 1}, {3, 4, 2})},
                                      {"a plate across the box", no_axis, box({1, 0, 0}, {2, 5, 3})},
                                      {"a rod across the box", no_axis, box({1, 0, 0}, {3, 5, 1})},
                                      {"at a periodic corner", no_axis, box({2, 3, 1}, {4, 5, 3})},
                                      {"the whole walled box", all_axes, box({0, 0, 0}, {4, 5, 3})},
                                      {"a walled corner", all_axes, box({2, 2, 1}, {4, 5, 3})},
                                      {"by the upper wall", 2, box({0, 1, 1}, {2, 5, 3})},
                                      {"by the wall in front", 1, box({0, 0, 0}, {4, 2, 2})}};
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    for (const test::Accelerator& on : test::accelerators())
        for (const Place& place : in<D>(in_plane, in_space)) {
            CAPTURE(place.name, on.threads, on.shuffle, static_cast<int>(precision));
            const gpu::ZoneSetup setup =
                setup_of(in<D, std::vector<int>>({8, 7}, {4, 5, 3}), place.walled, {}, precision);
            test::BesideTiles<D> all(setup, skin, on, place.block, sample<D>(setup.domain, 1.1, 8.0));
            steps(all, in<D>(60, 40));
            all.check_cells();
            CHECK((all.emigrants() > 0 || place.name == std::string("the whole walled box")));
        }
}

TEMPLATE_TEST_CASE_SIG("a zone's block grows, shrinks, moves and becomes empty", "", ((int D), D), 2, 3) {
    const std::vector<balance::Box> in_plane{box(2, 2, 5, 5), box(2, 2, 6, 5), box(2, 2, 6, 7), box(3, 2, 6, 7),
                                             box(3, 3, 5, 5), box(5, 5, 8, 8), box(0, 0, 0, 0), box(0, 0, 2, 8),
                                             box(0, 0, 9, 8), box(4, 0, 4, 0), box(0, 0, 9, 8), box(0, 0, 1, 1)};
    const std::vector<balance::Box> in_space{
        box({1, 1, 1}, {3, 3, 3}), box({1, 1, 1}, {4, 3, 3}), box({1, 1, 1}, {4, 4, 3}), box({1, 1, 0}, {4, 4, 4}),
        box({2, 2, 1}, {3, 4, 2}), box({3, 2, 2}, {5, 4, 4}), box({0, 0, 0}, {0, 0, 0}), box({0, 0, 0}, {2, 4, 4}),
        box({0, 0, 0}, {5, 4, 4}), box({3, 0, 2}, {3, 0, 2}), box({0, 0, 0}, {5, 4, 4}), box({0, 0, 3}, {1, 1, 4})};
    const std::vector<balance::Box>& blocks = in<D>(in_plane, in_space);
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({9, 8}, {5, 4, 4}));
    for (const test::Accelerator& on : test::accelerators()) {
        CAPTURE(on.threads, on.shuffle);
        test::BesideTiles<D> all(setup, skin, on, blocks[0], sample<D>(setup.domain));
        std::size_t with_particles = 0;
        for (std::size_t k = 1; k < blocks.size(); ++k) {
            steps(all, 3);
            all.rebuild();
            all.take_block(blocks[k]);
            all.check_cells();
            with_particles += all.zone().size() > 0;
        }
        CHECK(with_particles == 9);  // two blocks are empty
        steps(all, 3);
    }
}

TEMPLATE_TEST_CASE_SIG("a zone's vacuum and its few particles do no harm", "", ((int D), D), 2, 3) {
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({6, 6}, {4, 4, 3}));
    for (const test::Accelerator& on : test::accelerators())
        for (const std::size_t n : {0u, 1u, 2u, 33u}) {
            auto particles = sample<D>(setup.domain);
            particles.resize(n);
            test::BesideTiles<D> all(setup, skin, on, setup.domain.grid().box(), particles);
            CHECK(all.zone().size() == static_cast<std::int64_t>(n));
            steps(all, 4, true);
            all.check_cells();
        }
}

TEMPLATE_TEST_CASE_SIG("a zone of many particles keeps its threads busy and its bits", "", ((int D), D), 2, 3) {
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({60, 40}, {9, 10, 9}));
    for (const test::Accelerator& on : test::accelerators()) {
        CAPTURE(on.threads, on.shuffle);
        const balance::Box block = in<D>(box(0, 3, 58, 40), box({0, 1, 0}, {9, 10, 8}));
        test::BesideTiles<D> all(setup, skin, on, block, sample<D>(setup.domain));
        CHECK(all.zone().size() > 10000);
        steps(all, in<D>(8, 4), true);
        all.check_cells();
    }
}

TEMPLATE_TEST_CASE_SIG("a zone finds the faults that the kernels find", "", ((int D), D), 2, 3) {
    std::vector<test::FaultCase<D>> cases = test::fault_cases<D>(17.35);
    const auto at = test::particle_at<D>;
    cases.push_back({"too close and too fast",
                     {},
                     {at(7, 8, 8, 0), at(5, 8.5, 8, 3000), at(9, 12, 8, 1)},
                     1e-6,
                     md::FaultKind::force_range,
                     5});
    cases.push_back({"too fast before too close",
                     {},
                     {at(7, 8, 8, 0), at(8, 8.5, 8, 0), at(4, 12, 8, 3000)},
                     1e-6,
                     md::FaultKind::velocity,
                     4});
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const int turn = GENERATE(range(0, D));  // what lies along x in the cases lies along this axis
    for (test::FaultCase<D>& c : cases)
        for (md::Particle<D>& p : c.particles) {
            std::rotate(std::begin(p.x), std::end(p.x) - turn, std::end(p.x));
            std::rotate(std::begin(p.v), std::end(p.v) - turn, std::end(p.v));
        }
    for (const test::FaultCase<D>& c : cases)
        for (const test::Accelerator& on : test::accelerators())
            for (const Kick kick : {Kick::first, Kick::middle}) {
                CAPTURE(c.name, static_cast<int>(precision), turn, on.threads, on.shuffle);
                const gpu::ZoneSetup setup =
                    setup_of(in<D, std::vector<int>>({6, 6}, {6, 6, 6}), no_axis, c.spec, precision, c.dt);
                test::BesideTiles<D> all(setup, skin, on, setup.domain.grid().box(), c.particles);
                const gpu::ZoneResult r = all.pass({kick, false, false});
                CHECK(r.step.fault.kind == c.fault);
                CHECK(r.step.fault.id == c.id);
                if (c.fault != md::FaultKind::velocity) continue;
                test::BesideTiles<D> at_rest(setup, skin, on, setup.domain.grid().box(), c.particles);
                CHECK(at_rest.pass({Kick::none, true, false}).step.fault.kind == md::FaultKind::velocity);
            }
}

TEMPLATE_TEST_CASE_SIG("more particles than are copied at a time come and go", "", ((int D), D), 2, 3) {
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({400, 400}, {40, 39, 39}));
    const std::vector<md::Particle<D>> all = sample<D>(setup.domain);
    CHECK(all.size() > std::size_t{1} << 20);
    for (const test::Accelerator& on : test::accelerators()) {
        if (on.shuffle) continue;
        const auto zone = gpu::make_zone<D>(on.backend, 0, on.threads, setup);
        zone->set_blocks({setup.domain.grid().box()}, {});
        zone->insert(all);
        CHECK(zone->size() == static_cast<std::int64_t>(all.size()));
        std::vector<md::Particle<D>> back = zone->set_blocks({}, {});
        CHECK(zone->size() == 0);
        std::sort(back.begin(), back.end(), [](const auto& p, const auto& q) { return p.id < q.id; });
        CHECK(std::equal(all.begin(), all.end(), back.begin(), back.end(), test::same<D>));
    }
}

TEST_CASE("a zone works on its own threads while its caller sleeps") {
    const gpu::ZoneSetup setup = periodic({100, 100});
    const auto zone = gpu::make_zone<2>(gpu::Backend::host, 0, 2, setup);
    zone->set_blocks({setup.domain.grid().box()}, {});
    zone->insert(sample<2>(setup.domain));
    zone->sort();
    zone->lay_slots({});
    zone->build_neighbour_lists(cutoff + skin);
    const auto cpu_seconds = [] {
        timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    };
    zone->start({Kick::none, false, false});
    zone->finish();  // the lists
    const double before = cpu_seconds();
    double busy = 0;
    for (int k = 0; k < 10; ++k) {
        zone->start({Kick::none, true, false});
        busy += zone->finish().seconds;
    }
    CHECK(busy > 0);
    CHECK(cpu_seconds() - before < 0.3 * busy);
}

TEST_CASE("a zone's threads may use all processors of a program whose first thread is bound to one") {
    cpu_set_t all, one;
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++c)
        if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    const gpu::ZoneSetup setup = periodic({6, 6});
    const auto zone = gpu::make_zone<2>(gpu::Backend::host, 0, 3, setup);
    zone->set_blocks({setup.domain.grid().box()}, {});
    int threads = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (threads < 3 && std::chrono::steady_clock::now() < until) {  // each sets its own processors when it begins
        threads = 0;
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            const pid_t id = std::stoi(task.path().filename());
            cpu_set_t its;
            if (id != getpid() && sched_getaffinity(id, sizeof its, &its) == 0) threads += CPU_EQUAL(&its, &all);
        }
    }
    CHECK(threads >= 3);
    if (CPU_COUNT(&all) == 1) std::cout << "there is one processor: not tested\n";
    sched_setaffinity(0, sizeof all, &all);
}

TEMPLATE_TEST_CASE_SIG("a zone holds what lies from the first to the last quantum of its block", "", ((int D), D), 2,
                       3) {
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({7, 6}, {7, 6, 5}));
    const balance::Box block = in<D>(box(2, 1, 5, 4), box({2, 1, 1}, {5, 4, 3}));
    const auto edge = [&](int a, int cell) { return setup.domain.axis[a].edge(cell) << md::edge_shift; };
    md::Particle<D> middle{};
    for (int a = 0; a < D; ++a) middle.x[a] = edge(a, block.lower[a] + 1) + 1;
    std::vector<md::Particle<D>> inside, outside;
    std::set<std::int64_t> ids_inside, ids_outside;
    const auto put = [&](std::vector<md::Particle<D>>& list, std::set<std::int64_t>& ids, int a, std::int64_t x) {
        list.push_back(middle);
        list.back().id = static_cast<std::int64_t>(inside.size() + outside.size());
        list.back().x[a] = x;
        ids.insert(list.back().id);
    };
    for (int a = 0; a < D; ++a) {
        put(inside, ids_inside, a, edge(a, block.lower[a]));
        put(inside, ids_inside, a, edge(a, block.upper[a]) - 1);
        put(outside, ids_outside, a, edge(a, block.lower[a]) - 1);
        put(outside, ids_outside, a, edge(a, block.upper[a]));
    }
    REQUIRE(ids_inside.size() + ids_outside.size() == 4 * D);
    for (const test::Accelerator& on : test::accelerators()) {
        const auto zone = gpu::make_zone<D>(on.backend, 0, on.threads, setup, on.shuffle);
        zone->set_blocks({block}, {});
        zone->insert(outside);
        zone->insert(inside);
        std::set<std::int64_t> left, kept;
        for (const md::Particle<D>& p : zone->take_emigrants()) left.insert(p.id);
        for (const md::Particle<D>& p : zone->particles()) kept.insert(p.id);
        CHECK(left == ids_outside);
        CHECK(kept == ids_inside);
    }
}

TEMPLATE_TEST_CASE_SIG("threads that sort particles into the same cells lose none", "", ((int D), D), 2, 3) {
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({6, 6}, {6, 6, 6}));
    std::vector<md::Particle<D>> all;
    for (std::int64_t id = 0; id < 50000; ++id) {  // neighbours in memory lie in 2^D cells by turns
        md::Particle<D> p{id, {}, {}};
        for (int a = 0; a < D; ++a)
            p.x[a] = std::llrint((6 + 2.9 * static_cast<double>(id >> a & 1)) / md::position_unit);
        all.push_back(p);
    }
    for (const test::Accelerator& on : test::accelerators())
        for (int again = 0; again < 5; ++again) {
            const auto zone = gpu::make_zone<D>(on.backend, 0, on.threads, setup, on.shuffle);
            zone->set_blocks({in<D>(box(2, 2, 4, 4), box({2, 2, 2}, {4, 4, 4}))}, {});
            zone->insert(all);
            zone->sort();
            std::vector<char> seen(all.size());
            for (const md::Particle<D>& p : zone->particles()) seen[static_cast<std::size_t>(p.id)] = 1;
            CHECK(std::count(seen.begin(), seen.end(), 1) == 50000);
        }
}

TEMPLATE_TEST_CASE_SIG("a particle outside the block that is to hold it is an error", "", ((int D), D), 2, 3) {
    const gpu::ZoneSetup setup = periodic(in<D, std::vector<int>>({6, 6}, {4, 4, 4}));
    for (const test::Accelerator& on : test::accelerators()) {
        const auto zone = gpu::make_zone<D>(on.backend, 0, on.threads, setup, on.shuffle);
        zone->set_blocks({in<D>(box(1, 1, 3, 3), box({1, 1, 1}, {3, 3, 3}))}, {});
        zone->insert(sample<D>(setup.domain));
        CHECK_THROWS_AS(zone->sort(), md::SimulationError);
    }
}

TEST_CASE("rows are filled up to fours with the particle itself, which a device loads and does not use") {
    for (const int particles : {1, 2, 4, 5, 6, 33}) {
        // All in the middle one of three by three cells.
        const std::int64_t edges[]{-100, 0, 100, 200};
        std::vector<std::int64_t> x(particles, std::int64_t{50} << md::edge_shift);
        std::vector<std::int32_t> first(10, 0), slot(particles), cell_of(particles, 0);
        std::fill(first.begin() + 5, first.end(), particles);
        std::iota(slot.begin(), slot.end(), 0);
        const std::vector<md::Packed<2>> packed(particles);
        const gpu::Block<2> block{{{1, 1}, 1}, 0, 0, {0, 0}, {100, 100}, {edges, edges}};
        const gpu::NeighbourSearch<2> search{{&block, 1},          10,           1,           packed.data(),
                                             {x.data(), x.data()}, first.data(), slot.data(), cell_of.data()};
        const std::int32_t fours = gpu::Rows::fours_of(particles - 1);
        std::vector<std::int64_t> base{0, fours * gpu::group};
        std::vector<std::int32_t> length(particles);
        std::vector<gpu::Four> rows(2 * (fours + 1) * gpu::group, {{-1, -1, -1, -1}});
        for (std::int64_t i = 0; i < particles; ++i) gpu::CountRows<2>{search, length.data()}(i);
        const gpu::Rows seen{base.data(), length.data(), rows.data()};
        for (std::int64_t i = 0; i < particles; ++i) gpu::FillRows<2>{search, seen}(i);
        for (std::int32_t i = 0; i < particles; ++i) {
            CAPTURE(particles, i);
            REQUIRE(length[i] == particles - 1);
            for (std::int32_t k = 0; k < fours * gpu::Four::size; ++k)
                CHECK(seen.row(i)[k / 4 * gpu::group].slots[k % 4] == (k < length[i] ? k + (k >= i) : i));
        }
    }
}

TEST_CASE("accelerators are named, and where there is none the reason is told") {
    CHECK(gpu::accelerator_count(gpu::Backend::host) == 1);
    CHECK(gpu::accelerator_name(gpu::Backend::host, 0, 1) == "1 thread of this processor, in the place of a device");
    CHECK(gpu::accelerator_name(gpu::Backend::host, 0, 2) == "2 threads of this processor, in the place of a device");
    const int devices = gpu::accelerator_count(gpu::Backend::cuda);
    CHECK(gpu::why_no_cuda().empty() == (devices > 0));
    if (devices > 0) CHECK(gpu::accelerator_name(gpu::Backend::cuda, 0, 1).find("GiB") != std::string::npos);
    else {
        CHECK_THROWS_AS(gpu::make_zone<2>(gpu::Backend::cuda, 0, 1, {}), gpu::Error);
        CHECK_THROWS_AS(gpu::make_zone<3>(gpu::Backend::cuda, 0, 1, {}), gpu::Error);
    }
}
