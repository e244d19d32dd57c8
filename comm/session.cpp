// SPDX-License-Identifier: MIT
#include "comm/session.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "comm/clock.hpp"
#include "comm/mpi_check.hpp"

namespace comm {

Session::Session(int& argc, char**& argv) {
    int provided = 0;  // a simulated cluster says SINGLE; threads never call MPI at the same time, so any answer will do
    mpi_check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Session::~Session() { MPI_Finalize(); }

void fatal(int code, std::string_view message) {
    code = std::clamp(code, 1, 125);  // MPI_Abort(256) would report success
    std::string line = "steelyard: error: " + std::string(message) + "\n";
    std::replace(line.begin(), line.end() - 1, '\n', ' ');
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (initialised && !finalised) MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

void end_job(int code) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, code);
    for (;;) pause();  // until the abort takes this rank along
}

double now() { return MPI_Wtime(); }

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double thread_cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double thread_clock_resolution() {
    double smallest = 1;
    for (int i = 0; i < 100; ++i) {
        const double start = thread_cpu_seconds();
        double next = start;
        while (next == start) next = thread_cpu_seconds();
        smallest = std::min(smallest, next - start);
    }
    return smallest;
}

}  // namespace comm
