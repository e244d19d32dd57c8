// SPDX-License-Identifier: MIT
// The collision of inputs/tiny.yaml without a deck, MPI, files or balancing: only the engine, on the threads of one
// process. Prints the state hash, which is that of `steelyard run inputs/tiny.yaml`, and the speed.
#include <omp.h>

#include <cinttypes>
#include <cstdio>

#include "app/engine/engine.hpp"

int main() {
    md::System system;
    system.box = {260.0, 140.0};
    system.seed = 7;
    md::Body left, right;
    left.lower = {30, 20}, left.upper = {129, 120}, left.velocity = {10, 1};
    right.lower = {131, 20}, right.upper = {232, 120}, right.velocity = {-10, 0};
    left.temperature = right.temperature = 0.05;
    system.slabs = {left, right};
    app::Method method;
    method.dt = 0.0005;
    constexpr std::int64_t last_step = 300;

    const comm::Communicator alone;  // with comm_serial: one rank
    const app::Setup setup = app::make_setup(system, method);
    const balance::Grid grid = setup.domain.grid();
    const balance::Decomposition owners(
        grid, balance::one_box_each({grid.box()}), balance::Hosts(1, 1),
        balance::choose_tile(grid, setup.domain.axis[1].cell_width(), omp_get_max_threads()));
    app::Timers timers;
    const std::unique_ptr<app::Engine> engine = app::make_engine(setup, owners, alone, timers);
    engine->fill(system, owners);

    const double start = comm::now();
    for (std::int64_t step = 0; step <= last_step; ++step) {
        if (engine->displaced()) {
            engine->rebin();
            engine->build_neighbour_lists();
        }
        const bool first = step == 0, last = step == last_step;
        engine->force_pass({first ? md::Kick::first : last ? md::Kick::last : md::Kick::middle});
    }
    const double seconds = comm::now() - start;
    std::printf("%" PRId64 " particles, %" PRId64 " steps, %.2f M atom-steps/s with %d threads and %s kernels\n",
                engine->particles(), last_step, static_cast<double>(engine->particles() * last_step) / seconds * 1e-6,
                omp_get_max_threads(), setup.kernels->isa);
    std::printf("state hash %016" PRIx64 "\n", engine->state_hash());
}
