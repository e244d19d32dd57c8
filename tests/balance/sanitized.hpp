// SPDX-License-Identifier: MIT
// What tests leave out under sanitizers, where they take ten times as long: large teams of threads and most random
// cases. Faults of memory and of arithmetic, which are looked for there, show in few.
#pragma once
#include <algorithm>
#include <vector>

namespace test {

#ifdef STEELYARD_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// The number of random cases: n, a tenth of them under sanitizers.
constexpr int cases(int n) { return sanitized ? n / 10 : n; }

/// The sizes of teams: all of them, those up to 8 under sanitizers.
inline std::vector<int> teams(std::vector<int> sizes) {
    if (sanitized) std::erase_if(sizes, [](int size) { return size > 8; });
    return sizes;
}

}  // namespace test
