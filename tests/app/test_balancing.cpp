// SPDX-License-Identifier: MIT
// That balancing balances, by thread timers and by counted work, on any number of ranks.
//
// The test drives the clock: each call of a step kernel costs what the test charges for the tile's particles, those in
// an expensive region many times as much, and the stopwatch reads the sum of these charges. So every process has a true
// time, known without the bookkeeping under test, and no answer depends on how fast this machine is.
#include <omp.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "app/balancing/from_deck.hpp"
#include "app/balancing/measure.hpp"
#include "app/balancing/reference.hpp"
#include "tests/app/run.hpp"

using namespace app;
using test::world;

namespace {

constexpr std::int64_t processes = 12;
// One particle takes seconds, so that the milliseconds of a real migration weigh nothing.
constexpr double seconds_per_particle = 1, expensive_factor = 8;
// Whole cells of 2.5; lengths.
constexpr std::array<double, 2> expensive_lower{20, 10}, expensive_upper{40, 40};
const std::vector<std::string> expensive_region{"balance.work.region.lower=[20, 10]",
                                                "balance.work.region.upper=[40, 40]", "balance.work.region.factor=8"};

// The state of the charging kernels, which are plain functions.
thread_local double charged_seconds = 0;  // the clock
const EngineOf<2>* watched = nullptr;
bool region_is_expensive = true;
double slowness = 1;  // of this rank
md::KernelsOf<2>::Step real_step = nullptr;
std::mutex truth_mutex;
std::vector<double> truth;  // seconds of each process, those of other ranks 0

double read_charges() { return charged_seconds; }

// Nothing for the reference's liquid, which is nobody's.
std::optional<std::int64_t> process_of(const md::TileView<2>& view) {
    for (std::size_t t = 0; t < watched->tiles().size(); ++t)
        if (watched->tiles()[t].packed() == view.packed) return watched->tiles().process_of(t);
    return std::nullopt;
}

void charging_step(const md::TileView<2>& view, const md::StepArgs& args, md::StepResult& result) {
    std::int64_t particles = 0, expensive = 0;
    for (std::int32_t c = 0; c < view.cluster_count; ++c) particles += view.clusters[c].count;
    for (std::int64_t i = 0; region_is_expensive && i < particles; ++i) {
        const double x = std::ldexp(static_cast<double>(view.x[0][i]), -40),
                     y = std::ldexp(static_cast<double>(view.x[1][i]), -40);
        expensive +=
            x >= expensive_lower[0] && x < expensive_upper[0] && y >= expensive_lower[1] && y < expensive_upper[1];
    }
    real_step(view, args, result);
    if (particles == 0) return;
    const std::optional<std::int64_t> process = process_of(view);
    const double of_all = static_cast<double>(particles) + (expensive_factor - 1) * static_cast<double>(expensive),
                 seconds = slowness * (process ? seconds_per_particle * of_all : 1e-3);
    charged_seconds += seconds;
    if (!process) return;
    const std::lock_guard lock(truth_mutex);
    truth[*process] += seconds;
}

const md::Kernels& charging_kernels(const md::PotentialSpec& potential, md::Precision precision) {
    static md::Kernels kernels;
    kernels = md::choose_kernels();
    real_step = md::kernels_of<2>(kernels).step_for(potential, precision);
    for (auto& of_potential : kernels.in_plane.step)
        for (auto& of_precision : of_potential)
            for (auto& step : of_precision) step = charging_step;
    return kernels;
}

// Seconds of all processes since the last call, on all ranks.
std::vector<double> take_truth() {
    std::vector<std::int64_t> milliseconds;
    for (double s : truth) milliseconds.push_back(std::llround(s * 1e3));
    world().sum(milliseconds);
    truth.assign(processes, 0.0);
    std::vector<double> seconds;
    for (std::int64_t ms : milliseconds) seconds.push_back(static_cast<double>(ms) * 1e-3);
    return seconds;
}

double largest(const std::vector<double>& times) { return *std::max_element(times.begin(), times.end()); }
double mean(const std::vector<double>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

struct Record : Observer {
    std::vector<BalanceRow> rows;
    std::vector<std::vector<double>> times;  // true ones of the processes up to each row
    void balanced(const std::vector<BalanceRow>& r, const std::vector<ResourceRow>&) override {
        if (r.empty()) return;
        rows.insert(rows.end(), r.begin(), r.end());
        times.push_back(take_truth());
    }
};

struct Run : test::Run<Record> {
    Run(const std::string& text, const std::vector<std::string>& settings)
        : test::Run<Record>(text, settings, {processes, {8, 8}, [](Setup& s, const Deck&) {
                                                 s.kernels = &charging_kernels(s.potential, s.precision);
                                                 s.thread_seconds = read_charges;
                                             }}) {
        watched = &engine;
        truth.assign(processes, 0.0);
    }
    // True seconds of each process over some steps.
    std::vector<double> seconds_of(std::int64_t first, std::int64_t last) {
        take_truth();
        record.times.clear();
        steps(first, last);
        record.times.push_back(take_truth());
        std::vector<double> sum(processes, 0.0);
        for (const std::vector<double>& part : record.times)
            for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += part[p];
        return sum;
    }
};

// Two drops in a corner of the box, one of them partly in the expensive region, drifting.
const std::string off_centre = R"(
system:
  box: [120.0, 80.0]
  boundary: [periodic, periodic]
  seed: 5
  slabs:
    - {lower: [6, 4], upper: [46, 44], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [6.0, 2.0]}
    - {lower: [48, 10], upper: [70, 30], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [-8.0, 0.0]}
run: {dt: 0.0005, steps: 1000}
)";
// A crystal at rest.
const std::string crystal = R"(
system:
  box: fit
  slabs:
    - {lattice: hexagonal, cells: [40, 23], density: 0.85, temperature: 0}
run: {dt: 0.004, steps: 1000}
)";
// A uniform liquid.
const std::string liquid = R"(
system:
  box: fit
  slabs:
    - {lattice: hexagonal, cells: [40, 23], density: 0.85, temperature: 1.0}
