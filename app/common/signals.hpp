// SPDX-License-Identifier: MIT
// Requests to stop from outside: TERM, INT, USR1 (what batch systems send before the time is up).
#pragma once

namespace app {

/// A write beyond the file-size limit fails from now on, instead of killing the process.
void survive_file_limits();

/// From now on TERM, INT and USR1 only note themselves, and PIPE does nothing. Where a launcher has started this
/// process and goes, that is a TERM too, and the process is killed if it has not ended 30 s later.
void watch_signals();

/// The number of the signal that came to this rank, 0 if none did. Other ranks may have got another or none.
int signal_seen();

}  // namespace app
