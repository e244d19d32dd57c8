// SPDX-License-Identifier: MIT
// The one place where errors become exit codes: 2 deck or command line, 3 checkpoint, 4 simulation, 5 output.
//
// Errors on which all ranks agree end each rank by itself, and rank 0 says why. Every other exception is one rank's
// own; the others may be waiting for it in a collective call, so it ends the whole job (app/common/errors.hpp).

#include <exception>
#include <string>
#include <string_view>

#include "app/command_line.hpp"
#include "app/common/errors.hpp"
#include "app/common/heap.hpp"
#include "app/common/signals.hpp"
#include "app/common/words.hpp"
#include "comm/communicator.hpp"
#include "comm/session.hpp"

namespace {

// The exit code.
int run_program(int argc, char** argv, const comm::Communicator& world) {
    if (const std::string other = comm::other_launcher(world.size()); !other.empty()) {
        if (comm::speaks_for_launch(world.rank()))
            app::say(stderr,
                     "steelyard: error: launcher: it says {}, but this program sees {}; start it with the mpiexec of "
                     "the MPI that it was built with\n",
                     other, app::counted(world.size(), "MPI rank"));
        return 2;
    }
    try {
        const app::ExitStatus status = app::carry_out(argc, argv, world);
        if (status.by_signal) comm::end_job(status.code);
        return status.code;
    } catch (const std::exception& e) {
        return app::ended_by(e, world);
    }
}

}  // namespace

int main(int argc, char** argv) {
    app::give_arrays_their_own_pages();
    app::survive_file_limits();
    if (argc > 1 && std::string_view(argv[1]) == "run") app::watch_signals();
    try {
        comm::Session session(argc, argv);
        try {
            return session.end(run_program(argc, argv, comm::Communicator()));
        } catch (...) {
            app::end_job_for_this_exception();  // before the session waits for the others
        }
    } catch (...) {
        app::end_job_for_this_exception();
    }
}