run: {dt: 0.001, steps: 1000}
)";

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("the stopwatch gives every process its own time, on one thread and on several") {
    const int threads_before = omp_get_max_threads();
    for (const int threads : {1, 3}) {
        omp_set_num_threads(threads);
        region_is_expensive = true;
        Run run(off_centre, {"balance.every=100000"});
        const std::vector<double> expected = run.seconds_of(0, 10);
        std::vector<std::int64_t> milliseconds(processes, 0);
        const std::vector<double> seconds = run.engine.take_tile_seconds();
        for (std::size_t t = 0; t < seconds.size(); ++t)
            milliseconds[run.engine.tiles().process_of(t)] += std::llround(seconds[t] * 1e3);
        world().sum(milliseconds);
        CAPTURE(threads);
        for (std::int64_t p = 0; p < processes; ++p) {
            CAPTURE(p);
            CHECK(static_cast<double>(milliseconds[p]) * 1e-3 == Approx(expected[p]).epsilon(1e-6));
        }
        CHECK(largest(expected) > 1.5 * mean(expected));  // or any mixing of processes would pass
    }
    omp_set_num_threads(threads_before);
}

TEST_CASE("balancing takes load off the slowest process, by the wall clock and by counted work") {
    region_is_expensive = true;
    const std::vector<double> before = Run(off_centre, {}).seconds_of(18, 24);
    const double even = mean(before) / largest(before);
    CHECK(even < 0.15);
    const std::vector<std::string> counted =
        joined(expensive_region, {"balance.clock=work", "balance.work.particle=1e-6", "balance.work.cell=0",
                                  "balance.work.candidate=0", "balance.work.pair=0"});
    for (const bool wall : {true, false})
        for (const char* migrate : {"gain", "always"}) {
            CAPTURE(wall, migrate);
            Run run(off_centre, joined(wall ? std::vector<std::string>{} : counted,
                                       {"balance.every=3", std::string("balance.migrate=") + migrate}));
            run.steps(0, 18);
            const std::vector<BalanceRow> first = run.record.rows;
            const std::vector<std::vector<double>> times = run.record.times;
            const std::vector<double> after = run.seconds_of(18, 24);
            const double balanced = mean(after) / largest(after);
            // By particle counts alone the efficiency would be 0.39, and 0.29 of the time before would remain.
            CHECK(largest(after) < 0.2 * largest(before));
            CHECK(balanced > 0.55);
            CHECK(run.record.rows.back().lbe > first.front().lbe + 0.2);
            CHECK(run.record.rows.back().lbe == Approx(balanced).margin(0.1));
            CHECK(std::ranges::count(run.record.rows, balance::Decision::moved, &BalanceRow::decision) >= 1);
            if (!wall) continue;
            // Rows say what the processes took, by their own clock.
            REQUIRE(times.size() == first.size());
            for (std::size_t i = 0; i < first.size(); ++i) {
                const auto steps = static_cast<double>(first[i].step - (i > 0 ? first[i - 1].step : 0));
                CHECK(first[i].max_seconds == Approx(largest(times[i]) / steps).epsilon(1e-6));
                CHECK(first[i].mean_seconds == Approx(mean(times[i]) / steps).epsilon(1e-6));
                CHECK(first[i].lbe == Approx(mean(times[i]) / largest(times[i])).epsilon(1e-6));
            }
        }
}

