// SPDX-License-Identifier: MIT
// Requests to stop from outside: TERM, INT, USR1 (what batch systems send before the time is up).
#pragma once

namespace app {

/// From now on these signals only note themselves; a write beyond the file-size limit fails instead of killing.
void watch_signals();

/// The number of the signal that came, 0 if none did.
int signal_seen();

}  // namespace app
