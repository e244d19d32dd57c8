// SPDX-License-Identifier: MIT
// For LD_PRELOAD: ranks that wait for a message let others have the processor. The tests start more ranks than there
// are cores, and a rank of MPICH over UCX that waits asks for messages again and again until the kernel takes its core
// away. With it a rank that has asked in vain gives its core away, then sleeps for the least time there is (some 50 us)
// before it asks again: seven ranks on two cores take a third of the time. Which rank runs when is the kernel's choice
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