TEST_CASE("processes of a slow rank are found by the reference, and get less") {
    region_is_expensive = false;
    const auto speed_of = [](std::int64_t process) {
        return balance::Hosts(processes, world().size()).member_of(process) == 0 ? 0.5 : 1.0;
    };
    double sum = 0;
    for (std::int64_t p = 0; p < processes; ++p) sum += speed_of(p);
    slowness = world().rank() == 0 ? 2 : 1;
    Run run(off_centre, {"balance.every=3", "balance.migrate=always", "balance.partition.cut=cells"});
    run.steps(0, 12);
    const std::vector<double> times = run.seconds_of(12, 14);
    slowness = 1;
    region_is_expensive = true;
    for (std::int64_t p = 0; p < processes; ++p)
        CHECK(run.balancer.speeds().relative()[p] == Approx(speed_of(p) * processes / sum));
    CHECK(largest(times) < 1.4 * mean(times));
}

TEST_CASE("the reference is measured only where a run affords it") {
    const auto setup = [](double (*clock)()) {
        Setup s = make_setup(parse_deck(off_centre, "test.yaml", {}), "");
        s.kernels = &charging_kernels(s.potential, s.precision);
        s.thread_seconds = clock;
        return s;
    };
    const Setup charged = setup(read_charges);  // 1 ms a pass
    const Run watched_run(off_centre, {});
    Reference reference(charged, world());
    CHECK_FALSE(reference.measure(0));
    CHECK_FALSE(reference.measure(0.9));
    CHECK(reference.measure(0.2).value() == Approx(1e-3));
    CHECK_FALSE(reference.measure(0.2));
    charged_seconds = 0;
    reference.measure(1e6);
    CHECK(charged_seconds == Approx(16e-3));  // of the passes that could have been made only the last ones
    const Setup standing = setup([] { return 1.0; });
    CHECK_FALSE(Reference(standing, world()).measure(1e6));
    const std::vector<double> counted =
        counted_reference({.fraction = 0.5, .speed = 0.25, .active = {.from_step = 10}}, 0, 1, 10, {2, 6});
    CHECK(counted == std::vector<double>{1, 4, 1, 4});
    CHECK(counted_reference({.fraction = 0.5, .active = {.from_step = 10}}, 0, 1, 9, {2, 4}) ==
          std::vector<double>{1, 1});
    const std::vector<double> noisy = counted_reference({}, 0.1, 1, 10, {0, 3}),
                              other = counted_reference({}, 0.1, 1, 10, {1, 3});
    CHECK((noisy[0] != 1 && noisy[1] == other[0] && noisy[1] != noisy[2]));
    CHECK(noisy != noise_of(0.1, 1, 10, {0, 3}));
}

namespace {
void sleeping_step(const md::TileView<2>& view, const md::StepArgs& args, md::StepResult& result) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    real_step(view, args, result);
}
}  // namespace

TEST_CASE("by the wall clock it is known what part of its time a thread had its core") {
    for (const bool by_wall : {true, false}) {
        const auto change = [&](Setup& s, const Deck&) {
            s.thread_seconds = by_wall ? comm::now : comm::thread_cpu_seconds;
            s.kernels = &charging_kernels(s.potential, s.precision);
            md::Kernels& kernels = const_cast<md::Kernels&>(*s.kernels);
            for (auto& of_potential : kernels.in_plane.step)
                for (auto& of_precision : of_potential)
                    for (auto& step : of_precision) step = sleeping_step;
        };
        test::Run<Record> run(off_centre, {"balance.every=100000"}, {processes, {64, 64}, change});
        CHECK(run.engine.take_share() == 1);
        run.steps(0, 2);
        const double share = run.engine.take_share();
        CAPTURE(share, run.engine.particles());
        if (by_wall) CHECK((share > 0 && share < 0.9));
        else CHECK(share == 1);
        CHECK(run.engine.take_share() == 1);
    }
}

