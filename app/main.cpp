// SPDX-License-Identifier: MIT
// Command line, and the one place where errors become exit codes: 2 deck or command line, 3 checkpoint, 4 simulation, 5
// output.
//
// Errors that all ranks throw alike end each rank by itself, and rank 0 says why. Every other exception is one rank's
// own; the others may be waiting for it in a collective call, so it ends the whole job.
#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>
#include <new>
#include <stdexcept>
#include <string_view>

#include "app/common/build_info.hpp"
#include "app/common/errors.hpp"
#include "app/common/say.hpp"
#include "app/common/signals.hpp"
#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/predict/predict.hpp"
#include "app/run/partition.hpp"
#include "app/run/run.hpp"
#include "comm/communicator.hpp"
#include "comm/file/file.hpp"
#include "comm/session.hpp"
#include "gpu/zone.hpp"
#include "md/tile.hpp"

namespace {

int fail(const comm::Communicator& comm, int code, const std::string& message) {
    if (comm.rank() == 0) app::say(stderr, "steelyard: error: {}\n", message);
    return code;
}

const char* const footer =
    "Exit codes:\n"
    "  0   success\n"
    "  2   bad command line or deck\n"
    "  3   bad checkpoint or other input file\n"
    "  4   the simulation failed: a lost particle, an overflow, not enough memory\n"
    "  5   output could not be written\n"
    "  75  stopped early by a signal or the time limit, with a checkpoint: go on\n"
    "      with --restart auto\n"
    "Environment:\n"
    "  OMP_NUM_THREADS   threads of each rank; default: this node's cores, shared\n"
    "                    among its ranks\n"
    "  STEELYARD_ISA     kernels to use, avx512, avx2 or scalar; default: the\n"
    "                    fastest that this processor has; all give the same bits\n"
    "Example, on 4 ranks of 2 threads each, with one key of the deck overridden:\n"
    "  OMP_NUM_THREADS=2 mpiexec -n 4 steelyard run inputs/slab.yaml \\\n"
    "      --out out/first --set run.steps=500\n"
    "(mpiexec of the MPI that `steelyard --version` names: mpiexec.mpich on Debian)";

std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    return text;
}

