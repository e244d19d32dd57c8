// SPDX-License-Identifier: MIT
// The one clock for intervals. It cannot be set: a date that is corrected during a run changes no interval. Under a
// simulated cluster it is the simulated one.
#pragma once

namespace comm {

/// Wall-clock seconds since some fixed moment; never fewer than before; comparable within a rank only.
double now();

/// CPU seconds that this process's threads have used.
double cpu_seconds();

/// CPU seconds that the calling thread has used: time in which it was not running is not counted.
double thread_cpu_seconds();

/// Smallest step of thread_cpu_seconds() seen in a short trial, in seconds; 1 where it makes no step.
double thread_clock_resolution();

}  // namespace comm
