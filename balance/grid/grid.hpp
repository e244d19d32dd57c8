// SPDX-License-Identifier: MIT
// The grid of cells, ranges of indices, and how consecutive indices are dealt to the members of a team.
#pragma once
#include <array>
#include <cstdint>

#include "balance/grid/box.hpp"

namespace balance {

/// The uniform grid: cells along each axis (one along z in 2D) and which axes wrap around.
struct Grid {
    std::array<int, 3> cells{1, 1, 1};
    std::array<bool, 3> periodic{false, false, false};

    Box box() const { return {{0, 0, 0}, cells}; }
};

/// A half-open range of indices.
struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

/// The indices of [0, n) that belong to `member` when they are dealt to `members` in consecutive blocks of about equal
/// size.
inline Range block(std::int64_t n, std::int64_t member, std::int64_t members) {
    return {n * member / members, n * (member + 1) / members};
}

}  // namespace balance
