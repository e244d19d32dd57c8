// SPDX-License-Identifier: MIT
// Clock, start and end of a job on a simulated cluster: all ranks are in one process and take turns, so the process's
// end is the job's. Nothing may block outside MPI, and a clock that is read goes on only by MPI calls and compute().
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "comm/clock.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/session.hpp"
#include "comm/simulation.hpp"

namespace comm {

Session::Session(int& argc, char**& argv) {
    mpi_check(MPI_Init(&argc, &argv), "MPI_Init");
    mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Session::~Session() { MPI_Finalize(); }

void fatal(int code, std::string_view message) {
    print_error(message);
    std::fflush(stdout);
    _exit(std::clamp(code, 1, 125));
}

void end_job(int code) {
    MPI_Barrier(MPI_COMM_WORLD);
    std::fflush(stdout);
    _exit(code);
}

double now() { return MPI_Wtime(); }
double cpu_seconds() { return MPI_Wtime(); }
double thread_cpu_seconds() { return MPI_Wtime(); }
double thread_clock_resolution() { return 1e-9; }

// The platform's cores make 1e9 operations a second (scripts/simulate/platform.py).
void compute(double seconds) {
    constexpr double operations_per_second = 1e9;
    if (seconds > 0) smpi_execute_flops(seconds * operations_per_second);
}

std::string simulated_platform() {
    const char* text = std::getenv("STEELYARD_PLATFORM");
    return text ? text : "{}";
}

}  // namespace comm
