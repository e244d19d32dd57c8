// SPDX-License-Identifier: MIT
// A job of one rank, without MPI.
#include "comm/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace comm {

Session::Session(int&, char**&) {}
Session::~Session() = default;
int Session::end(int code) { return code; }

void fatal(int code, std::string_view message) {
    print_error(message);
    _exit(std::clamp(code, 1, 125));
}

void end_job(int code) { std::exit(code); }

}  // namespace comm
