// SPDX-License-Identifier: MIT
// replay_messages: carries out the plans of a trace under several schedules and prints the time of an exchange. It uses
// the MPI of its launcher and the program's own code (comm/exchange.hpp).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/setup.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/session.hpp"
#include "comm/simulation.hpp"
#include "replay.hpp"

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string trace, json;
    std::string overlap = "full";
    std::vector<std::string> kinds, orders{"plain", "near_first"}, aggregates = balance::all_words<comm::Aggregate>();
    app::Deck::Comm comm;
    int rounds = comm::simulated ? 1 : 21;  // simulated times do not scatter
    std::size_t plans = 1;
};

const CLI::Range positive(1, 1 << 30);

void add_options(CLI::App& cli, Options& o) {
    cli.add_option("TRACE", o.trace, "file of steelyard run --trace-messages, of as many ranks")->required();
    cli.add_option("--kind", o.kinds, "of these plans only");
    cli.add_option("--plans", o.plans, "at most so many plans of each kind (1)")->check(positive);
    cli.add_option("--order", o.orders,
                   fmt::format("{} (the first two)", fmt::join(balance::all_words<comm::MessageOrder>(), ", ")));
    cli.add_option("--aggregate", o.aggregates,
                   fmt::format("{} (all)", fmt::join(balance::all_words<comm::Aggregate>(), ", ")));
    cli.add_option("--overlap", o.overlap,
                   fmt::format("as in the deck: {} (full); no rank computes here",
                               fmt::join(balance::all_words<comm::Overlap>(), ", ")));
    cli.add_option("--threshold-bytes", o.comm.threshold_bytes, "comm.threshold_bytes (auto)")->check(positive);
    cli.add_option("--piece-bytes", o.comm.piece_bytes, "comm.piece_bytes (auto)")->check(positive);
    cli.add_option("--ranks-per-node", o.comm.ranks_per_node, "comm.ranks_per_node (auto)")->check(positive);
    cli.add_option("--nodes-per-switch", o.comm.nodes_per_switch, "comm.nodes_per_switch")->check(positive);
    cli.add_option("--rounds", o.rounds, "exchanges of each plan, whose median counts (21; simulated: 1)")
        ->check(positive);
    cli.add_option("--json", o.json, "file for the results");
}

template <class Enum>
Enum value_of(const std::string& word, const char* option) {
    if (const auto value = balance::value_of<Enum>(word)) return *value;
    throw app::UsageError("{}: {} is unknown; choose {}", option, word, fmt::join(balance::all_words<Enum>(), ", "));
}

// Each order with each way to merge.
std::vector<std::pair<std::string, app::Deck::Comm>> schedules_of(const Options& o) {
    std::vector<std::pair<std::string, app::Deck::Comm>> schedules;
    for (const std::string& aggregate : o.aggregates)
        for (const std::string& order : o.orders) {
            app::Deck::Comm c = o.comm;
            c.order = value_of<comm::MessageOrder>(order, "--order");
            c.aggregate = value_of<comm::Aggregate>(aggregate, "--aggregate");
            c.overlap = value_of<comm::Overlap>(o.overlap, "--overlap");
            schedules.emplace_back(aggregate + ", " + order, c);
        }
    return schedules;
}

// These schedules, and MPI's own call where it is there. Collective.
std::vector<Way> ways_of(const Options& o, const comm::Communicator& comm) {
    std::vector<Way> ways;
    for (const auto& [name, schedule] : app::agreed(comm, [&] { return schedules_of(o); }))
        ways.push_back({name, app::network_of(schedule, comm)});
    if (make_neighbours(comm)) ways.push_back({"MPI_Neighbor_alltoallv_init", std::nullopt});
    return ways;
}

void print(const std::vector<Timing>& timings, const std::vector<Way>& ways) {
    std::string kind;
    for (const Timing& t : timings) {
        if (kind != t.kind) {
            kind = t.kind;
            app::say(stdout, "{}: {} parts, {:.0f} % of at most 4096 bytes, {:.1f} kB; {}\n", kind, t.parts,
                     100 * t.small_parts / t.parts, t.bytes * 1e-3, comm::simulated ? "simulated time" : "measured");
            app::say(stdout, "  {:<28}{:>12}{:>16}{:>14}\n", "", "messages", "us an exchange", "us to plan");
        }
        const std::string messages = t.messages > 0 ? fmt::format("{:.0f}", t.messages) : "-";
        app::say(stdout, "  {:<28}{:>12}{:>16.1f}{:>14.1f}\n", t.way, messages, t.seconds * 1e6,
                 t.schedule_seconds * 1e6);
    }
    if (ways.back().network) app::say(stdout, "MPI here has no MPI_Neighbor_alltoallv_init to compare with.\n");
}

Json json_of(const std::vector<Timing>& timings, const std::vector<Way>& ways, const Options& o, int ranks) {
    Json cases = Json::array();
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const Timing& t = timings[i];
        const Way& way = ways[i % ways.size()];
        Json one{
            {"kind", t.kind}, {"schedule", t.way}, {"seconds", t.seconds}, {"schedule_seconds", t.schedule_seconds}};
        one["plans"] = t.plans;
        one["parts"] = t.parts;
        one["small_parts"] = t.small_parts;
        one["bytes"] = t.bytes;
        if (way.network) {
            one["messages"] = t.messages;
            one["threshold_bytes"] = way.network->schedule.threshold;
            one["piece_bytes"] = way.network->schedule.piece;
            one["nodes"] = way.network->nodes.nodes();
        }
        cases.push_back(one);
    }
    Json j{
        {"trace", o.trace}, {"ranks", ranks}, {"rounds", o.rounds}, {"simulated", comm::simulated}, {"cases", cases}};
    if (comm::simulated) j["platform"] = Json::parse(comm::simulated_platform());
    return j;
}

void replay_trace(int argc, char** argv, const comm::Communicator& comm) {
    Options options;
    CLI::App cli{"Carries out the plans of a trace of messages under several schedules.", "replay_messages"};
    add_options(cli, options);
    try {
        cli.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) {
            if (comm.rank() == 0) cli.exit(e);
            return;
        }
        app::refuse_unless<app::UsageError>(comm, false, "command line: {}; see --help", e.what());
    }
    app::on_rank_0(comm, [&] {
        std::error_code error;
        if (cli.count("--json") > 0 &&
            (options.json.empty() || std::filesystem::equivalent(options.json, options.trace, error)))
            throw app::UsageError("--json: it is empty, or is the trace; give the name of a file for the results");
    });
    const std::vector<TracedPlan> plans = read_trace(options.trace, options.kinds, options.plans, comm);
    const std::vector<Way> ways = ways_of(options, comm);
    const std::vector<Timing> timings = replay(plans, ways, options.rounds, comm);
    app::on_rank_0(comm, [&] {
        print(timings, ways);
        if (options.json.empty()) return;
        const std::string text =
            json_of(timings, ways, options, comm.size()).dump(1, ' ', false, Json::error_handler_t::replace);
        if (!comm::replace_file(options.json, text + "\n"))
            throw app::OutputError("{}: cannot be written; choose another", options.json);
    });
}

// The exit code.
int run_program(int argc, char** argv) {
    const comm::Communicator world;
    try {
        replay_trace(argc, argv, world);
        return 0;
    } catch (const std::exception& e) {
        return app::ended_by(e, world, "replay_messages");
    }
}

}  // namespace

int main(int argc, char** argv) {
    comm::Session session(argc, argv);
    return session.end(run_program(argc, argv));
}
