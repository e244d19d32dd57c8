// SPDX-License-Identifier: MIT
#include "app/output/directory/run_json.hpp"

#include <fmt/format.h>

#include "app/common/json.hpp"
#include "comm/file/durable.hpp"

namespace app {

Trajectory trajectory_of(Deck deck, int ranks) {
    Trajectory t{deck.run.dt,
                 std::string(balance::word_of(deck.run.precision)),
                 0,
                 deck.run.steps,
                 deck.balance.processes.value_or(ranks),
                 deck.balance.every > 0};
    deck.run.steps = 0;
    deck.balance.processes.reset();
    deck.checkpoint = {};
    t.settings = comm::text_digest(to_yaml(deck));
    return t;
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
