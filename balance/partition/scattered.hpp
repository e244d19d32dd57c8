// SPDX-License-Identifier: MIT
// What is known of all processes, kept in parts: each member keeps its own, and has the whole only for the moment of a
// balancing. So the memory that a member holds for others does not grow with their number.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/team.hpp"

namespace balance {

/// A list of which each member keeps a block.
template <class T>
class Scattered {
public:
    Scattered() = default;
    /// whole: the same on all members.
    Scattered(const Team& team, std::span<const T> whole) {
        const Range mine = block(static_cast<std::int64_t>(whole.size()), team.rank(), team.size());
        mine_.assign(whole.begin() + mine.begin, whole.begin() + mine.end);
    }
    /// Collective.
    std::vector<T> whole(const Team& team) const { return all_gather<T>(team, mine_); }
    std::int64_t bytes() const { return static_cast<std::int64_t>(mine_.capacity() * sizeof(T)); }

private:
    std::vector<T> mine_;
};

}  // namespace balance
