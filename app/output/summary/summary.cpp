// SPDX-License-Identifier: MIT
#include "app/output/summary/summary.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "app/common/words.hpp"
#include "comm/clock.hpp"

namespace app {
namespace {

std::string accelerators_in_words(const Deck& deck) {
    return deck.accelerator.backend == AcceleratorBackend::cuda ? "its GPU"
                                                                : "threads that stand in for an accelerator";
}

double peak_resident_bytes(int ranks) {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    // All ranks of a simulated cluster are in one process.
    return static_cast<double>(use.ru_maxrss) * 1024 / (comm::simulated ? ranks : 1);
}

// Speeds beyond these are not told apart.
const char* at_limit(double speed) {
    return speed <= balance::slowest_speed ? " or slower" : speed >= balance::fastest_speed ? " or faster" : "";
}

// The processes that run slower or faster than most, the slowest first.
void say_speeds(const Summary& s) {
    const std::vector<double> speeds = s.balancer.speeds().found();
    std::vector<std::size_t> unequal;
    for (std::size_t p = 0; p < speeds.size(); ++p)
        if (speeds[p] != 1) unequal.push_back(p);
    std::ranges::stable_sort(unequal, {}, [&](std::size_t p) { return speeds[p]; });
    const char* one = s.processes() == s.ranks ? "rank" : "process";
    if (unequal.empty()) say(stdout, "  speeds: no {} was found to be slower or faster than the others\n", one);
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, unequal.size()); ++i)
        say(stdout, "  {} {} runs at {:.2f} of the {}{}\n", one, unequal[i], speeds[unequal[i]],
            speeds.size() == 2 ? "other" : "others", at_limit(speeds[unequal[i]]));
    if (unequal.size() > most)
        say(stdout, "  and {} more at {:.2f} to {:.2f}: resources.csv\n", unequal.size() - most, speeds[unequal[most]],
            speeds[unequal.back()]);
}

void say_balancing(const Summary& s) {
    const BalancingCost& b = s.totals.balancing;
    const bool stays = s.balancer.driver() == "none";  // no model decides where no partition is made
    if (b.balancings > 0)
        say_lines({stays ? fmt::format("{} of balance, the partition stays", counted(b.balancings, "measurement"))
                         : fmt::format("{} by {}", counted(b.balancings, "balancing"), s.balancer.driver()),
                   counted(b.migrations, "migration"), fmt::format("in all {:.3f} s for the model", b.model_seconds),
                   fmt::format("{:.3f} s for the partition", b.partition_seconds),
                   fmt::format("{:.3f} s for moving and sorting anew", b.migrate_seconds)});
    const std::vector<Overall> overall = s.balancer.overall();
    if (overall.empty()) {
        if (b.balancings > 1 && s.run.deck.balance.clock == balance::BalanceClock::wall)
            say(stdout, "  too little time between two balancings for the clock; raise balance.every\n");
        return;
    }
    say(stdout, "  overall LBE by {}: in all, and after the first measured update\n", clock_name(s));
    const std::vector<balance::ContenderCost> costs = s.balancer.costs();
    if (!costs.empty())
        say(stdout, "  then seconds from step {} on: computing, balancing, both\n{}", costs[0].from_step,
            wrapped(prices_in_words(s.run.deck.balance.work, false, s.processes())));
    for (const Overall& o : overall) {
        say(stdout, "    {:<16}{:>7.2f} %{:>13}", o.model, 100 * o.lbe,
            o.measured ? fmt::format("{:.2f} %", 100 * *o.measured) : "-");
        for (const balance::ContenderCost& c : costs)
            if (c.name == o.model)
                say(stdout, "{:>11.4g}{:>11.4g}{:>11.4g}", c.computing_seconds, c.balancing_seconds, c.seconds());
        say(stdout, "\n");
    }
    if (const std::string winner = least_time(costs); !winner.empty()) say(stdout, "{}", wrapped(winner));
    for (const std::string& choice : choices_in_words(s.balancer.choosable(), s.balancer.choice()))
        say(stdout, "{}", wrapped(choice));
    if (s.balancer.finds_speeds() && s.processes() > 1) say_speeds(s);
    for (const std::string& sentence : s.balancer.never_balanced()) say_note("{}", sentence);
}

