// SPDX-License-Identifier: MIT
// A zone does what md::Tile and its kernels do, bit for bit.
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "md/random.hpp"
#include "tests/gpu/beside_tiles.hpp"
#include "tests/md/faults.hpp"
#include "tests/md/one_tile.hpp"
#include "tests/md/other_parameters.hpp"

using md::Kick;
using md::Precision;

namespace {

constexpr double skin = 0.3, cutoff = 2.5;

// A box of nx x ny cells of 2.9, periodic on the axes that are not `walled` (0, 1, -1: none, 2: both).
gpu::ZoneSetup setup_of(int nx, int ny, int walled, const md::PotentialSpec& spec, Precision precision,
                        double dt = 0.002) {
    gpu::ZoneSetup s;
    for (int a = 0; a < 2; ++a)
        s.domain.axis[a] = {md::to_edge_units(2.9 * (a == 0 ? nx : ny)), a == 0 ? nx : ny,
                            !(walled == a || walled == 2)};
    s.domain = test::packed_for(s.domain, precision);
    s.halo = 2;
    s.potential = spec;
    s.precision = precision;
    s.limits = md::force_limits(spec);
    s.dt = dt;
    return s;
}

// Particles all over the box, on a lattice with some disorder, hot.
std::vector<md::Particle> sample(const md::Domain& domain, double spacing = 1.1, double speed = 4.0) {
    std::vector<md::Particle> all;
    const auto sites = [&](int a) { return static_cast<int>(domain.axis[a].real_length() / spacing); };
    const auto random = [](std::int64_t id, std::uint64_t k) {
        return 2 * static_cast<double>(md::mix(1000 * static_cast<std::uint64_t>(id) + k) >> 11) /
                   (std::int64_t{1} << 53) -
               1;
    };
    for (int i = 0; i < sites(0); ++i)
        for (int j = 0; j < sites(1); ++j) {
            const std::int64_t id = std::int64_t{i} * sites(1) + j;
            const auto at = [&](int k, int a) {
                const double length = domain.axis[a].real_length();
                return std::llrint((length * (k + 0.5) / sites(a) + 0.05 * random(id, a)) / md::position_unit);
            };
            all.push_back({id, at(i, 0), at(j, 1), std::llrint(speed * random(id, 2) / md::velocity_unit),
                           std::llrint(speed * random(id, 3) / md::velocity_unit)});
        }
    return all;
}

balance::Box box(int x0, int y0, int x1, int y1) { return {{x0, y0, 0}, {x1, y1, 1}}; }

void steps(test::BesideTiles& all, int count, bool rebuild_at_once = false) {
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

TEST_CASE("a zone steps like a tile, with every potential in both precisions") {
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    const int walled = GENERATE(-1, 0, 1);
    const auto on = test::accelerators();
    std::size_t n = 0;
    for (const md::PotentialSpec& spec : test::potentials()) {
        const gpu::ZoneSetup setup = setup_of(7, 6, walled, spec, precision);
        const auto particles = sample(setup.domain, 1.15, 3.0);
        const test::Accelerator& a = on[n++ % on.size()];  // each kind of accelerator with some of the potentials
        CAPTURE(spec.kind, spec.softening, static_cast<int>(spec.shift), static_cast<int>(precision), walled);
        CAPTURE(a.threads, a.shuffle);
        test::BesideTiles all(setup, skin, a, n % 2 ? setup.domain.grid().box() : box(0, 1, 4, 6), particles);
        steps(all, 6);
        all.check_cells();
    }
}

TEST_CASE("a zone goes on like a tile over many rebuilds") {
    struct Place {
        const char* name;
        int walled;
        balance::Box block;
    };
    const std::vector<Place> places{{"the whole periodic box", -1, box(0, 0, 8, 7)},
                                    {"in the middle", -1, box(2, 2, 6, 5)},
                                    {"one cell", -1, box(3, 3, 4, 4)},
                                    {"a strip across the box", -1, box(3, 0, 5, 7)},
                                    {"over a periodic edge", -1, box(5, 4, 8, 7)},
                                    {"the whole walled box", 2, box(0, 0, 8, 7)},
                                    {"a walled corner", 2, box(4, 4, 8, 7)},
                                    {"by one wall", 1, box(0, 0, 5, 3)}};
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    for (const test::Accelerator& on : test::accelerators())
        for (const Place& place : places) {
            CAPTURE(place.name, on.threads, on.shuffle, static_cast<int>(precision));
            const gpu::ZoneSetup setup = setup_of(8, 7, place.walled, {}, precision);
            test::BesideTiles all(setup, skin, on, place.block, sample(setup.domain, 1.1, 8.0));
            steps(all, 60);
            all.check_cells();
            CHECK((all.emigrants() > 0 || place.name == std::string("the whole walled box")));
        }
}

TEST_CASE("a zone's block grows, shrinks, moves and becomes empty") {
    const gpu::ZoneSetup setup = setup_of(9, 8, -1, {}, Precision::mixed);
    for (const test::Accelerator& on : test::accelerators()) {
        CAPTURE(on.threads, on.shuffle);
        test::BesideTiles all(setup, skin, on, box(2, 2, 5, 5), sample(setup.domain));
        std::size_t with_particles = 0;
        for (const balance::Box& next :
             {box(2, 2, 6, 5), box(2, 2, 6, 7), box(3, 2, 6, 7), box(3, 3, 5, 5), box(5, 5, 8, 8), box(0, 0, 0, 0),
              box(0, 0, 2, 8), box(0, 0, 9, 8), box(4, 0, 4, 0), box(0, 0, 9, 8), box(0, 0, 1, 1)}) {
            steps(all, 3);
            all.rebuild();
            all.take_block(next);
            all.check_cells();
            with_particles += all.zone().size() > 0;
        }
        CHECK(with_particles == 9);  // two blocks are empty
        steps(all, 3);
    }
}

TEST_CASE("a zone's vacuum and its few particles do no harm") {
    const gpu::ZoneSetup setup = setup_of(6, 6, -1, {}, Precision::mixed);
    for (const test::Accelerator& on : test::accelerators())
        for (const std::size_t n : {0u, 1u, 2u, 33u}) {
            auto particles = sample(setup.domain);
            particles.resize(n);
            test::BesideTiles all(setup, skin, on, setup.domain.grid().box(), particles);
            CHECK(all.zone().size() == static_cast<std::int64_t>(n));
            steps(all, 4, true);
            all.check_cells();
        }
}

TEST_CASE("a zone of many particles keeps its threads busy and its bits") {
    const gpu::ZoneSetup setup = setup_of(60, 40, -1, {}, Precision::mixed);
    for (const test::Accelerator& on : test::accelerators()) {
        CAPTURE(on.threads, on.shuffle);
        test::BesideTiles all(setup, skin, on, box(0, 3, 58, 40), sample(setup.domain));
        CHECK(all.zone().size() > 10000);
        steps(all, 8, true);
        all.check_cells();
    }
}

TEST_CASE("a zone finds the faults that the kernels find") {
    std::vector<test::FaultCase> cases = test::fault_cases(17.35);
    const auto at = test::particle_at;
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
                     md::FaultKind::speed,
                     4});
    const Precision precision = GENERATE(Precision::mixed, Precision::double_);
    for (const test::FaultCase& c : cases)
        for (const test::Accelerator& on : test::accelerators())
            for (const Kick kick : {Kick::first, Kick::middle}) {
                CAPTURE(c.name, static_cast<int>(precision), on.threads, on.shuffle);
                const gpu::ZoneSetup setup = setup_of(6, 6, -1, c.spec, precision, c.dt);
                test::BesideTiles all(setup, skin, on, setup.domain.grid().box(), c.particles);
                const gpu::Zone::Result r = all.pass({kick, false, false});
                CHECK(r.step.fault.kind == c.fault);
                CHECK(r.step.fault.id == c.id);
            }
}

