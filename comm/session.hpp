// SPDX-License-Identifier: MIT
// Start and end of a job, and the one way out when a rank cannot go on.
#pragma once
#include <string>
#include <string_view>

namespace comm {

/// Initialises MPI, finalises it at its end; nothing in a build without MPI.
class Session {
public:
    Session(int& argc, char**& argv);
    ~Session();  ///< end(0), if it has not ended before
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    /// Finalises MPI when all ranks have called this, and returns `code`, with which the program is to exit. Where MPI
    /// does not come back from that within 10 seconds, the process exits with it at once. Call it last of all.
    int end(int code);
};

/// Prints `steelyard: error: MESSAGE` as one line and ends the whole job with `code` (1..125). Any rank may call it. If
/// several ranks of a node do, the message of the first is printed. Needs no memory and no other rank. Works before MPI
/// is initialised and after it is finalised, too.
[[noreturn]] void fatal(int code, std::string_view message);

/// Prints `steelyard: error: MESSAGE` as one line of standard error. Needs no memory.
void print_error(std::string_view message);

/// Ends the whole job with `code` when every rank has called it. For ends on a signal: Hydra's mpiexec then often
/// reports 0 for any code that the ranks return, but it always reports an abort.
[[noreturn]] void end_job(int code);

/// Has a launcher (mpiexec, srun) started this process, by what it tells its processes?
bool launched();

/// The launcher's words on its number of processes if that isn't `ranks`, else an empty text. The mpiexec of another
/// MPI starts programs of one rank each, without knowledge of each other.
std::string other_launcher(int ranks);

/// Whether this process is the one that should print what other_launcher() found: the launcher's first.
bool speaks_for_launch(int rank);

}  // namespace comm
