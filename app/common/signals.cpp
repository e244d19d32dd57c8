// SPDX-License-Identifier: MIT
#include "app/common/signals.hpp"

#include <csignal>
#include <initializer_list>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace app {
namespace {

// The one thing a signal handler may do is set such a variable.
volatile std::sig_atomic_t seen = 0;

void note(int number) { seen = number; }

}  // namespace

void survive_file_limits() { std::signal(SIGXFSZ, SIG_IGN); }

void watch_signals() {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    std::signal(SIGPIPE, SIG_IGN);  // a reader of what the run says that has gone doesn't end it
    for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaction(number, &action, nullptr);
#ifdef __linux__
    // A launcher that is killed takes its ranks along: none may go on writing to files that a restart has taken over.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

int signal_seen() { return seen; }

}  // namespace app
