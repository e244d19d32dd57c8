// SPDX-License-Identifier: MIT
// For LD_PRELOAD: ranks that wait for a message let others have the processor. The tests start more ranks than there
// are cores, and a rank of MPICH over UCX that waits asks for messages again and again until the kernel takes its core
// away. With it a rank that has asked in vain ten times gives its core away once. From then on it sleeps after every
// ten questions, for the least time there is (some 50 us). test_messages on four ranks and two busy cores takes a
// quarter of the time that it takes where ranks only give their cores away. Which rank runs when is the kernel's choice
// either way.
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

extern "C" unsigned ucp_worker_progress(void* worker) {
    using Progress = unsigned (*)(void*);
    static const auto real = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
    thread_local int idle = 0;
    const unsigned events = real(worker);
    if (events) {
        idle = 0;
    } else if (++idle == 10) {
        sched_yield();
    } else if (idle == 20) {
        idle = 10;
        const timespec least{0, 1};
        nanosleep(&least, nullptr);
    }
    return events;
}
