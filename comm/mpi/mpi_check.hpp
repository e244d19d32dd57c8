// SPDX-License-Identifier: MIT
// Every MPI call's code is checked here. For comm/*.cpp only: includes mpi.h.
#pragma once
#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "comm/communicator.hpp"
#include "comm/session.hpp"
#include "comm/simulation.hpp"

namespace comm {

/// Ends the job when an MPI call failed: there is no way on, and the others would wait for ever.
inline void mpi_check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fatal(1, std::string("MPI: ") + what + " failed: " + std::string(text, length) +
                 "; check the network and the MPI installation");
}

/// An MPI communicator, freed by the last one who holds it.
struct Communicator::Handle {
    explicit Handle(MPI_Comm c) : comm(c) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        int finalised = 0;
        MPI_Finalized(&finalised);
        MPI_Comm mine = comm;
        if (mine != MPI_COMM_WORLD && !finalised) MPI_Comm_free(&mine);
    }
    const MPI_Comm comm;
};

/// Waits on nodes with more ranks than cores. A spinning rank would keep the rank that it waits for from running. One
/// that only yields takes up to half of a core from it. So a rank yields for some time, then it sleeps.
class Patience {
public:
    void wait() {
        using namespace std::chrono;
        if (steady_clock::now() - start_ < microseconds(200)) sched_yield();
        else std::this_thread::sleep_for(microseconds(20));
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// MPI_Waitall. yield: give the core away while waiting.
inline void wait_all(int count, MPI_Request* requests, MPI_Status* statuses, bool yield) {
    int done = 0;
    Patience patience;
    while (yield && !done) {
        mpi_check(MPI_Testall(count, requests, &done, statuses), "MPI_Testall");
        if (!done) patience.wait();
    }
    if (!done) mpi_check(MPI_Waitall(count, requests, statuses), "MPI_Waitall");
}

/// MPI_Waitsome: places of the requests that have completed, and how many; MPI_UNDEFINED when there are none to wait
/// for.
inline int wait_some(std::span<MPI_Request> requests, int* places, MPI_Status* statuses, bool yield) {
    const auto count = static_cast<int>(requests.size());
    int n = 0;
    if (count == 0) return MPI_UNDEFINED;
    if constexpr (simulated) {  // MPI_Waitsome polls there, which takes simulated time
        mpi_check(MPI_Waitany(count, requests.data(), places, statuses), "MPI_Waitany");
        return *places == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    }
    Patience patience;
    while (yield && n == 0) {
        mpi_check(MPI_Testsome(count, requests.data(), &n, places, statuses), "MPI_Testsome");
        if (n == 0) patience.wait();
    }
    if (n == 0) mpi_check(MPI_Waitsome(count, requests.data(), &n, places, statuses), "MPI_Waitsome");
    return n;
}

/// A collective call: `blocking`, or where the core is to be given away its nonblocking twin, waited for. arguments:
/// what both take.
template <class Blocking, class Nonblocking, class... Arguments>
void collective(bool yield, const char* what, Blocking blocking, Nonblocking nonblocking, Arguments... arguments) {
    if (!yield) return mpi_check(blocking(arguments...), what);
    MPI_Request request;
    mpi_check(nonblocking(arguments..., &request), what);
    wait_all(1, &request, MPI_STATUSES_IGNORE, yield);
}

}  // namespace comm
