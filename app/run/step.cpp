// SPDX-License-Identifier: MIT
// Velocity Verlet with the two half-kicks between consecutive drifts merged into one pass over the particles: forces at
// step n, kick to n + 1/2, drift to n + 1. Velocities stand at half steps inside the loop; where the whole state is
// wanted at one time, the pass stops after the first half-kick and another makes the second. Velocities are integers,
// so this changes no bit.
#include "app/run/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/deck/checks.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

// Nothing, or why there is no partition for this step.
std::optional<balance::Infeasible> try_to_balance(std::int64_t step, LoadBalancer& balancer, Engine& engine) {
    try {
        balancer.balance(step, engine);
        return std::nullopt;
    } catch (const balance::Infeasible& e) {
        return e;
    }
}

// Sums over all ranks leave no partition, so all ranks come here.
void stop_at_limit(std::int64_t step, const balance::Infeasible& e, bool checkpoint, const comm::Communicator& comm) {
    const char* advice = checkpoint ? "restart from the checkpoint of this step with it, or use" : "use it, or use";
    comm::throw_together(comm, DeckError(no_partition(step, e, advice)));
}

}  // namespace

std::int64_t run_steps(Engine& engine, LoadBalancer& balancer, std::int64_t first, std::int64_t last,
                       Observer& observer) {
    std::int64_t step = first;
    try {
        for (;; ++step) {
            const bool started = step != first, stopping = engine.stop_wanted() != 0;
            Due due = observer.due(step);
            const std::int64_t stop = observer.stop_wanted();

            // Cell fields and balancing count the particles where they are now.
            const double begin = comm::now();
            const bool rebuild_due = engine.displaced(), balancing_due = balancer.due(step, rebuild_due);
            const bool balance = balancing_due && balancer.collect_times(step, engine);
            std::optional<balance::Infeasible> dead_end;
            const bool border = balancer.border_due(step, rebuild_due);
            const bool rebuild = rebuild_due || due.cells || balance || border;
            if (rebuild) {
                observer.rebuilding(step);
                engine.rebin();
                if (balance) dead_end = try_to_balance(step, balancer, engine);  // load model, partition, migration
                if (border) balancer.move_border(step, engine);                  // cells between CPUs and accelerators
                engine.build_neighbour_lists();
                if (due.cells) balancer.look_ahead(engine);  // counts at the next balancing, for load series
            }
            if (rebuild || balancing_due)
                observer.rebuilt({step, rebuild, rebuild_due, balancing_due, comm::now() - begin}, engine);
            observer.balanced(balancer.take_rows(), balancer.take_resources());
            if (const std::optional<BalancedCells> before = balancer.take_cells()) observer.balanced_cells(*before);
            if (balancer.zones().checked_at(step)) observer.border(balancer.zones().take_rows());
            if (dead_end && !started) stop_at_limit(step, *dead_end, false, engine.comm());
            const bool leaving = stopping || dead_end, final = step == last || leaving;
            due.checkpoint |= leaving;
            const bool thermostat = !final && engine.setup().thermostat.acts(step);
            const bool whole = due.series || due.cells || due.checkpoint || final || thermostat;
            const bool sums = due.sums || (thermostat && engine.setup().thermostat.kind == md::ThermostatKind::rescale);
            if (whole) {
                engine.force_pass({started ? md::Kick::last : md::Kick::none, sums, due.forces, step}, stop);
            } else {
                const md::Kick kick = started ? md::Kick::middle : md::Kick::first;
                engine.force_pass({kick, sums, false, step}, stop);  // ghosts, forces, kick, drift
            }
            if (due.sums) observer.sums(step, engine);
            if (due.series || due.cells) observer.series(step, engine);
            if (due.checkpoint) observer.checkpoint(step, engine);
            if (dead_end && step != last) stop_at_limit(step, *dead_end, true, engine.comm());
            if (final) return step;
            if (thermostat) engine.thermalise(step);
            if (whole) engine.force_pass({md::Kick::first, false, false, step}, std::max(stop, engine.stop_wanted()));
        }
    } catch (const md::SimulationError& e) {
        const std::string what = fmt::format("step {}: {}", step - e.passes_ago, e.what());
        comm::throw_in_place_of(e, md::SimulationError(what, e.remedy));
    }
}

}  // namespace app
