// SPDX-License-Identifier: MIT
// The one clock. Under a simulated cluster it is the simulated one.
#pragma once

namespace comm {

/// Wall-clock seconds since some fixed moment; comparable within a rank only.
double now();

/// CPU seconds that this process's threads have used.
double cpu_seconds();

/// CPU seconds that the calling thread has used: time in which it was not running is not counted.
double thread_cpu_seconds();

/// Smallest step of thread_cpu_seconds() seen in a short trial.
double thread_clock_resolution();

}  // namespace comm
