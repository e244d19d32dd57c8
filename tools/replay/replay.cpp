// SPDX-License-Identifier: MIT
// Replays (balance/replay.hpp) of loads from a file, with the outputs of a run.
#include "balance/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/balancing/from_deck.hpp"
#include "app/balancing/load_balancer.hpp"
#include "app/common/words.hpp"
#include "app/deck/checks.hpp"
#include "app/deck/wording.hpp"
#include "app/output/formats/balance_formats.hpp"
#include "app/output/results.hpp"
#include "app/output/series/tables.hpp"
#include "app/output/summary/summary_json.hpp"
#include "comm/file/durable.hpp"
#include "comm/team.hpp"
#include "tools/commands.hpp"
#include "tools/replay/load_series.hpp"

namespace app {
namespace {

Deck replay_deck(const Options& options, const comm::Communicator& comm) {
    std::string text, path = options.deck;
    if (!path.empty()) on_rank_0(comm, [&] { text = deck_bytes(path); });
    comm.broadcast(text);
    Deck deck = agreed(comm, [&] { return parse_balance(text, path.empty() ? "--set" : path, options.settings); });
    const std::filesystem::path loads(options.loads);
    deck.name = (loads.has_filename() ? loads : loads.parent_path()).stem().string();
    return deck;
}

// The entries of a series that are opportunities to balance; the first is the start.
std::vector<std::int64_t> opportunities_of(const LoadSeriesReader& series, const Deck::Balance& settings) {
    std::vector<std::int64_t> times;
    for (std::int64_t t = 0; t < series.times(); ++t)
        if (t == 0 || is_opportunity(settings, series.step(t))) times.push_back(t);
    return times;
}

// Why nothing will be balanced; empty where something will.
std::string idleness(const LoadSeriesReader& series, std::size_t opportunities) {
    if (opportunities > 1) return "";
    return series.times() == 1 ? "holds one entry, which is the start; give a second, at which to balance"
                               : "no step of its entries after the start is a multiple of balance.every between "
                                 "balance.from_step and to_step; use others";
}

void require_memory_for_optimum(const std::string& path, const LoadSeriesReader& series, std::int64_t opportunities,
                                std::int64_t processes, const comm::Communicator& comm) {
    agreed(comm, [&] {
        const double each =
            balance::Clairvoyant::bytes(opportunities, series.grid().box().cells(), processes, comm.size());
        if (const std::string lack = comm::lack_of_memory(each * comm.node_size()); !lack.empty())
            throw InputError("{}: the best schedule of {} {}; use a larger balance.every, or more nodes", path,
                             counted(opportunities, "entry"), lack);
    });
}

void require_loads_elsewhere(const std::string& loads, const std::string& out, const comm::Communicator& comm) {
    on_rank_0(comm, [&] {
        std::error_code error;
        const std::filesystem::path folder = std::filesystem::absolute(loads, error).parent_path();
        if (std::filesystem::equivalent(folder, out, error) && !error)
            throw UsageError("{}: it lies in the output directory {}; choose another with --out", loads, out);
    });
}

// Balances at all opportunities, and writes the rows and the formats of each.
void balance_at(const std::vector<std::int64_t>& opportunities, const LoadSeriesReader& series, const Deck& deck,
                const comm::Ranks& team, balance::Replay& replay, RunDirectory& directory) {
    const balance::Setting& setting = replay.setting();
    const std::int64_t processes = setting.hosts.processes();
    Table<BalanceRow> rows(directory, "balance.csv", balance_columns(), {});
    std::optional<Table<ResourceRow>> resources;
    if (setting.policy.finds_speeds())
        resources.emplace(directory, "resources.csv", resource_columns(), GrowingFile::Past{});
    BalanceFormats formats(directory, deck.output.balance_formats, series.grid(), processes, 0);
    for (const std::int64_t t : opportunities) {
        const std::int64_t step = series.step(t);
        const balance::ProcessBoxes in_use = replay.state().models.front().partition;
        const balance::RoundOutcome outcome =
            replay.balance(step, series.cells(t), disturbance_of(deck, setting.hosts.processes_of(team.rank()), step));
        agreed(team.comm(), [&] { require_partition(step, outcome.dead_end); });
        rows.add(outcome.rows);
        if (resources) add_resources(*resources, outcome.resources, processes, team);
        if (t > 0 && !deck.output.balance_formats.empty())
            formats.write(balanced_cells(step, balance::whole(team, in_use), outcome, replay.state().load,
                                         replay.state().speeds.relative(), setting.grid, team));
    }
    formats.finish();
}

// The table at the end of a replay. optimum: nothing where none was wanted.
void say_replay(const balance::Replay& replay, const std::optional<balance::Replay::Optimum>& optimum,
                std::int64_t opportunities, const Options& options, const Deck& deck, const std::string& directory) {
    const balance::Setting& setting = replay.setting();
    const std::int64_t processes = setting.hosts.processes();
    const std::vector<balance::ContenderCost> costs = replay.costs();
    const std::vector<Overall> overall = overall_of(replay.state().models);
    say(stdout, "\n{}: {} cells, {}, {}\n", options.loads, along_axes(setting.grid.cells, setting.grid.dimensions),
        counted(processes, "process"), counted(opportunities, "opportunity"));
    std::size_t width = 16;
    for (const balance::ContenderCost& c : costs) width = std::max(width, c.name.size());
    const bool bytes = std::ranges::any_of(costs, [](const balance::ContenderCost& c) { return c.ghost_bytes > 0; });
    say(stdout, "  {:<{}}  {:>11}  {:>10}  {:>10}  ghost cells{}  {:>12}  {:>12}  {:>12}\n", "", width, "overall LBE",
        "balancings", "migrations", bytes ? "  ghost bytes" : "", "computing, s", "balancing, s", "in all, s");
    for (const balance::ContenderCost& c : costs) {
        const auto o = std::ranges::find(overall, c.name, &Overall::model);
        const std::string lbe = o == overall.end() ? "-" : fmt::format("{:.1f} %", 100 * o->lbe);
        say(stdout, "  {:<{}}  {:>11}  {:>10}  {:>10}  {:>11.0f}{}  {:>12.5g}  {:>12.5g}  {:>12.5g}\n", c.name, width,
            lbe, c.balancings, c.migrations, c.ghost_cells, bytes ? fmt::format("  {:>11.5g}", c.ghost_bytes) : "",
            c.computing_seconds, c.balancing_seconds, c.seconds());
    }
    say(stdout, "{}", wrapped(prices_in_words(deck.balance.work, setting.policy.counting.cells_move, processes)));
    if (const std::string winner = least_time(costs); !winner.empty()) say(stdout, "{}", wrapped(winner));
    if (optimum && optimum->seconds > 0) {
        std::vector<std::string> over;
        for (const balance::ContenderCost& c : costs)
            over.push_back(fmt::format("{} {:.1f} %", c.name, 100 * (c.seconds() / optimum->seconds - 1)));
        say(stdout, "  best schedule in hindsight: {:.5g} s with {}; over it {}\n", optimum->seconds,
            counted(std::ssize(optimum->steps), "balancing"), fmt::join(over, ", "));
    }
    for (const std::string& choice : choices_in_words(setting.policy.candidates, replay.state().choice))
        say(stdout, "{}", wrapped(choice));
    say(stdout, "results in {}\n", directory);
    for (const std::string& note : never_balanced(replay.state().models)) say_note("{}", note);
}

// The text of a replay's summary.json.
std::string summary_text(const balance::Replay& replay, const std::optional<balance::Replay::Optimum>& optimum,
                         std::int64_t opportunities, const Options& options, const Deck& deck, int ranks) {
    const balance::Grid& grid = replay.setting().grid;
    Json j;
    add_program(j, options.command_line);
    j["deck"] = deck.name;
    j["loads"] = options.loads;
    j["clock"] = balance::word_of(balance::BalanceClock::work);
    j["ranks"] = ranks;
    j["processes"] = replay.setting().hosts.processes();
    j["cells"] = Json(std::vector<int>(grid.cells.begin(), grid.cells.begin() + grid.dimensions));
    j["opportunities"] = opportunities;
    add_overall(j, overall_of(replay.state().models));
    add_costs(j, replay.costs());
    add_choice(j, replay.setting().policy.candidates, replay.state().choice);
    if (optimum) j["optimum"] = {{"seconds", optimum->seconds}, {"steps", optimum->steps}};
    return text_of(j, 2) + "\n";
}

}  // namespace

int replay(const Options& options, const comm::Communicator& comm) {
    Deck deck = replay_deck(options, comm);
    const std::string out = output_path(options, deck, comm);
    require_loads_elsewhere(options.loads, out, comm);
    RunDirectory directory(out, result_kinds(), comm);
    const LoadSeriesReader series(options.loads, comm);
    if (!series.has_particles()) deck.balance.constants.start = balance::Start::uniform;
    const SeriesLacks lacks{series.has_particles() ? "" : options.loads + " has no dataset /particles",
                            series.has_ahead() ? "" : options.loads + " has no dataset /particles_ahead"};
    agreed(comm, [&] {
        check_replay(deck, series.grid(), lacks, options.optimum, comm.size());
        check_formats(deck.output, series.grid());
    });
    const std::vector<std::int64_t> opportunities = opportunities_of(series, deck.balance);
    if (options.optimum)
        require_memory_for_optimum(options.loads, series, std::ssize(opportunities), *deck.balance.processes, comm);
    directory.require_room(old_results(options), options.deck);
    if (const std::string why = idleness(series, opportunities.size()); comm.rank() == 0 && !why.empty())
        say_note("{}: {}", printable(options.loads), why);
    const comm::Ranks team(comm);
    const RoundMeter meter;
    const std::int64_t processes = *deck.balance.processes;
    balance::Policy policy = policy_of(deck.balance, processes, comm);
    policy.counting.cells_move = !series.has_particles();
    policy.end = last_opportunity(deck.balance, series.step(series.times() - 1));
    add_candidates(policy, deck.balance, series.grid(), {false, series.has_particles(), series.has_ahead()});
    balance::Replay replay(team, series.grid(), {processes, comm.size()}, std::move(policy), meter, series.scale(),
                           deck.balance.constants, deck.balance.driver(), others_of(deck.balance, processes, comm),
                           options.optimum);
    directory.prepare(std::nullopt, old_results(options), deck, options.deck);
    on_rank_0(comm, [&] { directory.write("deck.yaml", balance_yaml(deck)); });
    balance_at(opportunities, series, deck, team, replay, directory);
    const std::int64_t balancings = std::ssize(opportunities) - 1;
    const std::optional<balance::Replay::Optimum> optimum = replay.optimum();
    on_rank_0(comm, [&] {
        directory.write("summary.json", summary_text(replay, optimum, balancings, options, deck, comm.size()));
    });
    if (comm.rank() == 0 && !options.quiet) say_replay(replay, optimum, balancings, options, deck, directory.path());
    return 0;
}

}  // namespace app
