// SPDX-License-Identifier: MIT
// Loaded before a program (LD_PRELOAD), sets the clocks that it reads by clock_gettime() (MPI_Wtime() of MPICH does,
// too), as an administrator or a time server might. SET_CLOCK says how:
//   forward, backward  the settable clock jumps by an hour when the file SET_CLOCK_AFTER is there
//   reversed           the settable clock runs backwards
//   still              all clocks that the program itself reads stand still; those of MPI go on
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

constexpr long long second = 1000000000, jump = 3600 * second;

long long nanoseconds(clockid_t clock) {
    timespec t{};
    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec * second + t.tv_nsec;
}

bool is_program(const void* code) {
    Dl_info caller{}, program{};
    return dladdr(code, &caller) && dladdr(reinterpret_cast<const void*>(getauxval(AT_ENTRY)), &program) &&
           caller.dli_fbase == program.dli_fbase;
}

long long set(clockid_t clock, const void* caller) {
    static const long long settable_start = nanoseconds(CLOCK_REALTIME), start = nanoseconds(CLOCK_MONOTONIC);
    static const char* const text = std::getenv("SET_CLOCK");
    const std::string_view how = text ? text : "";
    const long long t = nanoseconds(clock);
    if (how == "still" && is_program(caller)) return clock == CLOCK_REALTIME ? settable_start : start;
    if (clock != CLOCK_REALTIME) return t;
    if (how == "reversed") return 2 * settable_start - t;
    static const char* const file = std::getenv("SET_CLOCK_AFTER");
    static bool jumped = false;
    if (!jumped) jumped = file && access(file, F_OK) == 0;
    if (!jumped) return t;
    return how == "forward" ? t + jump : how == "backward" ? t - jump : t;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* t) noexcept {
    const long long ns = set(clock, __builtin_return_address(0));
    t->tv_sec = ns / second;
    t->tv_nsec = ns % second;
    return 0;
}
