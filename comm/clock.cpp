// SPDX-License-Identifier: MIT
#include "comm/clock.hpp"

#include <time.h>

#include <algorithm>

namespace comm {
namespace {

double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

// Not MPI_Wtime(): MPICH's follows the clock that an administrator or a time server may set.
double now() { return seconds_of(CLOCK_MONOTONIC); }

double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

double thread_cpu_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

double thread_clock_resolution() {
    constexpr int trials = 100, most_looks = 1000000;  // some tenths of a second, where the clock stands still
    double smallest = 1;
    int looks = 0;
    for (int i = 0; i < trials; ++i) {
        const double start = thread_cpu_seconds();
        double next = start;
        while (next == start && ++looks < most_looks) next = thread_cpu_seconds();
        if (next > start) smallest = std::min(smallest, next - start);
    }
    return smallest;
}

}  // namespace comm
