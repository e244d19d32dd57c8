// SPDX-License-Identifier: MIT
// CLI11 reads the options. Its messages on a wrong command line leave out the wrong word, so this file finds it.
#include "app/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <sstream>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"
#include "app/run/run.hpp"
#include "balance/partition/partition.hpp"
#include "comm/agreed.hpp"
#include "tools/commands.hpp"

namespace app {
namespace {

struct CommandLine {
    std::string command;  // as given: run, partition, ...; empty where there is nothing to carry out
    bool has_deck = false;
    Options options;
    std::string text;   // to be printed on standard output: help or the version
    std::string error;  // why the command line is refused, without "error:"; empty: it isn't
};

const char* const exit_codes =
    "Exit codes:\n"
    "  0   success\n"
    "  2   bad command line or deck\n"
    "  3   bad checkpoint or other input file\n"
    "  4   the simulation failed: a lost particle, an overflow, not enough memory,\n"
    "      or selftest found another result\n"
    "  5   output could not be written\n"
    "  75  stopped early by a signal or the time limit, with a checkpoint: go on\n"
    "      with --restart auto\n";

const char* const environment =
    "Environment:\n"
    "  OMP_NUM_THREADS   threads of each rank; default: this node's cores, shared\n"
    "                    among its ranks\n"
    "  STEELYARD_ISA     kernels to use: avx512vbmi2, avx512, avx2 or portable on\n"
    "                    x86-64, neon on Arm, scalar (slow) on all; default: the\n"
    "                    first of these that the processor has; all give the same\n"
    "                    bits\n";

const char* const run_example =
    "Example, on 4 ranks of 2 threads each, with one key of the deck overridden:\n"
    "  OMP_NUM_THREADS=2 mpiexec -n 4 steelyard run inputs/slab.yaml \\\n"
    "      --out out/first --set run.steps=500\n"
    "(mpiexec of the MPI that `steelyard --version` names: mpiexec.mpich on Debian)";

void add_deck(CLI::App* command, Options& o) {
    command->add_option("DECK", o.deck, "deck (YAML)")->required(command->get_name() != "check");
    command->add_option("--set", o.settings, "override a key: key.path=value (repeatable)")
        ->allow_extra_args(false)
        ->needs("DECK");
}

void add_output(CLI::App* command, Options& o, const std::string& named_after = "deck") {
    command->add_option("--out", o.out, "output directory (default: out/<" + named_after + " name>)");
    command->add_flag("--force", o.force,
                      "put results that are in the output directory\n"
                      "aside, into previous_<n>/");
    command->add_flag("--quiet", o.quiet, "no progress, no table");
}

void add_run(CLI::App& cli, Options& o) {
    CLI::App* run = cli.add_subcommand("run", "run a deck");
    run->footer(std::string(exit_codes) + environment + run_example);
    add_deck(run, o);
    run->add_option("--restart", o.restart,
                    "go on from a checkpoint: FILE, or auto for the\n"
                    "newest valid one of the latest run in the output\n"
                    "directory");
    run->add_option("--trace-messages", o.trace,
                    "write each plan of messages between ranks to this\n"
                    "CSV file");
    run->add_option("--prediction", o.prediction,
                    "a predict.json: show what was predicted beside what\n"
                    "was measured");
    run->add_option("--machine", o.machine, "a machine file, for the deck's section machine");
    add_output(run, o);
}

// CLI::Range lets nan through.
std::function<std::string(const std::string&)> number_within(double above, double most) {
    return [above, most](const std::string& text) {
        double x = 0;
        return CLI::detail::lexical_cast(text, x) && x > above && x <= most
                   ? std::string()
                   : fmt::format("{} is no number above {:g} and up to {:g}", text, above, most);
    };
}

void add_predict(CLI::App& cli, Options& o) {
    CLI::App* predict = cli.add_subcommand("predict",
                                           "predict the time of a step for some numbers of\n"
                                           "ranks; measures this machine, unless told of one");
    predict->footer(
        "Example, for this machine:\n"
        "  steelyard predict inputs/slab.yaml --processes 1,2,4,8");
    add_deck(predict, o);
    predict->add_option("--processes", o.processes,
                        "ranks to predict for: a list as 1,2,4,8 (default:\n"
                        "powers of 2)");
    predict->add_option("--machine", o.machine,
                        "a machine file instead of measuring: the\n"
                        "machine.yaml of another prediction, or your own");
    predict
        ->add_option("--scale", o.length,
                     "predict for all lengths of the deck times so much:\n"
                     "particles times its square, in three dimensions its\n"
                     "cube (default: 1)")
        ->check([](const std::string& text) {
            double length = 0;  // CLI::Range lets nan through
            return CLI::detail::lexical_cast(text, length) && length >= 1 && length <= 1e4
                       ? std::string()
                       : text + " is no number from 1 to 10000";
        });
    CLI::Option* efficiency =
        predict->add_option("--efficiency", o.efficiency, "find the most ranks that keep this efficiency")
            ->check(number_within(0, 1));
    predict
        ->add_option("--time", o.seconds,
                     "find the fewest ranks on which all steps of the\n"
                     "run take no longer: seconds")
        ->check(number_within(0, 1e12))
        ->excludes(efficiency);
    add_output(predict, o);
}

void add_replay(CLI::App& cli, Options& o) {
    CLI::App* replay = cli.add_subcommand("replay",
                                          "balance a load series from a file: models,\n"
                                          "partitioners, criteria; no particles");
    replay->footer(
        "Example, the loads of a run on 240 processes by two models:\n"
        "  steelyard replay out/tiny/loads.h5 --set balance.processes=240 \\\n"
        "      --set 'balance.compare=[a1]' --out out/replay");
    replay->add_option("LOADS", o.loads, "load series, an HDF5 file: docs/replay.md")->required();
    replay->add_option("--deck", o.deck,
                       "a deck, of which the section balance counts, and\n"
                       "output.balance_formats");
    replay->add_option("--set", o.settings, "override a key: balance.key=value (repeatable)")->allow_extra_args(false);
    replay->add_flag("--optimum", o.optimum,
                     "find the best schedule of balancings in\n"
                     "hindsight; with model exact, no sticky cuts and\n"
                     "equal speeds");
    add_output(replay, o, "series");
}

void add_commands(CLI::App& cli, Options& o) {
    add_run(cli, o);
    CLI::App* partition = cli.add_subcommand("partition",
                                             "partition a load field for a machine of nodes,\n"
                                             "CPUs, cores and accelerators; no steps");
    partition->footer(
        "Example, for 4 nodes of which one is half as fast:\n"
        "  steelyard partition inputs/nested_1600x320.yaml --set machine.nodes=4 \\\n"
        "      --set 'machine.core_speed=[1, 1, 0.5, 1]'");
    add_deck(partition, o);
    partition
        ->add_option("--kind", o.kind,
                     "the partitioner: nested (default), or one that\n"
                     "knows no nodes, with the deck's other keys of\n"
                     "balance.partition: chain, rcb, none (even),\n"
                     "compact, diffusion, metis, scotch")
        ->check(CLI::IsMember(balance::partition_kind_names()));
    partition->add_option("--machine", o.machine, "a machine file, for the deck's section machine");
    add_output(partition, o);
    add_predict(cli, o);
    add_replay(cli, o);
    CLI::App* info = cli.add_subcommand("info", "verify a checkpoint and say what it holds");
    info->footer(
        "Example:\n"
        "  steelyard info restarts/strip_t1.h5 --brief");
    info->add_option("FILE", o.deck, "checkpoint")->required();
    info->add_flag("--brief", o.brief, "without the deck");
    CLI::App* check = cli.add_subcommand("check",
                                         "validate a deck; print it with all defaults,\n"
                                         "memory, cells, processes; without a deck: print\n"
                                         "all keys with default, range and meaning");
    check->footer(
        "Example, with one key of the deck overridden:\n"
        "  steelyard check inputs/slab.yaml --set run.steps=500");
    add_deck(check, o);
    check->add_option("--ranks", o.ranks, "for a run on so many ranks, which need not be here")
        ->check(CLI::Range(1, 1'000'000))
        ->needs("DECK");
    CLI::App* selftest = cli.add_subcommand("selftest",
                                            "compare short runs, with each set of kernels and\n"
                                            "over a restart, with results known for all machines");
    selftest->footer(
        "Example, on 4 ranks:\n"
        "  mpiexec -n 4 steelyard selftest");
    selftest->add_option("--inputs", o.inputs,
                         "directory of the decks and of expected.csv\n"
                         "(default: that of this installation)");
}

// The first word that no option of the command takes, and what may have been meant.
std::string unexpected(const CLI::App& cli, const CLI::App& command) {
    const std::vector<std::string> words = command.remaining(true);
    const std::string word = words.empty() ? "" : words.front();  // an option comes before its value
    const std::string option = word.substr(0, word.find('='));
    std::vector<std::string> known, others;
    for (const CLI::Option* o : command.get_options())
        for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
    for (const CLI::App* other : cli.get_subcommands({}))
        if (other->get_option_no_throw(option)) others.push_back(other->get_name());
    const std::string what = fmt::format("{}: unexpected {}", command.get_name(), quote(word));
    if (option.size() > 2 && option.starts_with("--") && !others.empty())
        return fmt::format("{}, an option of {}; see steelyard {} --help", what, fmt::join(others, ", "),
                           command.get_name());
    if (const std::string best = option.starts_with("--") ? closest(option, known) : ""; !best.empty())
        return fmt::format("{}; did you mean {}?", what, best);
    return fmt::format("{}; see steelyard {} --help", what, command.get_name());
}

std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    return text;
}

// The error in the words, or the text that they ask for.
void parse(CLI::App& cli, std::vector<std::string> words, CommandLine& line) {
    std::ranges::reverse(words);  // as CLI11 wants them
    try {
        cli.parse(words);
    } catch (const CLI::ExtrasError&) {
        line.error = unexpected(cli, *cli.get_subcommands().front());
    } catch (const CLI::ParseError& e) {
        std::ostringstream out;
        const bool wanted = cli.exit(e, out, out) == 0;
        if (wanted) line.text = out.str();
        else if (dynamic_cast<const CLI::RequiredError*>(&e) && !line.options.restart.empty())
            line.error = "a restart needs the deck, too; give that of the run, or deck.yaml in its output directory";
        else line.error = one_line(e.what()) + "; see steelyard --help";
    }
    if (!line.error.empty() || !line.text.empty()) return;
    for (const CLI::App* command : cli.get_subcommands()) {
        line.command = command->get_name();
        for (const CLI::Option* option : command->get_options()) {
            if (option->get_name() == "DECK") line.has_deck = option->count() > 0;
            for (const std::string& value : option->results())  // in a job script, a variable that was not set
                if (value.empty()) line.error = option->get_name() + " is empty; give it a value";
        }
    }
}

CommandLine read_command_line(int argc, char** argv) {
    CommandLine line;
    line.options.command_line.assign(argv, argv + argc);
    CLI::App cli{"Steelyard: short-range molecular dynamics with dynamic load balancing", "steelyard"};
    cli.get_formatter()->column_width(26);
    cli.footer(std::string(exit_codes) + environment + run_example);
    cli.set_version_flag("--version", version_text, "print version, commit, compiler and libraries");
    cli.require_subcommand(1);
    add_commands(cli, line.options);
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty() && words[0] == "help") {  // `help run` stands for `run --help`
        words.erase(words.begin());
        words.insert(words.begin() + (words.empty() ? 0 : 1), "--help");
    }
    std::vector<std::string> names;
    for (const CLI::App* command : cli.get_subcommands({})) names.push_back(command->get_name());
    if (words.empty()) line.error = fmt::format("no command; give one of {}, or --help", fmt::join(names, ", "));
    else if (!words[0].starts_with("-") && std::ranges::find(names, words[0]) == names.end())
        line.error = fmt::format("unknown command {}; {}", quote(words[0]), suggestion(words[0], names));
    else parse(cli, std::move(words), line);
    if (!line.error.empty()) line.error = "command line: " + line.error;
    return line;
}

