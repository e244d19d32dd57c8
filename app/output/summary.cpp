// SPDX-License-Identifier: MIT
// Functions by topic, so that summary.json keeps its order of keys, which people read from top to bottom.
#include "app/output/summary.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/common/build_info.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"

namespace app {
namespace {

using Json = nlohmann::ordered_json;

double peak_resident_bytes() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_maxrss) * 1024;
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json json_of(const comm::Spread& s) { return {{"min", s.min}, {"mean", s.mean}, {"max", s.max}}; }

std::string phase_name(std::size_t i) { return i < phase_names.size() ? std::string(phase_names[i]) : "other"; }

void add_program(Json& j, const Summary& s) {
    const BuildInfo build = build_info();
    j["version"] = STEELYARD_VERSION;
    j["build"] = {{"version", build.version}, {"commit", build.commit}, {"compiler", build.compiler},
                  {"mpi", build.mpi},         {"hdf5", build.hdf5},     {"kernels", build.kernels}};
    j["command_line"] = s.command_line;
    j["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));  // of the end
}

void add_run(Json& j, const Summary& s) {
    j["deck"] = s.deck.name;
    j["ranks"] = s.ranks;
    j["threads"] = omp_get_max_threads();
    j["processes"] = s.engine.tiles().hosts().processes();
    j["particles"] = s.particles;
    j["cells"] = s.engine.setup().domain.grid().box().cells();
    j["steps"] = s.step;
    j["first_step"] = s.first_step;
    j["wall_seconds"] = s.wall_seconds;
    j["cpu_seconds"] = s.cpu_seconds;
    j["atom_steps_per_second"] = s.wall_seconds > 0 ? s.atom_steps() / s.wall_seconds : 0.0;
    j["state_hash"] = fmt::format("{:016x}", s.state_hash);
    j["energy_first"] = s.energy_first.value_or(0);
    j["energy_last"] = json_of(s.energy_last);
    j["energy_drift"] = json_of(s.energy_drift);
}

void add_balancing(Json& j, const Summary& s) {
    j["overall_lbe"] = Json::object();
    j["overall_lbe_measured"] = Json::object();
    for (const LoadBalancer::Overall& o : s.balancer.overall()) {
        j["overall_lbe"][o.model] = o.lbe;
        j["overall_lbe_measured"][o.model] = json_of(o.measured);
    }
    j["clock"] = s.deck.balance.clock == balance::Clock::wall ? "wall" : "work";
    j["balance_bytes"] = s.spreads.balance_bytes.max;  // of a rank
    j["balancing"] = {{"balancings", s.balancing.balancings},
                      {"migrations", s.balancing.migrations},
                      {"model_seconds", s.balancing.model_seconds},
                      {"partition_seconds", s.balancing.partition_seconds},
                      {"migrate_seconds", s.balancing.migrate_seconds}};
}

void add_engine(Json& j, const Summary& s) {
    j["precision"] = s.engine.setup().precision == md::Precision::mixed ? "mixed" : "double";
    j["kernels"] = s.engine.setup().kernels->isa;
    j["skin"] = s.engine.skin();
    j["rebuilds"] = s.engine.rebuilds();
    j["checkpoints"] = {{"count", s.checkpoints.count},
                        {"bytes", s.checkpoints.bytes},
                        {"write_seconds", s.checkpoints.write_seconds},
                        {"verify_seconds", s.checkpoints.verify_seconds},
                        {"remove_seconds", s.checkpoints.remove_seconds}};
    j["binding"] = s.topology.binding;
    j["host"] = s.topology.host;
    j["cpu_model"] = s.topology.cpu_model;
    for (std::size_t i = 0; i < s.spreads.phases.size(); ++i)
        j["seconds"][phase_name(i)] = json_of(s.spreads.phases[i]);
    j["peak_resident_bytes"] = json_of(s.spreads.peak_resident_bytes);
    j["particle_bytes"] = json_of(s.spreads.particle_bytes);
    j["ownership_bytes"] = json_of(s.spreads.ownership_bytes);
    j["particles_per_rank"] = json_of(s.spreads.particles);
}

void say_balancing(const Summary& s) {
    const BalancingCost& b = s.balancing;
    if (b.balancings > 0)
        say(stdout, "{}",
            lines_of({fmt::format("{} by {}", counted(b.balancings, "balancing"), s.balancer.driver()),
                      counted(b.migrations, "migration"), fmt::format("in all {:.3f} s for the model", b.model_seconds),
                      fmt::format("{:.3f} s for the partition", b.partition_seconds),
                      fmt::format("{:.3f} s for moving and sorting anew", b.migrate_seconds)}));
    const std::vector<LoadBalancer::Overall> overall = s.balancer.overall();
    if (overall.empty()) return;
    say(stdout, "  overall LBE by {}: in all, and after the first measured update\n",
        s.deck.balance.clock == balance::Clock::wall ? "thread timers" : "counted work");
    for (const LoadBalancer::Overall& o : overall)
        say(stdout, "    {:<16}{:>7.2f} %{:>13}\n", o.model, 100 * o.lbe,
            o.measured ? fmt::format("{:.2f} %", 100 * *o.measured) : "-");
}

}  // namespace

RankSpreads spreads_of(const comm::Communicator& comm, const Timers& timers, const Engine& engine,
                       const LoadBalancer& balancer, double wall) {
    std::vector<double> mine(timers.all().begin(), timers.all().end());
    mine.push_back(wall - std::accumulate(mine.begin(), mine.end(), 0.0));
    const std::size_t phases = mine.size();
    mine.push_back(peak_resident_bytes());
    mine.push_back(static_cast<double>(engine.bytes()));
    mine.push_back(static_cast<double>(engine.particles()));
    mine.push_back(static_cast<double>(balancer.bytes()));
    mine.push_back(static_cast<double>(engine.ownership_bytes() + balancer.ownership_bytes()));
    const std::vector<comm::Spread> all = comm.spread(mine);
    return {{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(phases)},
            all[phases],
            all[phases + 1],
            all[phases + 2],
            all[phases + 3],
            all[phases + 4]};
}

std::string to_json(const Summary& summary) {
    Json j;
    add_program(j, summary);
    add_run(j, summary);
    add_balancing(j, summary);
    add_engine(j, summary);
    return j.dump(2) + "\n";
}

void say_summary(const Summary& s) {
    say(stdout, "\n  {:<12}{:>11}{:>11}{:>11}   {}\n", "seconds", "min", "mean", "max", "share of the run");
    for (std::size_t i = 0; i < s.spreads.phases.size(); ++i) {
        const comm::Spread& phase = s.spreads.phases[i];
        say(stdout, "  {:<12}{:>11.3f}{:>11.3f}{:>11.3f}   {:5.1f} %\n", phase_name(i), phase.min, phase.mean,
            phase.max, s.wall_seconds > 0 ? 100 * phase.mean / s.wall_seconds : 0.0);
    }
    const double rate = s.wall_seconds > 0 ? s.atom_steps() / s.wall_seconds : 0;
    const double per_cpu_second = s.cpu_seconds > 0 ? s.atom_steps() / s.cpu_seconds : 0;
    const double bytes =
        s.particles > 0 ? s.spreads.particle_bytes.mean * s.ranks / static_cast<double>(s.particles) : 0.0;
    say(stdout, "{}",
        lines_of(
            {fmt::format("total {:.3f} s", s.wall_seconds), fmt::format("{:.2f} M atom-steps/s", rate * 1e-6),
             fmt::format("{:.2f} M per CPU second", per_cpu_second * 1e-6),
             fmt::format("{}, the last with skin {:.3g}", counted(s.engine.rebuilds(), "rebuild"), s.engine.skin()),
             fmt::format("{:.1f} bytes per particle in tiles", bytes),
             fmt::format("peak {:.1f} MB per rank", s.spreads.peak_resident_bytes.max * 1e-6)},
            ";"));
    say_balancing(s);
    say(stdout, "{}",
        lines_of({fmt::format("state hash {:016x} at step {}", s.state_hash, s.step),
                  fmt::format("energy drift {} of the largest kinetic energy",
                              s.energy_drift ? fmt::format("{:.2e}", *s.energy_drift) : "not measured")}));
}

}  // namespace app
