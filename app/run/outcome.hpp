// SPDX-License-Identifier: MIT
#pragma once

namespace app {

/// How a command ended; the same on all ranks.
struct Outcome {
    int code = 0;            ///< exit code
    bool by_signal = false;  ///< some rank was sent one
};

}  // namespace app