TEST_CASE("what the even partition would have taken is about what it takes") {
    region_is_expensive = false;
    Run plain(off_centre, {});
    double even = 0, perfect = 0;
    for (int step = 0; step < 18; step += 3) {
        const std::vector<double> times = plain.seconds_of(step, step + 3);  // of 4 passes
        even += 0.75 * largest(times) / omp_get_max_threads();               // elapsed
        perfect += 0.75 * mean(times) / omp_get_max_threads();
    }
    Run run(off_centre, {"balance.every=3", "balance.migrate=always", "balance.speeds=off"});
    run.steps(0, 18);
    region_is_expensive = true;
    const balance::WorthSums worth = run.balancer.worth().value();
    CHECK(worth.steps == 18);
    CHECK(worth.perfect == Approx(perfect).epsilon(0.001));
    // A particle costs the same everywhere in this test, but those at the rims of the drops have shorter lists.
    CHECK(worth.even == Approx(even).epsilon(0.15));
    CHECK(worth.measured < 0.5 * even);
}

TEST_CASE("what balancing was worth is in elapsed seconds, also of ranks with unlike numbers of threads") {
    const int threads_before = omp_get_max_threads(), threads = 1 + 2 * (world().rank() % 2);
    region_is_expensive = false;
    omp_set_num_threads(threads);
    Run plain(off_centre, {"balance.every=100000", "balance.partition.kind=none"});
    // Each rank's processes take the seconds of its threads, over their number.
    std::vector<double> elapsed(processes, 0.0);
    for (int step = 0; step < 12; step += 3) {
        plain.seconds_of(step, step + 3);  // of 4 passes
        std::vector<std::int64_t> milliseconds(processes, 0);
        const std::vector<double> seconds = plain.engine.take_tile_seconds();
        for (std::size_t t = 0; t < seconds.size(); ++t)
            milliseconds[plain.engine.tiles().process_of(t)] += std::llround(seconds[t] / threads * 1e3);
        world().sum(milliseconds);
        for (std::size_t p = 0; p < elapsed.size(); ++p) elapsed[p] += 0.75e-3 * static_cast<double>(milliseconds[p]);
    }
    Run run(off_centre, {"balance.every=3", "balance.speeds=off", "balance.partition.kind=none"});
    run.steps(0, 12);
    omp_set_num_threads(threads_before);
    region_is_expensive = true;
    const balance::WorthSums worth = run.balancer.worth().value();
    CHECK(worth.perfect == Approx(mean(elapsed)).epsilon(0.001));
    CHECK(worth.measured == Approx(largest(elapsed)).epsilon(0.1));  // another process may be the slowest for a while
}

TEST_CASE("a run that goes on between two balancings measures the seconds of its own steps") {
    region_is_expensive = false;
    Run run(off_centre, {"balance.every=10", "balance.speeds=off", "balance.criterion=every"});
    run.balancer.set_last_step(3);
    run.balancer.set_timed_from(9);
    run.seconds_of(9, 14);
    region_is_expensive = true;
    REQUIRE(run.record.rows.size() == 1);
    const auto steps = static_cast<double>(run.record.rows[0].step - 9);
    CHECK(steps == 4);
    CHECK(run.record.rows[0].mean_seconds == Approx(mean(run.record.times[0]) / steps).epsilon(1e-6));
    CHECK(run.record.rows[0].max_seconds == Approx(largest(run.record.times[0]) / steps).epsilon(1e-6));
}

TEST_CASE("a drop of a few cells: the dearest one bounds what balance can reach") {
    const std::string drop = R"(
system:
  box: [120.0, 80.0]
  boundary: [periodic, periodic]
  slabs:
    - {lower: [11, 11], upper: [16, 16], lattice: hexagonal, density: 1.0, temperature: 0}
run: {dt: 0.0005, steps: 1000}
)";
    region_is_expensive = false;
    Run run(drop, {"balance.every=3", "balance.migrate=always", "balance.speeds=off"});
    run.steps(0, 12);
    region_is_expensive = true;
    const balance::WorthSums worth = run.balancer.worth().value();
    CHECK(worth.possible > 1.2 * worth.perfect);  // a cell of a few has more than a twelfth of all particles
    CHECK(worth.possible < 4 * worth.perfect);
    CHECK(worth.possible < worth.even);
}

