// SPDX-License-Identifier: MIT
// Replays (balance/replay.hpp) of loads from a file, with the outputs of a run.
#include "tools/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/balancing/from_deck.hpp"
#include "app/balancing/load_balancer.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/deck/checks.hpp"
#include "app/deck/wording.hpp"
#include "app/output/formats/balance_formats.hpp"
#include "app/output/results.hpp"
#include "app/output/series/tables.hpp"
#include "balance/replay.hpp"
#include "comm/file/durable.hpp"
#include "comm/team.hpp"
#include "tools/replay/load_series.hpp"
#include "tools/replay/replay_report.hpp"

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
std::vector<std::int64_t> opportunities_of(const LoadSeriesReader& series, std::int64_t every) {
    std::vector<std::int64_t> times;
    for (std::int64_t t = 0; t < series.times(); ++t)
        if (t == 0 || series.step(t) % std::max<std::int64_t>(every, 1) == 0) times.push_back(t);
    return times;
}

// Why nothing will be balanced; empty where something will.
std::string idleness(const LoadSeriesReader& series, std::size_t opportunities) {
    if (opportunities > 1) return "";
    return series.times() == 1 ? "holds one entry, which is the start; give a second, at which to balance"
                               : "no step of its entries after the start is a multiple of balance.every; use another";
}

void require_memory_for_optimum(const std::string& path, const LoadSeriesReader& series, std::int64_t opportunities,
                                std::int64_t processes, const comm::Communicator& comm) {
    agreed(comm, [&] {
        const double each =
            balance::Clairvoyant::bytes(opportunities, series.grid().box().cells(), processes, comm.size());
        if (const std::string lack = comm::lack_of_memory(each * comm.node_size()); !lack.empty())
            throw InputError(fmt::format("{}: the best schedule of {} {}; use a larger balance.every, or more nodes",
                                         path, counted(opportunities, "entry"), lack));
    });
}

void require_loads_elsewhere(const std::string& loads, const std::string& out, const comm::Communicator& comm) {
    on_rank_0(comm, [&] {
        std::error_code error;
        const std::filesystem::path folder = std::filesystem::absolute(loads, error).parent_path();
        if (std::filesystem::equivalent(folder, out, error) && !error)
            throw UsageError(
                fmt::format("{}: it lies in the output directory {}; choose another with --out", loads, out));
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

ReplayReport report_of(const balance::Replay& replay, const Options& options, const Deck& deck) {
    ReplayReport report;
    report.command_line = options.command_line;
    report.deck = deck.name;
    report.loads = options.loads;
    report.grid = replay.setting().grid;
    report.processes = replay.setting().hosts.processes();
    report.contenders = replay.costs();
    report.overall = overall_of(replay.state().models);
    report.prices = prices_in_words(deck.balance.work, replay.setting().policy.counting.cells_move, report.processes);
    report.notes = never_balanced(replay.state().models);
    report.optimum = replay.optimum();
    return report;
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
    const std::vector<std::int64_t> opportunities = opportunities_of(series, deck.balance.every);
    if (options.optimum)
        require_memory_for_optimum(options.loads, series, std::ssize(opportunities), *deck.balance.processes, comm);
    directory.require_room(old_results(options), options.deck);
    if (const std::string why = idleness(series, opportunities.size()); comm.rank() == 0 && !why.empty())
        say(stderr, "steelyard: note: {}: {}\n", printable(options.loads), why);
    const comm::Ranks team(comm);
    const RoundMeter meter;
    const std::int64_t processes = *deck.balance.processes;
    balance::Policy policy = policy_of(deck.balance, processes, comm);
    policy.counting.cells_move = !series.has_particles();
    balance::Replay replay(team, series.grid(), {processes, comm.size()}, std::move(policy), meter, series.scale(),
                           deck.balance.constants, deck.balance.model, others_of(deck.balance, processes, comm),
                           options.optimum);
    directory.prepare(std::nullopt, old_results(options), deck, options.deck);
    on_rank_0(comm, [&] { directory.write("deck.yaml", balance_yaml(deck)); });
    balance_at(opportunities, series, deck, team, replay, directory);
    ReplayReport report = report_of(replay, options, deck);
    report.ranks = comm.size();
    report.opportunities = std::ssize(opportunities) - 1;
    on_rank_0(comm, [&] { directory.write("summary.json", to_json(report)); });
    if (comm.rank() == 0 && !options.quiet) say_replay(report, directory.path());
    return 0;
}

}  // namespace app
