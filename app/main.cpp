// SPDX-License-Identifier: MIT
// Command line, and the one place where errors become exit codes: 2 deck or command line, 3 checkpoint, 4 simulation, 5 output.
#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>
#include <new>
#include <stdexcept>

#include "app/deck.hpp"
#include "app/output.hpp"
#include "app/run.hpp"
#include "app/signals.hpp"
#include "comm/communicator.hpp"
#include "comm/session.hpp"

namespace {

int fail(const comm::Communicator& comm, int code, const std::string& message) {
    if (comm.rank() == 0) fmt::print(stderr, "steelyard: error: {}\n", message);
    return code;
}

std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    return text;
}

int dispatch(int argc, char** argv, const comm::Communicator& comm) {
    CLI::App cli{"Steelyard: short-range molecular dynamics with dynamic load balancing", "steelyard"};
    cli.set_version_flag("--version", std::string("steelyard ") + STEELYARD_VERSION);
    cli.require_subcommand(1);
    app::Options options;
    const auto add_common = [&](CLI::App* command) {
        command->add_option("DECK", options.deck, "deck (YAML)")->required();
        command->add_option("--set", options.settings, "override a key: key.path=value (repeatable)")->allow_extra_args(false);
    };
    CLI::App* run = cli.add_subcommand("run", "run a deck");
    add_common(run);
    run->add_option("--restart", options.restart, "go on from a checkpoint: FILE, or auto for the newest valid one in the output directory");
    run->add_option("--out", options.out, "output directory (default: out/<deck name>)");
    run->add_flag("--quiet", options.quiet, "no progress, no table");
    CLI::App* info = cli.add_subcommand("info", "verify a checkpoint and say what it holds");
    info->add_option("FILE", options.deck, "checkpoint")->required();
    CLI::App* check = cli.add_subcommand("check", "validate a deck; print it with all defaults, memory, cells, patches");
    add_common(check);
    try {
        cli.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return comm.rank() == 0 ? cli.exit(e) : 0;
        return fail(comm, 2, "command line: " + one_line(e.what()) + "; see steelyard --help");
    }
    return *run ? app::run(options, comm) : *info ? app::info(options, comm) : app::check(options, comm);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
    // Tiles' arrays are replaced now and then by slightly longer ones. glibc's growing threshold would put them all on the
    // heap, whose holes cost a third more memory at 4 M particles; a fixed one gives each its own pages, returned when freed.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    app::survive_file_limits();
    comm::Session session(argc, argv);
    const comm::Communicator world;
    try {
        const int code = dispatch(argc, argv, world);
        if (app::signal_seen()) comm::end_job(code);
        return code;
    } catch (const app::DeckError& e) {  // every rank throws the same
        return fail(world, 2, e.what());
    } catch (const app::InputError& e) {
        return fail(world, 3, e.what());
    } catch (const app::OutputError& e) {
        return fail(world, 5, e.what());
    } catch (const md::SimulationError& e) {
        if (e.on_all_ranks) return fail(world, 4, std::string("run: ") + e.what() + "; " + e.remedy);
        comm::fatal(4, std::string("run: ") + e.what());
    } catch (const std::bad_alloc&) {
        comm::fatal(4, "memory: not enough; use more ranks or fewer particles");
    } catch (const std::invalid_argument& e) {  // kernels and partition, from values all ranks share
        return fail(world, 2, e.what());
    } catch (const std::exception& e) {
        comm::fatal(1, std::string("internal: ") + e.what());
    }
}
