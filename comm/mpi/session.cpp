// SPDX-License-Identifier: MIT
// Begin and end of a job. The end for one rank's failure must work from anywhere, once, and with the message of the
// first rank that failed.
#include "comm/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "comm/mpi/mpi_check.hpp"

namespace comm {
namespace {

// Hydra drops what a job has printed last if an abort follows at once.
void let_the_launcher_read() {
    std::fflush(stdout);
    constexpr int microseconds = 100000;
    usleep(microseconds);
}

// The code of the first rank of this node that called fatal(), 0 before: in memory that the node's ranks share. The
// others then neither print a second message nor end the job with another code. A pointer, because fatal() may be
// called from anywhere.
std::atomic<std::int32_t>* first_code = nullptr;
MPI_Win first_code_window = MPI_WIN_NULL;

void share_first_code() {
    MPI_Comm node;
    mpi_check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    int rank = 0;
    MPI_Comm_rank(node, &rank);
    void* memory = nullptr;
    MPI_Aint size = rank == 0 ? static_cast<MPI_Aint>(sizeof *first_code) : 0;
    mpi_check(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, node, &memory, &first_code_window),
              "MPI_Win_allocate_shared");
    int unit = 1;
    mpi_check(MPI_Win_shared_query(first_code_window, 0, &size, &unit, &memory), "MPI_Win_shared_query");
    if (rank == 0) new (memory) std::atomic<std::int32_t>(0);
    MPI_Barrier(node);
    first_code = static_cast<std::atomic<std::int32_t>*>(memory);
    MPI_Comm_free(&node);
}

constexpr unsigned finalise_seconds = 10;
volatile std::sig_atomic_t code_at_end = 0;
extern "C" void leave(int) { _exit(code_at_end); }

// Ends this process with a code though the MPI library hangs in the call that follows.
void leave_at_last(int code) {
    code_at_end = code;
    std::signal(SIGALRM, leave);
    alarm(finalise_seconds);
}

}  // namespace

Session::Session(int& argc, char**& argv) {
    int provided =
        0;  // a simulated cluster says SINGLE; threads never call MPI at the same time, so any answer will do
    mpi_check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    share_first_code();
}

Session::~Session() { end(0); }

int Session::end(int code) {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised) return code;
    first_code = nullptr;
    MPI_Win_free(&first_code_window);
    // MPICH before 4.2 over UCX hangs now and then if one rank is in MPI_Finalize before another (pmodels/mpich, pull
    // request 6596). The first rank then no longer serves the network when the other one takes leave. The barrier makes
    // that rare. When it happens, the work is done.
    MPI_Barrier(MPI_COMM_WORLD);
    leave_at_last(code);
    MPI_Finalize();
    alarm(0);
    return code;
}

void fatal(int code, std::string_view message) {
    code = std::clamp(code, 1, 125);  // MPI_Abort(256) would report success
    std::int32_t none = 0;
    if (first_code && !first_code->compare_exchange_strong(none, code)) {
        sleep(5);  // the first one ends the job; if it can't, this rank does
        code = none;
    } else {
        print_error(message);
        let_the_launcher_read();
    }
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (initialised && !finalised) {
        leave_at_last(code);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    _exit(code);
}

void end_job(int code) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    let_the_launcher_read();
    MPI_Barrier(MPI_COMM_WORLD);
    leave_at_last(code);
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, code);
    sleep(finalise_seconds);  // the abort takes this rank along, unless the launcher itself has gone
    _exit(code);
}

}  // namespace comm
