// SPDX-License-Identifier: MIT
// The number of threads of a rank.
#pragma once

namespace app {

/// Uses as many threads as OMP_NUM_THREADS says (the first of a list), else `usual` ones. Throws UsageError where it
/// says something else than a number from 1 to 4096. OpenMP itself fails with some ten thousand threads.
void use_threads(int usual);

}  // namespace app
