// SPDX-License-Identifier: MIT
#include "comm/clock.hpp"

#include <time.h>

#include <algorithm>

namespace comm {

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
