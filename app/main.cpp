// SPDX-License-Identifier: MIT
// The one place where errors become exit codes: 2 deck or command line, 3 checkpoint, 4 simulation, 5
// output.
//
// Errors that all ranks throw alike end each rank by itself, and rank 0 says why. Every other exception is one rank's
// own; the others may be waiting for it in a collective call, so it ends the whole job.
#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <new>
#include <stdexcept>
#include <string_view>

#include "app/command_line.hpp"
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

app::Outcome dispatch(int argc, char** argv, const comm::Communicator& comm) {
    const app::CommandLine line = app::read_command_line(argc, argv);
    if (!line.error.empty()) return {fail(comm, 2, line.error)};
    const std::string& command = line.command;
    if (command == "run") return app::run(line.options, comm);
    if (command == "predict") return {app::predict(line.options, comm)};
    if (command == "partition") return {app::partition(line.options, comm)};
    if (command == "info") return {app::info(line.options, comm)};
    if (command == "check" && line.has_deck) return {app::check(line.options, comm)};
    if (comm.rank() == 0) app::say(stdout, "{}", command == "check" ? app::deck_reference() : line.text);
    return {};
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
