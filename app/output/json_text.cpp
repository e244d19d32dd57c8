// SPDX-License-Identifier: MIT
// All JSON that a run writes or reads back. Functions by topic, in the order of the keys of summary.json, which people
// read from top to bottom.
#include "app/output/json_text.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <stdexcept>

#include "app/common/words.hpp"
#include "app/output/json.hpp"
#include "comm/simulation.hpp"

namespace app {
namespace {

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
    add_overall(j, s.balancer.overall());
    j["clock"] = balance::word_of(s.deck.balance.clock);
    j["times_by"] = clock_name(s);
    if (s.balancer.finds_speeds()) j["speeds"] = s.balancer.speeds().relative();
    for (const ZoneSummary& z : s.zones)
        j["accelerator"]["zones"].push_back({{"share", z.share}, {"most_share", z.most_share}, {"speed", z.speed}});
    const AcceleratorBackend backend = s.deck.accelerator.backend;  // host: threads that stand in for a device
    if (!s.zones.empty()) j["accelerator"]["backend"] = balance::word_of(backend);
    if (!s.zones.empty()) j["accelerator"]["stands_in"] = backend == AcceleratorBackend::host;
    j["balance_bytes"] = s.spreads.balance_bytes.max;  // of a rank
    j["balancing"] = {{"balancings", s.balancing.balancings},
                      {"migrations", s.balancing.migrations},
                      {"model_seconds", s.balancing.model_seconds},
                      {"partition_seconds", s.balancing.partition_seconds},
                      {"migrate_seconds", s.balancing.migrate_seconds}};
    if (comm::simulated) {
        j["balancing"]["messages_a_rank"] = s.balancing_traffic.messages / s.ranks;
        j["balancing"]["bytes_a_rank"] = s.balancing_traffic.bytes / s.ranks;
    }
}

void add_efficiency(Json& j, const Summary& s) {
    const comm::Spread& useful = s.spreads.useful_seconds;
    j["useful_seconds"] = json_of(useful);
    if (s.wall_seconds > 0 && useful.max > 0)
        j["efficiency"] = {{"parallel", useful.mean / s.wall_seconds},
                           {"load_balance", useful.mean / useful.max},
                           {"communication", useful.max / s.wall_seconds}};
    if (const std::optional<balance::Verdict> v = s.verdict())
        j["worth"] = {{"of", s.verdict_of_run() ? "run" : "compute"},
                      {"perfect_saves", v->perfect_saves},
                      {"most_lbe", v->most_lbe},
                      {"saved", v->saved},
                      {"cost", s.balancing_cost()}};
    if (const std::optional<balance::Net> n = s.net())
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
    if (s.prediction && s.step > s.first_step)
        j["prediction"] = {{"file", s.prediction->file},
                           {"predicted", step_json(s.prediction->seconds)},
                           {"measured", step_json(s.step_seconds())}};
}

void add_engine(Json& j, const Summary& s) {
    j["precision"] = balance::word_of(s.engine.setup().precision);
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
    add_program(j, summary.command_line);
    add_run(j, summary);
    add_balancing(j, summary);
    add_efficiency(j, summary);
    add_prediction(j, summary);
    add_engine(j, summary);
    add_messages(j, summary);
    return text_of(j, 2) + "\n";
}

namespace {

// The library would convert any number, also one that no integer can hold. Throws Json::exception.
std::int64_t whole(const Json& number) { return number.get_ref<const Json::number_integer_t&>(); }

}  // namespace

Prediction prediction_in(const std::string& text, std::int64_t ranks, std::int64_t particles) {
    try {
        const Json j = Json::parse(text);
        if (j.at("particles").get<double>() != static_cast<double>(particles))
            throw std::invalid_argument(
                fmt::format("it is of {} particles, and the run has {}; give the prediction of this deck",
                            j.at("particles").dump(), particles));
        for (const Json& f : j.at("forecasts")) {
            if (f.at("ranks") != ranks) continue;
            const auto seconds = [&](const Json& value) {
                const auto s = value.get<double>();
                constexpr double longest = 1e9;
                if (!(s >= 0 && s <= longest))
                    throw std::invalid_argument(
                        fmt::format("{} seconds for {}; make it anew", value.dump(), counted(ranks, "rank")));
                return s;
            };
            const Json& s = f.at("seconds");
            Prediction p{.file = {}, .threads = static_cast<int>(j.contains("threads") ? whole(j["threads"]) : 0)};
            p.seconds = {seconds(f.at("step_seconds")), seconds(s.at("compute")), seconds(s.at("imbalance")),
                         seconds(s.at("rebalancing")), seconds(s.at("communication"))};
            if (p.seconds.step == 0)
                throw std::invalid_argument(
                    fmt::format("0 seconds a step for {}; make it anew", counted(ranks, "rank")));
            return p;
        }
    } catch (const Json::exception&) {
        throw std::invalid_argument(
            "it is no predict.json of a deck; give the file that `steelyard predict` has written");
    }
    throw std::invalid_argument(
        fmt::format("it says nothing of {}; name them in `steelyard predict --processes`", counted(ranks, "rank")));
}

std::string text_of(const Lineage& lineage, const Trajectory& now) {
    Json j;
    j["program"] = std::string("steelyard ") + STEELYARD_VERSION;
    j["dt"] = now.dt;
    j["precision"] = now.precision;
    j["settings"] = fmt::format("{:016x}", now.settings);
    j["steps"] = now.steps;
    j["processes"] = now.processes;
    j["starts"] = Json::array();
    for (const Start& s : lineage) j["starts"].push_back({{"id", fmt::format("{:016x}", s.id)}, {"step", s.step}});
    return text_of(j, 2) + "\n";
}

Lineage lineage_in(const std::string& text, Trajectory& trajectory) {
    Lineage lineage;
    try {
        const Json j = Json::parse(text);
        trajectory = {j.at("dt").get<double>(),          j.at("precision").get<std::string>(),  0,
                      j.value("steps", std::int64_t{0}), j.value("processes", std::int64_t{0}), false};
        if (j.contains("settings")) trajectory.settings = std::stoull(j["settings"].get<std::string>(), nullptr, 16);
        for (const auto& s : j.at("starts"))
            lineage.push_back({std::stoull(s.at("id").get<std::string>(), nullptr, 16), whole(s.at("step"))});
    } catch (const std::exception&) {
        return {};
    }
    return lineage;
}

bool ends_with(const std::string& summary, std::int64_t step, std::uint64_t state_hash) {
    const Json j = Json::parse(summary, nullptr, false);  // a user may have changed it: any value may be of any type
    return j.is_object() && j.contains("steps") && j["steps"] == step && j.contains("state_hash") &&
           j["state_hash"] == fmt::format("{:016x}", state_hash);
}

}  // namespace app
