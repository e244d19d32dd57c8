// SPDX-License-Identifier: MIT
// zone_rates FILE [host | check]: the engine with the whole periodic box as one block on a CUDA device. Without a
// device, or with `host`, threads of this processor stand in for it. First the state after 300 steps must be that of
// the engine without a block, bit for bit. Three systems are compared: a slab collision, and liquids in the plane and
// in space. With `check` the program ends there. Then it measures rates with more and more particles, new neighbour
// lists included. Prints a table and writes FILE (JSON).
#include <omp.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/engine/engine.hpp"
#include "gpu/zone.hpp"
#include "md/initial.hpp"
#include "md/lattice.hpp"

namespace {

struct Problem {
    const char* name;
    md::System system{};
    app::Method method{};
};

// The collision of inputs/slab.yaml, larger or smaller.
Problem slabs(double particles) {
    Problem problem{"slab"};
    const double scale = std::sqrt(particles / 116700);
    problem.system.box = {560 * scale, 340 * scale};
    problem.system.seed = 42;
    md::Body left, right;
    left.lower = {40 * scale, 100 * scale}, left.upper = {180 * scale, 300 * scale}, left.velocity = {14, 0};
    right.lower = {left.upper[0] + 3, 30 * scale}, right.upper = {500 * scale, 310 * scale}, right.velocity = {-6, 0};
    left.temperature = right.temperature = 0.05;
    problem.system.slabs = {left, right};
    problem.method.dt = 0.0005;
    return problem;
}

// The liquid of inputs/liquid.yaml.
Problem liquid(double particles) {
    Problem problem{"liquid"};
    md::Body slab;
    slab.density = 0.9;
    slab.temperature = 1.0;
    const auto rows = std::llround(std::sqrt(particles / 2 / std::sqrt(3.0)));
    slab.cells = {{std::llround(particles / 2 / static_cast<double>(rows)), rows, 1}};
    const double a = md::lattice_constant(slab.lattice, slab.density);
    problem.system.box = {static_cast<double>((*slab.cells)[0]) * a,
                          static_cast<double>((*slab.cells)[1]) * a * std::sqrt(3.0)};
    problem.system.potential.shift = md::Shift::none;
    problem.system.slabs = {slab};
    problem.method.dt = 0.005;
    return problem;
}

// A liquid in a box with three equal sides.
Problem liquid_in_space(double particles) {
    Problem problem{"space"};
    md::Body slab;
    slab.lattice = md::LatticeKind::fcc;
    slab.density = 0.8442;
    slab.temperature = 1.44;
    const auto side = std::llround(std::cbrt(particles / md::sites_of_cell(slab.lattice)));
    slab.cells = {{side, side, side}};
    problem.system.dimensions = 3;
    problem.system.box = md::fitted_box(slab);
    problem.system.slabs = {slab};
    problem.method.dt = 0.004;
    return problem;
}

constexpr std::array systems{slabs, liquid, liquid_in_space};

// The engine of one rank. Its whole box is the block of the accelerator, if there is one.
class WholeBox {
public:
    WholeBox(const Problem& problem, const app::Accelerators& accelerators) {
        app::Setup setup = app::make_setup(problem.system, problem.method);
        setup.accelerators = accelerators;
        const balance::Grid grid = setup.domain.grid();
        const auto owners = [&](const balance::Zones& zones) {
            return balance::Decomposition(
                grid, balance::one_box_each({grid.box()}), balance::Hosts(1, 1),
                balance::choose_tile(grid, setup.domain.axes().back().cell_width(), omp_get_max_threads()), zones);
        };
        engine_ = app::make_engine(setup, owners({}), alone_, timers_);
        engine_->fill(problem.system, owners({}));
        engine_->rebin();
        if (!accelerators.devices.empty()) engine_->repartition(owners({}), owners({{grid.box()}, {0, 1}}));
    }