void say_prediction(const Summary& s) {
    const std::optional<Prediction>& prediction = s.run.prediction;
    if (!prediction || s.steps() == 0) return;
    const double predicted = prediction->seconds.step, measured = s.step_seconds().step;
    const int threads = prediction->threads;
    const std::string of = threads > 0 && threads != omp_get_max_threads()
                               ? fmt::format(" for {} a rank", counted(threads, "thread"))
                               : "";
    say_lines({fmt::format("predicted {:.4g} s a step{}, measured {:.4g}", predicted, of, measured),
               fmt::format("ratio {:.3f}", measured > 0 ? predicted / measured : 0.0)});
}

void say_messages(const Summary& s) {
    const double steps = s.steps();
    if (s.ranks == 1 || steps == 0) return;
    const std::optional<double> overlap = s.spreads.overlap_efficiency();
    say_lines(
        {fmt::format("each rank sent {:.1f} messages a step", s.spreads.messages.mean / steps),
         fmt::format("{:.1f} kB", s.spreads.message_bytes.mean / steps * 1e-3),
         overlap ? fmt::format("and computed in {:.0f} % of the time in which ghosts were on their way", 100 * *overlap)
                 : std::string("and did not compute while ghosts were on their way")});
}

void say_zones(const Summary& s) {
    constexpr std::size_t most = 4;
    for (std::size_t r = 0; r < std::min(most, s.zones.size()); ++r) {
        const ZoneSummary& z = s.zones[r];
        say_lines(
            {fmt::format("rank {}: {:.1f} % of its load on {}", r, 100 * z.share, accelerators_in_words(s.run.deck)),
             z.speed > 0 ? fmt::format("which was {:.3g} times as fast as its CPU", z.speed)
                         : std::string("whose speed was not found"),
             z.most_share < 0.9995 ? fmt::format("at most {:.1f} % lie away from other ranks", 100 * z.most_share)
                                   : std::string("all could be there")});
    }
    if (s.zones.size() > most) say(stdout, "  and {} more ranks: zones.csv\n", s.zones.size() - most);
    const auto lacks_room = [](const ZoneSummary& z) {
        return z.speed > 1 && z.most_share < 0.9 && z.share > 0.98 * z.most_share;
    };
    const auto rank = std::ranges::find_if(s.zones, lacks_room);
    if (rank != s.zones.end())
        say_note(
            "accelerators could take only {:.0f} % of the load of rank {}, the part in one box of cells that no other "
            "rank needs; set accelerator.reach: border",
            100 * rank->most_share, rank - s.zones.begin());
}

}  // namespace

std::string phase_name(std::size_t i) { return i < phase_names.size() ? std::string(phase_names[i]) : "other"; }

RankSpreads spreads_of(const comm::Communicator& comm, const Timers& timers, const Engine& engine,
                       const LoadBalancer& balancer, double wall, double balancing) {
    const struct {
        comm::Spread RankSpreads::*spread;
        double mine;
    } values[] = {
        {&RankSpreads::peak_resident_bytes, peak_resident_bytes(comm.size())},
        {&RankSpreads::particle_bytes, static_cast<double>(engine.bytes())},
        {&RankSpreads::particles, static_cast<double>(engine.particles())},
        {&RankSpreads::balance_bytes, static_cast<double>(balancer.bytes())},
        {&RankSpreads::ownership_bytes, static_cast<double>(engine.ownership_bytes() + balancer.ownership_bytes())},
        {&RankSpreads::useful_seconds, timers.seconds(Phase::forces) + timers.seconds(Phase::neighbours)},
        {&RankSpreads::messages, static_cast<double>(engine.traffic().messages)},
        {&RankSpreads::message_bytes, static_cast<double>(engine.traffic().bytes)},
        {&RankSpreads::covered_seconds, engine.travel_seconds().computed},
        {&RankSpreads::wait_seconds, engine.travel_seconds().waited},
        {&RankSpreads::balancing_seconds, balancing},
    };
    std::vector<double> mine(timers.all().begin(), timers.all().end());
    mine.push_back(wall - std::accumulate(mine.begin(), mine.end(), 0.0));
    const auto phases = static_cast<std::ptrdiff_t>(mine.size());
    for (const auto& v : values) mine.push_back(v.mine);
    const std::vector<comm::Spread> all = comm.spread(mine);
    RankSpreads s;
    s.phases.assign(all.begin(), all.begin() + phases);
    auto next = all.begin() + phases;
    for (const auto& v : values) s.*v.spread = *next++;
    return s;
}

