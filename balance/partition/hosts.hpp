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

/// Consecutive processes on each member; 8 bytes a member, which copies share.
class Hosts {
public:
    /// Blocks of about equal size.
    Hosts(std::int64_t processes, int members) {
        std::vector<std::int64_t> first;
        for (int m = 0; m <= members; ++m) first.push_back(processes * m / members);
        first_ = std::make_shared<const std::vector<std::int64_t>>(std::move(first));
    }
    /// Member m hosts processes first[m] .. first[m + 1] - 1; first.front() is 0.
    explicit Hosts(std::vector<std::int64_t> first)
        : first_(std::make_shared<const std::vector<std::int64_t>>(std::move(first))) {}

    int members() const { return static_cast<int>(first_->size()) - 1; }
    std::int64_t processes() const { return first_->back(); }
    Range processes_of(int member) const { return {(*first_)[member], (*first_)[member + 1]}; }
    int member_of(std::int64_t process) const {
        return static_cast<int>(std::upper_bound(first_->begin(), first_->end(), process) - first_->begin()) - 1;
    }

    std::int64_t bytes() const { return static_cast<std::int64_t>(first_->capacity() * sizeof(std::int64_t)); }

private:
    std::shared_ptr<const std::vector<std::int64_t>> first_;
};

}  // namespace balance
