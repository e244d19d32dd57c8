// SPDX-License-Identifier: MIT
// Long lists kept in parts: each member keeps an even share, and has the whole only for files. So the memory that a
// member holds for others does not grow with their number.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/team.hpp"

namespace balance {

/// Places of a list, all below 2^31, as cells of a line: so lists move between members as fields do (FieldPlan).
inline Box line_of(const IndexRange& places) {
    return {{static_cast<int>(places.begin), 0, 0}, {static_cast<int>(places.end), 1, 1}};
}
/// Those that are a member's when they are dealt evenly, as EvenParts::add() deals the cells of the line.
inline IndexRange share_of(const IndexRange& places, int member, int members) {
    const std::int64_t holders = std::min<std::int64_t>(members, places.size());
    if (member >= holders) return {places.end, places.end};
    const Box mine = even_part(line_of(places), holders, member);
    return {mine.lower[0], mine.upper[0]};
}

/// A list of which each member keeps an even share: its places by share_of().
template <class T>
class Scattered {
public:
    Scattered() = default;
    /// So many times the same.
    Scattered(const Team& team, std::int64_t size, const T& value)
        : size_(size), mine_(share_of({0, size}, team.rank(), team.size()).size(), value) {}
    /// whole: the same on all members.
    Scattered(const Team& team, std::span<const T> whole) : size_(std::ssize(whole)) {
        const IndexRange mine = share_of({0, size_}, team.rank(), team.size());
        mine_.assign(whole.begin() + mine.begin, whole.begin() + mine.end);
    }
    /// Length of the whole list.
    std::int64_t size() const { return size_; }
    /// This member's share, whose size must stay as it is.
    std::vector<T>& mine() { return mine_; }
    /// Collective.
    std::vector<T> whole(const Team& team) const { return all_gather<T>(team, mine_); }
    std::int64_t bytes() const { return static_cast<std::int64_t>(mine_.capacity() * sizeof(T)); }

private:
    std::int64_t size_ = 0;
    std::vector<T> mine_;
};

}  // namespace balance