TEST_CASE("what tiles take is shared among the processes of the even partition, whoever has the tiles") {
    const std::vector<double> costs{1, 2, 0.5, 0.25};
    Run run(off_centre, {"balance.every=3"});
    run.steps(0, 7);
    const Tiles<2>& tiles = run.engine.tiles();
    const balance::Grid grid = run.engine.setup().domain.grid();
    const std::vector<balance::Box> boxes = balance::even_partition(grid, processes);
    std::vector<double> times(processes, 0.0), even(processes, 0.0), lists(processes, 0.0);
    for (std::size_t t = 0; t < tiles.size(); ++t)
        lists[tiles.process_of(t)] += static_cast<double>(tiles[t].list_length());
    for (std::size_t p = 0; p < times.size(); ++p) times[p] = lists[p] > 0 ? 1e6 * static_cast<double>(p + 1) : 0;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        if (tiles[t].list_length() == 0) continue;
        const balance::Box& tile = tiles[t].box();
        std::array<int, 3> cell = tile.lower;
        std::vector<double> shares(processes, 0.0);
        double all = 0;
        for (const auto& [n, n3, n5] : tiles.cell_counts_of(t)) {
            const double load = costs[0] + n * (costs[1] + costs[2] * n3 + costs[3] * n5);
            all += load;
            for (std::size_t p = 0; p < boxes.size(); ++p) shares[p] += boxes[p].contains(cell) ? load : 0;
            if (++cell[1] == tile.upper[1]) cell[1] = tile.lower[1], ++cell[0];
        }
        const std::int64_t owner = tiles.process_of(t);
        for (std::size_t p = 0; p < boxes.size(); ++p)
            even[p] += times[owner] * static_cast<double>(tiles[t].list_length()) / lists[owner] * shares[p] / all;
    }
    const balance::IndexRange all_processes{0, processes};
    std::vector<std::int64_t> sums(processes, 0);
    for (const NanosecondsOf& part : evenly_owned(tiles, all_processes, times, grid, processes, costs))
        sums[part.process] += part.nanoseconds;
    for (std::size_t p = 0; p < sums.size(); ++p)
        CHECK(std::abs(static_cast<double>(sums[p]) - even[p]) <= static_cast<double>(tiles.size()));
    // Where nothing costs anything, cells count alike: nothing is lost.
    std::int64_t all = 0;
    for (const NanosecondsOf& part :
         evenly_owned(tiles, all_processes, times, grid, processes, std::vector<double>{0, 0, 0, 0}))
        all += part.nanoseconds;
    CHECK(std::abs(static_cast<double>(all) - std::accumulate(times.begin(), times.end(), 0.0)) <=
          4 * static_cast<double>(tiles.size()));
}

TEST_CASE("a load that is balanced already stays where it is, when migrations have to pay") {
    region_is_expensive = false;
    const auto check = [](const std::string& deck, const std::vector<std::string>& settings) {
        Run run(deck, joined(settings, {"balance.every=4", "balance.migrate=gain"}));
        run.steps(0, 60);
        REQUIRE(run.record.rows.size() > 6);
        for (std::size_t i = 5; i < run.record.rows.size(); ++i)
            CHECK(run.record.rows[i].decision == balance::Decision::kept_gain);
        CHECK(run.record.rows.back().lbe > 0.9);
    };
    check(crystal, {"balance.model=particle_count"});
    check(liquid, {"balance.clock=work"});
}

TEST_CASE("work beyond what can be summed exactly is refused by all ranks alike, before any sum is wrong") {
    region_is_expensive = true;
    const auto message = [](const std::string& model, const std::string& factor) -> std::string {
        std::vector<std::string> settings{"balance.every=4",
                                          "balance.clock=work",
                                          "balance.migrate=always",
                                          "balance.model=" + model,
                                          "balance.work.region.lower=[0, 0]",
                                          "balance.work.region.upper=[120, 80]",
                                          "balance.work.region.factor=" + factor};
        for (const char* price : {"cell", "particle", "candidate", "pair", "spill"})
            settings.push_back(std::string("balance.work.") + price + "=1e-3");
        std::string text = "no error";
        bool known_to_all = true;
        try {
            Run(off_centre, settings).steps(0, 8);
        } catch (const md::SimulationError& e) {
            text = std::string(e.what()) + "; " + e.remedy;
            known_to_all = comm::thrown_by_all(e, world());
        }
        std::string of_first = text;
        world().broadcast(of_first);
        CHECK(world().all_agree(known_to_all && text == of_first));
        return text;
    };
    for (const char* model : {"a1", "b1", "r1"}) {
        CAPTURE(model);
        CHECK(message(model, "1000") ==
              "step 4: the counted work of one step is 7.15e+04 s, more than the 4096 s that can be summed exactly; "
              "make balance.work.region.factor (1000) smaller");
        CHECK(message(model, "30") == "no error");
    }
}