    app::Engine& engine() { return *engine_; }
    void step(md::Kick kick) {
        if (engine_->displaced()) {
            engine_->rebin();
            engine_->build_neighbour_lists();
        }
        engine_->force_pass({kick});
    }
    // State after so many steps from the start.
    std::uint64_t hash_after(int steps) {
        for (int k = 0; k <= steps; ++k)
            step(k == 0 ? md::Kick::first : k == steps ? md::Kick::last : md::Kick::middle);
        return engine_->state_hash();
    }

private:
    const comm::Communicator alone_;
    app::Timers timers_;
    std::unique_ptr<app::Engine> engine_;
};

// Whether the states of all systems are the same with and without the accelerator.
bool check(const app::Accelerators& accelerators) {
    bool equal = true;
    constexpr int steps = 300;
    for (auto* const make : systems)
        for (const md::Precision precision : {md::Precision::mixed, md::Precision::double_}) {
            Problem of = make(20000);
            of.method.precision = precision;
            WholeBox on_block(of, accelerators), on_tiles(of, {});
            const std::uint64_t mine = on_block.hash_after(steps), expected = on_tiles.hash_after(steps);
            std::printf("%s, %s, %" PRId64 " particles, %d steps: state %016" PRIx64 ", on tiles %016" PRIx64 "\n",
                        of.name, balance::word_of(precision).data(), on_block.engine().particles(), steps, mine,
                        expected);
            equal = mine == expected && equal;
        }
    if (!equal) std::fprintf(stderr, "zone_rates: the accelerator's bits are not those of the tiles\n");
    return equal;
}

// Atom-steps a second in four seconds, rebuilds included.
double rate(const Problem& problem, const app::Accelerators& accelerators) {
    WholeBox box(problem, accelerators);
    app::Engine& engine = box.engine();
    const auto particles = static_cast<double>(engine.particles());
    for (int k = 0; k <= 20; ++k) box.step(k == 0 ? md::Kick::first : md::Kick::middle);
    engine.take_zone_seconds();
    const std::int64_t rebuilds = engine.rebuilds();
    const double start = comm::now();
    double steps = 0, seconds = 0;
    while (seconds < 4) {
        box.step(md::Kick::middle);
        ++steps;
        seconds = comm::now() - start;
    }
    const double rate = particles * steps / seconds, pass = engine.take_zone_seconds().accelerator;
    std::printf("%-7s %11.0f %9.2f %9.2f %8.1f %8.2f\n", problem.name, particles, rate * 1e-6,
                1e9 * pass / particles / steps,
                steps / static_cast<double>(std::max<std::int64_t>(engine.rebuilds() - rebuilds, 1)), engine.skin());
    std::fflush(stdout);
    return rate;
}

// The rates of all systems, as members of a JSON object.
std::string rates(const app::Accelerators& accelerators) {
    const bool device = accelerators.backend == gpu::Backend::cuda;
    const std::vector<double> sizes = device ? std::vector{1e6, 4e6, 16e6, 64e6} : std::vector{1e5, 4e5};
    std::printf("system    particles       M/s   ns pass  rebuild     skin\n");
    std::string all;
    for (auto* const make : systems) {
        all += "\"rate_" + std::string(make(1e4).name) + "\": {";
        for (const double size : sizes) {
            char text[64];
            std::snprintf(text, sizeof text, "%s\"%.0f\": %.6g", size > sizes[0] ? ", " : "", size,
                          rate(make(size), accelerators));
            all += text;
        }
        all += "}, ";
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc == 3 ? argv[2] : "";
    if (argc < 2 || argc > 3 || argv[1][0] == '-' || (argc == 3 && what != "host" && what != "check")) {
        std::fprintf(stderr, "usage: zone_rates FILE [host | check]\n");
        return 2;
    }
    const bool device = gpu::accelerator_count(gpu::Backend::cuda) > 0 && what != "host";
    app::Accelerators accelerators{device ? gpu::Backend::cuda : gpu::Backend::host, {0}};
    if (!device) accelerators.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    try {
        const std::string name = gpu::accelerator_name(accelerators.backend, 0, accelerators.threads);
        std::printf("on %s\n", name.c_str());
        if (!device) std::printf("these are rates of the host stand-in\n");
        const bool equal = check(accelerators);
        if (what == "check") return equal ? 0 : 1;
        std::ofstream file(argv[1]);
        file << "{" << rates(accelerators) << "\"hash_equal\": " << (equal ? "true" : "false") << ", \"device\": \""
             << name << "\", \"stand_in\": " << (device ? "false" : "true") << "}\n";
        if (!file.flush()) throw std::runtime_error(std::string("can't write ") + argv[1]);
        return equal ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "zone_rates: %s\n", e.what());
        return 1;
    }
}
