// SPDX-License-Identifier: MIT
// Which member of a team hosts which processes. Nothing else in the program knows the rule.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/team.hpp"

namespace balance {

/// Consecutive processes on each member.
class Hosts {
public:
    /// Blocks of about equal size, which take no memory.
    Hosts(std::int64_t processes, int members) : processes_(processes), members_(members) {}
    /// Member m hosts processes first[m] .. first[m + 1] - 1; first.front() is 0. 8 bytes a member, which copies share.
    explicit Hosts(std::vector<std::int64_t> first)
        : processes_(first.back()),
          members_(static_cast<int>(first.size()) - 1),
          first_(std::make_shared<const std::vector<std::int64_t>>(std::move(first))) {}

    int members() const { return members_; }
    std::int64_t processes() const { return processes_; }
    Range processes_of(int member) const {
        return first_ ? Range{(*first_)[member], (*first_)[member + 1]} : block(processes_, member, members_);
    }
    int member_of(std::int64_t process) const {
        return static_cast<int>(first_ ? std::upper_bound(first_->begin(), first_->end(), process) - first_->begin() - 1
                                       : ((process + 1) * members_ - 1) / processes_);
    }

    std::int64_t bytes() const {
        return first_ ? static_cast<std::int64_t>(first_->capacity() * sizeof(std::int64_t)) : 0;
    }

private:
    std::int64_t processes_;
    int members_;
    std::shared_ptr<const std::vector<std::int64_t>> first_;  // null: equal blocks
};

/// One value for each process: member 0 has those of all, each other member those of the processes that it hosts. So
/// what only one member has to look at takes no memory on the others. Member 0 hosts the first processes, so on each
/// member the values of the processes that it hosts come first.
template <class T>
using KnownToFirst = std::vector<T>;

/// Such a list from the numbers of the processes that each member hosts. Collective.
template <class T>
KnownToFirst<T> known_to_first(const Team& team, std::vector<T> hosted) {
    if (team.size() == 1) return hosted;
    std::vector<T> all = gather<T>(team, hosted);
    if (team.rank() == 0) return all;
    return hosted;
}

}  // namespace balance
