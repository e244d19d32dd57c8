// SPDX-License-Identifier: MIT
// The place of large arrays in memory. An engine's arrays live long, and slightly longer ones replace them now and
// then. Each has pages of its own, returned when it is freed, because holes of the heap cost a third more memory at 4 M
// particles. The many fields of a balancing live for milliseconds. On the heap they use pages that are mapped already,
// as long as they fit into its reserve. Without the reserve a sixth of a balancing's time goes into page faults with
// 89,000 cells a rank. These functions act on glibc only.
#pragma once
#include <limits>

#include "comm/simulation.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace app {

/// For arrays from now on. balances: for the fields of balancings and of checks of a border, 16 MiB at the top of the
/// heap are kept.
inline void give_arrays_their_own_pages([[maybe_unused]] bool balances = false) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    if (balances) mallopt(M_TOP_PAD, 16 << 20);
#endif
}

/// From now on arrays come from the heap, and the heap keeps freed memory. For forecasts, because they make and drop
/// arrays of the same sizes again and again.
inline void keep_arrays_on_the_heap() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

/// While one exists (one at a time), arrays of up to 32 MiB come from the heap. The many ranks of a simulated cluster,
/// whose memory is what limits it, do without (and see comm::give_back_pages()).
class FieldsOnHeap {
public:
    FieldsOnHeap() {
#ifdef __GLIBC__
        if (!comm::simulated) mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
    }
    ~FieldsOnHeap() {
        if (!comm::simulated) give_arrays_their_own_pages();
    }
    FieldsOnHeap(const FieldsOnHeap&) = delete;
    FieldsOnHeap& operator=(const FieldsOnHeap&) = delete;
};

}  // namespace app
