// SPDX-License-Identifier: MIT
// A job of one rank, without MPI.
#include "comm/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "comm/clock.hpp"

namespace comm {

Session::Session(int&, char**&) {}
Session::~Session() = default;
int Session::end(int code) { return code; }

void fatal(int code, std::string_view message) {
    print_error(message);
    _exit(std::clamp(code, 1, 125));
}

void end_job(int code) { std::exit(code); }

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace comm