// A launcher can give each rank a command line of its own; then ranks would wait for each other in different places.
void require_one_command(int argc, char** argv, const comm::Communicator& comm) {
    std::string mine;
    for (int i = 1; i < argc; ++i) mine += std::string(argv[i]) + '\n';
    std::string first = mine;
    comm.broadcast(first);
    refuse_unless<UsageError>(comm, mine == first,
                              "command line: it is not the same on all ranks; start all of them with the same one");
}

}  // namespace

ExitStatus carry_out(int argc, char** argv, const comm::Communicator& comm) {
    require_one_command(argc, argv, comm);
    const CommandLine line = agreed(comm, [&] {
        CommandLine read = read_command_line(argc, argv);
        if (!read.error.empty()) throw UsageError(read.error);
        return read;
    });
    const std::string& command = line.command;
    if (command == "run") return run(line.options, comm);
    if (command == "predict") return {predict(line.options, comm)};
    if (command == "partition") return {partition(line.options, comm)};
    if (command == "replay") return {replay(line.options, comm)};
    if (command == "info") return {info(line.options, comm)};
    if (command == "selftest") return {selftest(line.options, comm)};
    if (command == "check" && line.has_deck) return {check(line.options, comm)};
    if (comm.rank() == 0) say(stdout, "{}", command == "check" ? deck_reference() : line.text);
    return {};
}

}  // namespace app
