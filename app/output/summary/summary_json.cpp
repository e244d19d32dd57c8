// SPDX-License-Identifier: MIT
// Functions by topic, in the order of the keys, which people read from top to bottom.
#include "app/output/summary/summary_json.hpp"

#include <fmt/format.h>
#include <omp.h>

#include "comm/simulation.hpp"

namespace app {
namespace {

void add_run(Json& j, const Summary& s) {
    j["deck"] = s.run.deck.name;
    j["ranks"] = s.ranks;
    j["threads"] = omp_get_max_threads();
    j["processes"] = s.engine.tiles().hosts().processes();
    j["particles"] = s.totals.particles;
    j["cells"] = s.engine.setup().domain.grid().box().cells();
    j["steps"] = s.step;
    j["first_step"] = s.run.first_step();
    j["wall_seconds"] = s.wall_seconds;
    j["cpu_seconds"] = s.cpu_seconds;
    j["atom_steps_per_second"] = s.rate();
    j["FOM"] = s.rate();
    j["state_hash"] = fmt::format("{:016x}", s.state_hash);
    j["energy_first"] = s.totals.first_energy.value_or(0);
    j["energy_last"] = s.totals.last ? Json(s.totals.last->total()) : Json(nullptr);
    j["energy_drift"] = json_of(s.totals.energy_drift());
}

void add_balancing(Json& j, const Summary& s) {
    add_overall(j, s.balancer.overall());
    add_choice(j, s.balancer.choosable(), s.balancer.choice());
    add_costs(j, s.balancer.costs());
    j["clock"] = balance::word_of(s.run.deck.balance.clock);
    j["times_by"] = clock_name(s);
    if (s.balancer.finds_speeds()) j["speeds"] = s.balancer.speeds().relative();
    for (const ZoneSummary& z : s.zones)
        j["accelerator"]["zones"].push_back({{"share", z.share}, {"most_share", z.most_share}, {"speed", z.speed}});
    const AcceleratorBackend backend = s.run.deck.accelerator.backend;  // host: threads that stand in for a device
    if (!s.zones.empty()) j["accelerator"]["backend"] = balance::word_of(backend);
    if (!s.zones.empty()) j["accelerator"]["stands_in"] = backend == AcceleratorBackend::host;
    j["balance_bytes"] = s.spreads.balance_bytes.max;  // of a rank
    const BalancingCost& cost = s.totals.balancing;
    j["balancing"] = {{"balancings", cost.balancings},
                      {"migrations", cost.migrations},
                      {"model_seconds", cost.model_seconds},
                      {"partition_seconds", cost.partition_seconds},
                      {"migrate_seconds", cost.migrate_seconds}};
    if (comm::simulated) {
        j["balancing"]["messages_a_rank"] = s.balancing_traffic.messages / s.ranks;
        j["balancing"]["bytes_a_rank"] = s.balancing_traffic.bytes / s.ranks;
    }
}

void add_efficiency(Json& j, const Summary& s) {
    const comm::Spread& useful = s.spreads.useful_seconds;
    j["useful_seconds"] = json_of(useful);
    if (s.wall_seconds > 0 && useful.max > 0)
        j["efficiency"] = {
            {"parallel", useful.mean / s.wall_seconds},     {"load_balance", useful.mean / useful.max},
            {"communication", useful.max / s.wall_seconds}, {"parallelEfficiency", useful.mean / s.wall_seconds},
            {"loadBalance", useful.mean / useful.max},      {"communicationEfficiency", useful.max / s.wall_seconds}};
    if (const std::optional<balance::WorthSummary> v = s.verdict())
        j["worth"] = {{"of", s.verdict_of_run() ? "run" : "compute"},
                      {"perfect_saves", v->perfect_saves},
                      {"most_lbe", v->most_lbe},
                      {"saved", v->saved},
                      {"cost", s.balancing_cost()}};
    if (const std::optional<balance::NetSavings> n = s.net())
        j["worth"]["net"] = {{"of", s.net_of() == Summary::NetOf::run ? "run" : "virtual processes"},
                             {"seconds", n->seconds},
                             {"without_seconds", n->without_seconds},
                             {"balancing_seconds", n->balancing_seconds},
                             {"saved", n->saved()}};
}

Json step_json(const StepSeconds& s) {
    return {{"step_seconds", s.step},
            {"compute", s.compute},
            {"imbalance", s.imbalance},
            {"rebalancing", s.rebalancing},
            {"communication", s.communication}};
}

void add_prediction(Json& j, const Summary& s) {
    if (s.run.prediction && s.steps() > 0)
        j["prediction"] = {{"file", s.run.prediction->file},
                           {"predicted", step_json(s.run.prediction->seconds)},
                           {"measured", step_json(s.step_seconds())}};
}

void add_engine(Json& j, const Summary& s) {
    j["precision"] = balance::word_of(s.engine.setup().precision);
    j["kernels"] = s.engine.setup().kernels->isa;
    j["skin"] = s.engine.skin();
    j["rebuilds"] = s.engine.rebuilds();
    const CheckpointCost& checkpoints = s.totals.checkpoints;
    j["checkpoints"] = {{"count", checkpoints.count},
                        {"bytes", checkpoints.bytes},
                        {"write_seconds", checkpoints.write_seconds},
                        {"verify_seconds", checkpoints.verify_seconds},
                        {"remove_seconds", checkpoints.remove_seconds}};
    j["binding"] = s.run.topology.binding;
    j["host"] = s.run.topology.host;
    j["cpu_model"] = s.run.topology.cpu_model;
    for (std::size_t i = 0; i < s.spreads.phases.size(); ++i)
        j["seconds"][phase_name(i)] = json_of(s.spreads.phases[i]);
    j["peak_resident_bytes"] = json_of(s.spreads.peak_resident_bytes);
    j["particle_bytes"] = json_of(s.spreads.particle_bytes);
    j["ownership_bytes"] = json_of(s.spreads.ownership_bytes);
    j["particles_per_rank"] = json_of(s.spreads.particles);
}

void add_messages(Json& j, const Summary& s) {
    const comm::Schedule& schedule = s.engine.setup().network.schedule;
    j["messages"] = {{"sent", json_of(s.spreads.messages)},
                     {"bytes", json_of(s.spreads.message_bytes)},
                     {"threshold_bytes", schedule.threshold},
                     {"piece_bytes", schedule.piece},
                     {"nodes", s.engine.setup().network.nodes.nodes()},
                     {"overlap_efficiency", json_of(s.spreads.overlap_efficiency())},
                     {"late_reductions", s.engine.agreement().passes_late()},
                     {"reductions", s.engine.agreement().passes()}};
}

}  // namespace

std::string to_json(const Summary& summary) {
    Json j;
    add_program(j, summary.run.command_line);
    add_run(j, summary);
    add_balancing(j, summary);
    add_efficiency(j, summary);
    add_prediction(j, summary);
    add_engine(j, summary);
    add_messages(j, summary);
    return text_of(j, 2) + "\n";
}

void add_overall(Json& j, const std::vector<Overall>& overall) {
    j["overall_lbe"] = Json::object();
    j["overall_lbe_measured"] = Json::object();
    for (const Overall& o : overall) {
        j["overall_lbe"][o.model] = o.lbe;
        j["overall_lbe_measured"][o.model] = json_of(o.measured);
    }
}

void add_choice(Json& j, const balance::Candidates& candidates, const balance::Choice& choice) {
    if (candidates.empty()) return;
    Json made = Json::array();
    for (const balance::Chosen& c : choice.made)
        made.push_back({{"step", c.step}, {"model", c.model}, {"partition", c.partition}, {"saves", c.saves}});
    j["auto"] = {{"model", candidates.models[choice.model].name},
                 {"partition", candidates.partitions[choice.partition].name},
                 {"choices", made}};
}

void add_costs(Json& j, const std::vector<balance::ContenderCost>& costs) {
    for (const balance::ContenderCost& c : costs)
        j["contenders"][c.name] = {{"seconds", c.seconds()},
                                   {"computing_seconds", c.computing_seconds},
                                   {"balancing_seconds", c.balancing_seconds},
                                   {"balancings", c.balancings},
                                   {"migrations", c.migrations},
                                   {"ghost_cells", c.ghost_cells},
                                   {"ghost_bytes", c.ghost_bytes},
                                   {"from_step", c.from_step}};
    for (const balance::Excess& e : balance::ranking(costs))
        j["contenders"][costs[e.contender].name].update(
            Json{{"over_least", e.part}, {"over_least_error", json_of(e.error)}});
    if (const std::string winner = least_time(costs); !winner.empty()) j["least_time"] = winner;
}

}  // namespace app
