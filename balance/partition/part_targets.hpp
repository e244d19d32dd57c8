// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace balance {

/// Targets of the parts, in any unit, from 1 to 2^31. Only parts with another target than the usual one are listed. If
/// these are few, a member knows all targets in next to no memory, for any number of parts.
class PartTargets {
public:
    struct Target {
        std::int64_t part, target;
    };
    /// The same for any number of parts.
    PartTargets() = default;
    /// others: of the parts that don't get `usual`, and of any that do, by their parts. Throws std::invalid_argument.
    PartTargets(std::int64_t parts, std::int64_t usual, std::vector<Target> others)
        : parts_(parts), usual_(usual), others_(std::move(others)) {
        check(usual_);
        std::int64_t next = 0;
        for (const Target& o : others_) {
            check(o.target);
            if (o.part < next || o.part >= parts)
                throw std::invalid_argument("a target of part " + std::to_string(o.part) + " of " +
                                            std::to_string(parts) + " is out of order, or of none of them");
            next = o.part + 1;
        }
    }
    /// each: the target of each part, of which that of the first one is the usual one; empty: the same for all.
    explicit PartTargets(std::span<const std::int64_t> each) : parts_(std::ssize(each)) {
        for (const std::int64_t t : each) check(t);
        if (!each.empty()) usual_ = each.front();
        for (std::int64_t p = 0; p < parts_; ++p)
            if (each[p] != usual_) others_.push_back({p, each[p]});
    }

    bool equal() const { return others_.empty(); }
    /// As the constructor says; an empty list means that all parts have the same target.
    std::int64_t usual() const { return usual_; }
    std::span<const Target> others() const { return others_; }
    /// Throws std::invalid_argument where these are targets of another number of parts.
    void require(std::int64_t parts) const {
        if (parts_ > 0 && parts_ != parts)
            throw std::invalid_argument(std::to_string(parts_) + " targets for " + std::to_string(parts) + " parts");
    }
    std::int64_t of(std::int64_t part) const {
        const auto at = std::ranges::lower_bound(others_, part, {}, &Target::part);
        return at != others_.end() && at->part == part ? at->target : usual_;
    }
    /// Target of each part; empty if all are equal.
    std::vector<std::int64_t> each() const {
        if (equal()) return {};
        std::vector<std::int64_t> all(parts_, usual_);
        for (const Target& o : others_) all[o.part] = o.target;
        return all;
    }

private:
    static void check(std::int64_t target) {
        if (target < 1 || target > std::int64_t{1} << 31)
            throw std::invalid_argument("a target of " + std::to_string(target) + " is not from 1 to 2^31");
    }

    std::int64_t parts_ = 0, usual_ = 1;
    std::vector<Target> others_;
};

}  // namespace balance
