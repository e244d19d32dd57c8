// SPDX-License-Identifier: MIT
// Clock, start and end of a job on a simulated cluster. The simulator runs all ranks in one process of the operating
// system, one at a time. So the end of that process is the end of the job, and no rank may block outside MPI. Only MPI
// calls and compute() advance the simulated clock.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u/Link.hpp>

#include "comm/clock.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/session.hpp"
#include "comm/simulation.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace comm {
namespace {

// Traffic of all ranks together. One process, the simulator's, holds all ranks.
SimulatedTraffic& sent_by_all() {
    static SimulatedTraffic traffic;
    return traffic;
}

void count_messages() {
    using simgrid::kernel::resource::Action;
    simgrid::s4u::Link::on_communication_state_change_cb(
        [](simgrid::kernel::resource::NetworkAction& message, Action::State before) {
            // NetworkAction is derived from Action, though SimGrid's headers do not show it.
            const auto& action = reinterpret_cast<const Action&>(message);
            if (before != Action::State::STARTED || action.get_state() != Action::State::FINISHED) return;
            sent_by_all().messages += 1;
            sent_by_all().bytes += action.get_cost();
        });
}

}  // namespace

Session::Session(int& argc, char**& argv) {
    mpi_check(MPI_Init(&argc, &argv), "MPI_Init");
    mpi_check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int rank = 0;
    mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    if (rank == 0) count_messages();
}

Session::~Session() { end(0); }

int Session::end(int code) {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (!finalised) MPI_Finalize();
    return code;
}

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

// The more pages are free, the longer malloc_trim() takes. So only some calls do it. If each rank calls once, at least
// 24 of these calls do it, or all with fewer ranks.
void give_back_pages() {
    constexpr std::int64_t enough = 24;
    static std::int64_t calls = 0;
    int ranks = 0;
    mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    if (++calls % std::max<std::int64_t>(1, ranks / enough) != 0) return;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

SimulatedTraffic simulated_traffic() { return sent_by_all(); }

std::string simulated_platform() {
    const char* text = std::getenv("STEELYARD_PLATFORM");
    return text ? text : "{}";
}

}  // namespace comm
