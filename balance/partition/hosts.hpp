// SPDX-License-Identifier: MIT
// Which member of a team hosts which processes. Nothing else in the program knows the rule.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "balance/grid/grid.hpp"

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
    IndexRange processes_of(int member) const {
        return first_ ? IndexRange{(*first_)[member], (*first_)[member + 1]} : block(processes_, member, members_);
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

}  // namespace balance
