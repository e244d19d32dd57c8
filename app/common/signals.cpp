// SPDX-License-Identifier: MIT
#include "app/common/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "comm/session.hpp"

namespace app {
namespace {

// A signal handler may use such variables, and functions of the system that are made for it: getppid() and alarm() are.
volatile std::sig_atomic_t seen = 0;
volatile std::sig_atomic_t launcher = 0;  // the process that started this one, where that is a launcher's; else 0

constexpr unsigned seconds_without_launcher = 30;

void note(int number) {
    seen = number;
    if (launcher != 0 && getppid() != launcher) alarm(seconds_without_launcher);  // it ends this process
}

// A launcher that is killed leaves its ranks to themselves. They stop as on TERM, with a checkpoint, and none goes on
// writing to files that a restart has taken over. A run that was started from a shell or a script outlives it.
void stop_without_launcher() {
#ifdef __linux__
    if (!comm::launched()) return;
    launcher = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != launcher) note(SIGTERM);  // it has gone meanwhile
#endif
}

}  // namespace

void survive_file_limits() { std::signal(SIGXFSZ, SIG_IGN); }

void watch_signals() {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    std::signal(SIGPIPE, SIG_IGN);  // a reader of what the run says that has gone doesn't end it
    for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaction(number, &action, nullptr);
    stop_without_launcher();
}

int signal_seen() { return seen; }

}  // namespace app
