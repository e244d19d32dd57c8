// SPDX-License-Identifier: MIT
// A value for each axis: numbers, or vectors of the numbers of many particles.
#pragma once
#include "md/kernels/hd.hpp"

namespace md {

template <class T, int D>
struct Vec {
    T at[D];
    HD T& operator[](int axis) { return at[axis]; }
    HD const T& operator[](int axis) const { return at[axis]; }
};

/// f(axis) for each axis.
template <int D, class F>
HD auto vec(F f) {
    if constexpr (D == 2) return Vec<decltype(f(0)), 2>{{f(0), f(1)}};
    else return Vec<decltype(f(0)), 3>{{f(0), f(1), f(2)}};
}

/// Calls f(axis) for each axis. A loop might stay one, and keep in memory what it indexes.
template <int D, class F>
HD void for_each_axis(F f) {
    f(0);
    f(1);
    if constexpr (D == 3) f(2);
}
#define STEELYARD_INLINED __attribute__((always_inline))

}  // namespace md
