// SPDX-License-Identifier: MIT
// Start and end of MPI, and the one way out when a rank cannot go on.
#pragma once
#include <string_view>

namespace comm {

/// Initialises MPI, finalises it at the end of its life.
class Session {
public:
    Session(int& argc, char**& argv);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

/// Prints `steelyard: error: MESSAGE` as one line and ends the whole job with `code` (1..125), whichever ranks call it. Works
/// before MPI is initialised and after it is finalised, too.
[[noreturn]] void fatal(int code, std::string_view message);

/// Ends the whole job with `code` when every rank has called it: for ends on a signal, after which Hydra's mpiexec often
/// reports 0 whatever the ranks return, but never forgets an abort.
[[noreturn]] void end_job(int code);

}  // namespace comm