void BalancingCost::add(const BalanceRow& row) {
    ++balancings;
    migrations += row.decision == balance::Decision::moved;
    model_seconds += row.model_seconds;
    partition_seconds += row.partition_seconds;
    migrate_seconds += row.migrate_seconds;
}

std::optional<double> RunTotals::energy_drift() const {
    if (!last) return std::nullopt;
    const double change = last->conserved() - first_energy.value_or(last->conserved());
    return largest_kinetic > 0 ? change / largest_kinetic : 0.0;
}

StepSeconds Summary::step_seconds() const {
    const double n = steps();
    const comm::Spread& useful = spreads.useful_seconds;
    StepSeconds s{wall_seconds / n, useful.mean / n, (useful.max - useful.mean) / n,
                  balancing_cost() * wall_seconds / n, 0};
    s.communication = std::max(0.0, s.step - s.compute - s.imbalance - s.rebalancing);
    return s;
}

double Summary::balancing_cost() const {
    const double phase = spreads.phases[static_cast<std::size_t>(Phase::balancing)].mean;
    return wall_seconds > 0 ? (phase + totals.balancing.migrate_seconds) / wall_seconds : 0;
}

std::vector<ZoneSummary> zones_of(const LoadBalancer& balancer) {
    const ZoneBalancer& zones = balancer.zones();
    if (!zones.on()) return {};
    const std::array<ZoneSummary, 1> mine{{{zones.share(), zones.most_share(), zones.speed()}}};
    return balance::all_gather<ZoneSummary>(balancer.team(), mine);
}

std::string clock_name(const Summary& s) {
    if (s.run.deck.balance.clock == balance::BalanceClock::work) return "counted work";
    if (comm::simulated) return "the simulated clock";
    return s.engine.setup().thread_seconds == comm::now ? "the wall clock of each thread"
                                                        : "the CPU time of each thread";
}

void say_summary(const Summary& s) {
    say(stdout, "\n  {:<12}{:>11}{:>11}{:>11}   {}\n", "seconds", "min", "mean", "max", "share of the run");
    for (std::size_t i = 0; i < s.spreads.phases.size(); ++i) {
        const comm::Spread& phase = s.spreads.phases[i];
        say(stdout, "  {:<12}{:>11.3f}{:>11.3f}{:>11.3f}   {:5.1f} %\n", phase_name(i), phase.min, phase.mean,
            phase.max, s.wall_seconds > 0 ? 100 * phase.mean / s.wall_seconds : 0.0);
    }
    const double per_cpu_second = s.cpu_seconds > 0 ? s.atom_steps() / s.cpu_seconds : 0;
    const std::optional<double> drift = s.totals.energy_drift();
    const std::int64_t particles = s.totals.particles;
    const double bytes = particles > 0 ? s.spreads.particle_bytes.mean * s.ranks / static_cast<double>(particles) : 0.0;
    say_lines({fmt::format("total {:.3f} s", s.wall_seconds), fmt::format("{:.2f} M atom-steps/s", s.rate() * 1e-6),
               fmt::format("{:.2f} M per CPU second", per_cpu_second * 1e-6),
               fmt::format("{}, the last with skin {:.3g}", counted(s.engine.rebuilds(), "rebuild"), s.engine.skin()),
               fmt::format("{:.1f} bytes per particle in tiles", bytes),
               fmt::format("peak {:.1f} MB per rank", s.spreads.peak_resident_bytes.max * 1e-6)},
              ";");
    say_messages(s);
    say_balancing(s);
    say_worth(s);
    say_prediction(s);
    say_zones(s);
    say_lines({fmt::format("state hash {:016x} at step {}", s.state_hash, s.step),
               fmt::format("energy drift {} of the largest kinetic energy",
                           drift ? fmt::format("{:.2e}", *drift) : "not measured")});
    say(stdout, "FOM: {:.5e} atom-steps/s\n", s.rate());
}

}  // namespace app
