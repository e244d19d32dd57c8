// SPDX-License-Identifier: MIT
// Exclusive scans: numbers become the sums of those before them. Runs of `scanned` numbers are summed, the sums are
// scanned in the same way, and each run is scanned from its sum on.
#pragma once
#include <cstdint>

#include "md/kernels/hd.hpp"

namespace gpu {

inline constexpr int scanned = 32;

template <class T>
struct SumRuns {
    const T* values;
    std::int64_t count;
    T* sums;

    HD void operator()(std::int64_t run) const {
        const std::int64_t begin = run * scanned, end = begin + scanned < count ? begin + scanned : count;
        T sum = 0;
        for (std::int64_t i = begin; i < end; ++i) sum += values[i];
        sums[run] = sum;
    }
};

template <class T>
struct ScanRuns {
    T* values;
    std::int64_t count;
    const T* before;  ///< of each run: the sum of those before; null where there is one run

    HD void operator()(std::int64_t run) const {
        const std::int64_t begin = run * scanned, end = begin + scanned < count ? begin + scanned : count;
        T sum = before ? before[run] : T{0};
        for (std::int64_t i = begin; i < end; ++i) {
            const T value = values[i];
            values[i] = sum;
            sum += value;
        }
    }
};

}  // namespace gpu
