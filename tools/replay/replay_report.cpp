// SPDX-License-Identifier: MIT
#include "tools/replay/replay_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/output/summary/summary_json.hpp"

namespace app {

void say_replay(const ReplayReport& r, const std::string& directory) {
    say(stdout, "\n{}: {} cells, {}, {}\n", r.loads, along_axes(r.grid.cells, r.grid.dimensions),
        counted(r.processes, "process"), counted(r.opportunities, "opportunity"));
    std::size_t width = 16;
    for (const balance::ContenderCost& c : r.contenders) width = std::max(width, c.name.size());
    say(stdout, "  {:<{}}  {:>11}  {:>10}  {:>10}  {:>12}  {:>12}  {:>12}\n", "", width, "overall LBE", "balancings",
        "migrations", "computing, s", "balancing, s", "in all, s");
    for (const balance::ContenderCost& c : r.contenders) {
        const auto o =
            std::find_if(r.overall.begin(), r.overall.end(), [&](const Overall& x) { return x.model == c.name; });
        const std::string lbe = o == r.overall.end() ? "-" : fmt::format("{:.1f} %", 100 * o->lbe);
        say(stdout, "  {:<{}}  {:>11}  {:>10}  {:>10}  {:>12.5g}  {:>12.5g}  {:>12.5g}\n", c.name, width, lbe,
            c.balancings, c.migrations, c.computing_seconds, c.balancing_seconds, c.seconds());
    }
    say(stdout, "{}", wrapped(r.prices));
    if (const std::string winner = least_time(r.contenders); !winner.empty()) say(stdout, "{}", wrapped(winner));
    if (r.optimum) {
        say(stdout, "  best schedule in hindsight: {:.5g} s with {}; over it", r.optimum->seconds,
            counted(std::ssize(r.optimum->steps), "balancing"));
        const char* comma = "";
        for (const balance::ContenderCost& c : r.contenders) {
            say(stdout, "{} {} {:.1f} %", comma, c.name, 100 * (c.seconds() / r.optimum->seconds - 1));
            comma = ",";
        }
        say(stdout, "\n");
    }
    say(stdout, "results in {}\n", directory);
    for (const std::string& note : r.notes) say(stderr, "steelyard: note: {}\n", note);
}

std::string to_json(const ReplayReport& r) {
    Json j;
    add_program(j, r.command_line);
    j["deck"] = r.deck;
    j["loads"] = r.loads;
    j["clock"] = balance::word_of(balance::BalanceClock::work);
    j["ranks"] = r.ranks;
    j["processes"] = r.processes;
    j["cells"] = Json(std::vector<int>(r.grid.cells.begin(), r.grid.cells.begin() + r.grid.dimensions));
    j["opportunities"] = r.opportunities;
    add_overall(j, r.overall);
    add_costs(j, r.contenders);
    if (r.optimum) j["optimum"] = {{"seconds", r.optimum->seconds}, {"steps", r.optimum->steps}};
    return text_of(j, 2) + "\n";
}

}  // namespace app
