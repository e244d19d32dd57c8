// SPDX-License-Identifier: MIT
// Changes of one number by several threads of a launch. Numbers are integers, so the order of threads changes no bit.
// On a device a warp joins its threads' values first, and one of them touches memory. So the threads that call a
// function at the same place must name the same number. Only atomic_next may name any number.
#pragma once
#include <cstdint>

#include "md/kernels/hd.hpp"

namespace gpu {

/// Adds 1 and returns what was there before.
HD std::int32_t atomic_next(std::int32_t* counter) {
#ifdef __CUDA_ARCH__
    return atomicAdd(counter, 1);
#else
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

#ifdef __CUDA_ARCH__
/// The threads of this warp that are here together, and whether this is the first of them.
struct WarpMates {
    unsigned mask = __activemask();
    __device__ bool first() const { return static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(mask)) - 1; }
};
/// Sum over a warp's threads, modulo 2^64.
__device__ inline std::uint64_t sum_of(WarpMates mates, std::uint64_t value) {
    std::uint64_t sum = 0;
    for (int shift = 0; shift < 64; shift += 16)  // 32 numbers of 16 bits fit into 32
        sum += std::uint64_t{__reduce_add_sync(mates.mask, static_cast<unsigned>(value >> shift & 0xffff))} << shift;
    return sum;
}
#endif

/// Adds modulo 2^64.
HD void atomic_add(std::uint64_t* total, std::uint64_t value) {
#ifdef __CUDA_ARCH__
    const WarpMates mates;
    value = sum_of(mates, value);
    if (mates.first()) atomicAdd(reinterpret_cast<unsigned long long*>(total), value);
#else
    __atomic_fetch_add(total, value, __ATOMIC_RELAXED);
#endif
}

/// Keeps the largest. Usually memory holds the largest already; then it is only read.
HD void atomic_max(std::uint32_t* largest, std::uint32_t value) {
#ifdef __CUDA_ARCH__
    const WarpMates mates;
    value = __reduce_max_sync(mates.mask, value);
    if (mates.first() && value > *static_cast<volatile std::uint32_t*>(largest)) atomicMax(largest, value);
#else
    std::uint32_t now = __atomic_load_n(largest, __ATOMIC_RELAXED);
    while (value > now &&
           !__atomic_compare_exchange_n(largest, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
}

/// The same for 64 bits, for what happens rarely.
HD void atomic_max(std::uint64_t* largest, std::uint64_t value) {
#ifdef __CUDA_ARCH__
    atomicMax(reinterpret_cast<unsigned long long*>(largest), static_cast<unsigned long long>(value));
#else
    std::uint64_t now = __atomic_load_n(largest, __ATOMIC_RELAXED);
    while (value > now &&
           !__atomic_compare_exchange_n(largest, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
}

}  // namespace gpu