app::Outcome dispatch(int argc, char** argv, const comm::Communicator& comm) {
    CLI::App cli{"Steelyard: short-range molecular dynamics with dynamic load balancing", "steelyard"};
    cli.get_formatter()->column_width(26);
    cli.footer(footer);
    cli.set_version_flag("--version", app::version_text, "print version, commit, compiler and libraries");
    cli.require_subcommand(1);
    app::Options options;
    options.command_line.assign(argv, argv + argc);
    const auto add_common = [&](CLI::App* command) {
        command->add_option("DECK", options.deck, "deck (YAML)")->required(command->get_name() != "check");
        command->add_option("--set", options.settings, "override a key: key.path=value (repeatable)")
            ->allow_extra_args(false)
            ->needs("DECK");
    };
    CLI::App* run = cli.add_subcommand("run", "run a deck");
    add_common(run);
    run->add_option("--restart", options.restart,
                    "go on from a checkpoint: FILE, or auto for the\n"
                    "newest valid one of the latest run in the output\n"
                    "directory");
    run->add_option("--trace-messages", options.trace,
                    "write each plan of messages between ranks to this\n"
                    "CSV file");
    run->add_option("--prediction", options.prediction,
                    "a predict.json: show what was predicted beside what\n"
                    "was measured");
    CLI::App* partition = cli.add_subcommand("partition",
                                             "partition a load field for a machine of nodes,\n"
                                             "CPUs, cores and accelerators; no steps");
    add_common(partition);
    CLI::App* predict = cli.add_subcommand("predict",
                                           "predict the time of a step for some numbers of\n"
                                           "ranks; measures this machine, unless told of one");
    add_common(predict);
    predict->add_option("--processes", options.processes,
                        "ranks to predict for: a list as 1,2,4,8 (default:\n"
                        "powers of 2)");
    predict->add_option("--machine", options.machine,
                        "a machine file instead of measuring: the\n"
                        "machine.yaml of another prediction, or your own");
    predict
        ->add_option("--scale", options.length,
                     "predict for all lengths of the deck times so much:\n"
                     "particles times its square (default: 1)")
        ->check([](const std::string& text) {
            double length = 0;  // CLI::Range lets nan through
            return CLI::detail::lexical_cast(text, length) && length >= 1 && length <= 1e4
                       ? std::string()
                       : text + " is no number from 1 to 10000";
        });
    for (CLI::App* command : {run, partition, predict}) {
        command->add_option("--out", options.out, "output directory (default: out/<deck name>)");
        command->add_flag("--force", options.force,
                          "put results that are in the output directory\n"
                          "aside, into previous_<n>/");
        command->add_flag("--quiet", options.quiet, "no progress, no table");
    }
    CLI::App* info = cli.add_subcommand("info", "verify a checkpoint and say what it holds");
    info->add_option("FILE", options.deck, "checkpoint")->required();
    info->add_flag("--brief", options.brief, "without the deck");
    CLI::App* check = cli.add_subcommand("check",
                                         "validate a deck; print it with all defaults,\n"
                                         "memory, cells, processes; without a deck: print\n"
                                         "all keys with default, range and meaning");
    add_common(check);
    try {
        cli.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return {comm.rank() == 0 ? cli.exit(e) : 0};
        return {fail(comm, 2, "command line: " + one_line(e.what()) + "; see steelyard --help")};
    }
    for (const CLI::App* command : cli.get_subcommands())  // in a job script, a variable that was not set
        for (const CLI::Option* option : command->get_options())
            for (const std::string& value : option->results())
                if (value.empty())
                    return {fail(comm, 2, "command line: " + option->get_name() + " is empty; give it a value")};
    if (*run) return app::run(options, comm);
    if (*predict) return {app::predict(options, comm)};
    if (*partition) return {app::partition(options, comm)};
    if (*check && check->count("DECK") == 0) {
        if (comm.rank() == 0) app::say(stdout, "{}", app::deck_reference());
        return {};
    }
    return {*info ? app::info(options, comm) : app::check(options, comm)};
}

// The exit code.
int run_program(int argc, char** argv) {
    const comm::Communicator world;
    if (const std::string other = comm::other_launcher(world.size()); !other.empty()) {
        if (comm::speaks_for_launch(world.rank()))
            app::say(stderr,
                     "steelyard: error: launcher: it says {}, but this program sees {}; start it with the "
                     "mpiexec of the MPI that it was built with\n",
                     other, app::counted(world.size(), "MPI rank"));
        return 2;
    }
    try {
        const app::Outcome outcome = dispatch(argc, argv, world);
        if (outcome.by_signal) comm::end_job(outcome.code);
        return outcome.code;
    } catch (const app::RunError& e) {
        return fail(world, e.code, e.what());
    } catch (const comm::ReadError& e) {
        return fail(world, 3, e.what());
    } catch (const comm::WriteError& e) {
        return fail(world, 5, e.what());
    } catch (const md::SimulationError& e) {
        const std::string text = std::string("run: ") + e.what() + "; " + e.remedy;
        if (e.on_all_ranks) return fail(world, 4, text);
        comm::fatal(4, text);
    } catch (const gpu::Error& e) {
        comm::fatal(4, std::string("accelerator: ") + e.what() + "; " + e.remedy);
    } catch (const std::bad_alloc&) {
        comm::fatal(4, "memory: not enough; use more ranks or fewer particles");
    } catch (const std::exception& e) {
        comm::fatal(1, std::string("internal: ") + e.what() + "; this is a bug");
    } catch (...) {
        comm::fatal(1, "internal: an unknown exception; this is a bug");
    }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
    // Engines' arrays are replaced now and then by slightly longer ones. glibc's growing threshold would put them all
    // on the heap, whose holes cost a third more memory at 4 M particles; a fixed one gives each its own pages,
    // returned when freed.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    app::survive_file_limits();
    if (argc > 1 && std::string_view(argv[1]) == "run") app::watch_signals();
    comm::Session session(argc, argv);
    return session.end(run_program(argc, argv));
}
