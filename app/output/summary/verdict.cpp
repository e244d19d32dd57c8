// SPDX-License-Identifier: MIT
// Sentences of the table at the end on efficiency and on balancing. Each figure names its base, ranks or virtual
// processes. One sentence has the worth of balancing: the time with it, the estimated time without it, and its cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/common/words.hpp"
#include "app/output/summary/summary.hpp"
#include "comm/simulation.hpp"

namespace app {
namespace {

// The ranks' computing, and the rest of their time by phase, the largest parts first.
void say_efficiency(const Summary& s) {
    const comm::Spread& useful = s.spreads.useful_seconds;
    if (!(s.wall_seconds > 0 && useful.max > 0)) return;
    say_lines({fmt::format("parallel efficiency of {} {:.1f} %", counted(s.ranks, "rank"),
                           100 * useful.mean / s.wall_seconds),
               fmt::format("= load balance {:.1f} % x computing {:.1f} %", 100 * useful.mean / useful.max,
                           100 * useful.max / s.wall_seconds)},
              "");
    std::vector<std::pair<double, std::string>> rest;
    for (std::size_t i = 0; i < s.spreads.phases.size(); ++i)
        if (i != static_cast<std::size_t>(Phase::forces) && i != static_cast<std::size_t>(Phase::neighbours))
            rest.emplace_back(s.spreads.phases[i].mean / s.wall_seconds, phase_name(i));
    std::sort(rest.rbegin(), rest.rend());
    constexpr double shown = 0.0005;  // less is 0.0 %
    std::vector<std::string> parts;
    for (const auto& [part, name] : rest)
        if (part >= shown) parts.push_back(fmt::format("{} {:.1f} %", name, 100 * part));
    if (parts.empty()) return;
    parts.front() = "the rest of the ranks' time: " + parts.front();
    say_lines(parts);
}

// One sentence on what balancing was worth in all: with it and without, on one base.
void say_net(const Summary& s) {
    const std::optional<balance::NetSavings> n = s.net();
    if (!n) return;
    constexpr double shown = 0.0005;  // less is 0.0 %
    const double saved = n->saved();
    const std::string shorter = std::abs(saved) < shown ? "no shorter"
                                : saved > 0             ? fmt::format("{:.1f} % shorter", 100 * saved)
                                                        : fmt::format("{:.1f} % longer", -100 * saved);
    const auto seconds = [](double t) { return fmt::format("{:.3g} s", t); };
    if (s.net_of() == Summary::NetOf::run)
        say_lines({fmt::format("balancing made {}this {}run {}", s.run.first_step() > 0 ? "the last start of " : "",
                               comm::simulated ? "simulated " : "", shorter),
                   fmt::format("{} instead of about {} without it", seconds(n->seconds), seconds(n->without_seconds)),
                   fmt::format("of which balancing itself took {}", seconds(n->balancing_seconds)),
                   "by the run's own estimate"});
    else
        say_lines(
            {fmt::format("balancing makes computing {} for {}", shorter, counted(s.processes(), "virtual process")),
             fmt::format("{} on the slowest of them instead of {}", seconds(n->seconds), seconds(n->without_seconds)),
             "by " + clock_name(s), "without what balancing itself takes",
             fmt::format("which was {} of this run's {}", seconds(n->balancing_seconds), seconds(s.wall_seconds))});
}

}  // namespace

void say_worth(const Summary& s) {
    say_efficiency(s);
    const std::optional<balance::WorthSummary> v = s.verdict();
    if (!v) return;
    const std::string of =
        s.processes() == s.ranks ? "" : fmt::format(" of the {}", counted(s.processes(), "virtual process"));
    say_lines({fmt::format("perfect balance{} would have taken {:.1f} % less {}", of, 100 * v->perfect_saves,
                           s.verdict_of_run() ? "time" : "compute time"),
               fmt::format("the dearest cell allows an LBE of at most {:.1f} %", 100 * v->most_lbe)});
    say_net(s);
}

std::optional<balance::WorthSummary> Summary::verdict() const {
    std::optional<balance::WorthSums> w = balancer.worth();
    if (!w) return std::nullopt;
    if (!verdict_of_run()) return worth_summary(*w, 0);
    // Up to the last balancing: to the time of the whole run.
    const double whole = steps() / w->steps;
    for (double* seconds : {&w->measured, &w->perfect, &w->possible, &w->even}) *seconds *= whole;
    return worth_summary(*w, std::max(0.0, wall_seconds - w->measured));
}

// By counted work a simulated clock goes on by just these seconds, and a real run's by others, which compare alike.
std::optional<balance::NetSavings> Summary::net() const {
    const std::optional<balance::WorthSums> w = balancer.worth();
    if (!w || !balance::kind_of(run.deck.balance.partition).follows_loads) return std::nullopt;
    const bool counted_work = run.deck.balance.clock == balance::BalanceClock::work;
    const double whole = steps() / w->steps, measured = w->measured * whole;
    const double balancing_seconds = spreads.balancing_seconds.mean;
    if (net_of() == NetOf::processes) {
        balance::NetSavings n = balance::net_savings(*w, measured, measured, 0);
        n.balancing_seconds = balancing_seconds;
        return n;
    }
    const bool as_counted = !counted_work || comm::simulated;
    return balance::net_savings(*w, wall_seconds,
                                as_counted ? measured : spreads.useful_seconds.mean * w->measured / w->perfect,
                                balancing_seconds);
}

Summary::NetOf Summary::net_of() const {
    const bool slowed =
        run.deck.balance.clock == balance::BalanceClock::work && run.deck.balance.work.slow.fraction > 0;
    return processes() == ranks && !slowed ? NetOf::run : NetOf::processes;
}

}  // namespace app