TEST_CASE("more particles than are copied at a time come and go") {
    const gpu::ZoneSetup setup = setup_of(400, 400, -1, {}, Precision::mixed);
    const std::vector<md::Particle> all = sample(setup.domain);
    CHECK(all.size() > std::size_t{1} << 20);
    for (const test::Accelerator& on : test::accelerators()) {
        if (on.shuffle) continue;
        const auto zone = gpu::make_zone(on.backend, 0, on.threads, setup);
        zone->set_block(setup.domain.grid().box(), {});
        zone->insert(all);
        CHECK(zone->size() == static_cast<std::int64_t>(all.size()));
        std::vector<md::Particle> back = zone->set_block({{0, 0, 0}, {0, 0, 1}}, {});
        CHECK(zone->size() == 0);
        std::sort(back.begin(), back.end(), [](const auto& p, const auto& q) { return p.id < q.id; });
        CHECK(std::equal(all.begin(), all.end(), back.begin(), back.end(), [](const auto& p, const auto& q) {
            return p.id == q.id && p.x == q.x && p.y == q.y && p.vx == q.vx && p.vy == q.vy;
        }));
    }
}

TEST_CASE("a zone works on its own threads while its caller sleeps") {
    const gpu::ZoneSetup setup = setup_of(100, 100, -1, {}, Precision::mixed);
    const auto zone = gpu::make_zone(gpu::Backend::host, 0, 2, setup);
    zone->set_block(setup.domain.grid().box(), {});
    zone->insert(sample(setup.domain));
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
    const gpu::ZoneSetup setup = setup_of(6, 6, -1, {}, Precision::mixed);
    const auto zone = gpu::make_zone(gpu::Backend::host, 0, 3, setup);
    zone->set_block(setup.domain.grid().box(), {});
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

TEST_CASE("a zone holds what lies from the first to the last quantum of its block") {
    const gpu::ZoneSetup setup = setup_of(7, 6, -1, {}, Precision::mixed);
    const balance::Box block = box(2, 1, 5, 4);
    const auto edge = [&](int a, int cell) { return setup.domain.axis[a].edge(cell) << md::edge_shift; };
    const std::int64_t x = edge(0, 3) + 1, y = edge(1, 2) + 1;
    const std::vector<md::Particle> inside{
        {0, edge(0, 2), y, 0, 0}, {1, edge(0, 5) - 1, y, 0, 0}, {2, x, edge(1, 1), 0, 0}, {3, x, edge(1, 4) - 1, 0, 0}},
        outside{{4, edge(0, 2) - 1, y, 0, 0},
                {5, edge(0, 5), y, 0, 0},
                {6, x, edge(1, 1) - 1, 0, 0},
                {7, x, edge(1, 4), 0, 0}};
    for (const test::Accelerator& on : test::accelerators()) {
        const auto zone = gpu::make_zone(on.backend, 0, on.threads, setup, on.shuffle);
        zone->set_block(block, {});
        zone->insert(outside);
        zone->insert(inside);
        std::set<std::int64_t> left, kept;
        for (const md::Particle& p : zone->take_emigrants()) left.insert(p.id);
        for (const md::Particle& p : zone->particles()) kept.insert(p.id);
        CHECK(left == std::set<std::int64_t>{4, 5, 6, 7});
        CHECK(kept == std::set<std::int64_t>{0, 1, 2, 3});
    }
}

TEST_CASE("threads that sort particles into the same cells lose none") {
    const gpu::ZoneSetup setup = setup_of(6, 6, -1, {}, Precision::mixed);
    std::vector<md::Particle> all;
    for (std::int64_t id = 0; id < 50000; ++id) {  // neighbours in memory lie in four cells by turns
        const double x = 6 + 2.9 * static_cast<double>(id % 2), y = 6 + 2.9 * static_cast<double>(id / 2 % 2);
        all.push_back({id, std::llrint(x / md::position_unit), std::llrint(y / md::position_unit), 0, 0});
    }
    for (const test::Accelerator& on : test::accelerators())
        for (int again = 0; again < 5; ++again) {
            const auto zone = gpu::make_zone(on.backend, 0, on.threads, setup, on.shuffle);
            zone->set_block(box(2, 2, 4, 4), {});
            zone->insert(all);
            zone->sort();
            std::vector<char> seen(all.size());
            for (const md::Particle& p : zone->particles()) seen[static_cast<std::size_t>(p.id)] = 1;
            CHECK(std::count(seen.begin(), seen.end(), 1) == 50000);
        }
}

TEST_CASE("a particle outside the block that is to hold it is an error") {
    const gpu::ZoneSetup setup = setup_of(6, 6, -1, {}, Precision::mixed);
    for (const test::Accelerator& on : test::accelerators()) {
        const auto zone = gpu::make_zone(on.backend, 0, on.threads, setup, on.shuffle);
        zone->set_block(box(1, 1, 3, 3), {});
        zone->insert(sample(setup.domain));
        CHECK_THROWS_AS(zone->sort(), md::SimulationError);
    }
}

TEST_CASE("accelerators are named, and where there is none the reason is told") {
    CHECK(gpu::accelerator_count(gpu::Backend::host) == 1);
    CHECK(gpu::accelerator_name(gpu::Backend::host, 0, 1) == "1 thread of this processor, in the place of a device");
    CHECK(gpu::accelerator_name(gpu::Backend::host, 0, 2) == "2 threads of this processor, in the place of a device");
    const int devices = gpu::accelerator_count(gpu::Backend::cuda);
    CHECK(gpu::why_no_cuda().empty() == (devices > 0));
    if (devices > 0) CHECK(gpu::accelerator_name(gpu::Backend::cuda, 0, 1).find("GiB") != std::string::npos);
    else CHECK_THROWS_AS(gpu::make_zone(gpu::Backend::cuda, 0, 1, {}), gpu::Error);
}
