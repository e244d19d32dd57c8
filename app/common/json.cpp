// SPDX-License-Identifier: MIT
#include "app/common/json.hpp"

#include <ctime>

#include "app/common/build_info.hpp"
#include "comm/simulation.hpp"

namespace app {

std::string text_of(const Json& j, int indent) { return j.dump(indent, ' ', false, Json::error_handler_t::replace); }

namespace {

std::string date_in_utc() {
    const std::time_t now = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    return text;
}

}  // namespace

void add_program(Json& j, const std::vector<std::string>& command_line) {
    const BuildInfo build = build_info();
    j["version"] = STEELYARD_VERSION;
    j["build"] = {{"version", build.version}, {"commit", build.commit}, {"compiler", build.compiler},
                  {"mpi", build.mpi},         {"hdf5", build.hdf5},     {"kernels", build.kernels}};
    j["command_line"] = command_line;
    j["date"] = date_in_utc();  // of the end
    if (comm::simulated) {
        j["simulated"] = true;  // all seconds below
        j["platform"] = Json::parse(comm::simulated_platform());
    }
}

}  // namespace app
