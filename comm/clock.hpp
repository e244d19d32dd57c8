// SPDX-License-Identifier: MIT
// The one clock. Under a simulated cluster it is the simulated one.
#pragma once

namespace comm {

/// Wall-clock seconds since some fixed moment; comparable within a rank only.
double now();

/// CPU seconds that this process's threads have used.
double cpu_seconds();

}  // namespace comm
