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

}  // namespace comm
