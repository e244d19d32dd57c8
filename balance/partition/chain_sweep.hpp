// SPDX-License-Identifier: MIT
// Greedy sweeps along a chain of items. The *room* of a part is the largest load that it may have. In a sweep, each
// part takes items until its room is full. A sweep is a value that goes from one stretch of the chain to the next, so
// each member needs the items of its own stretch alone. A sweep starts at either end. Two sweeps that meet show whether
// the parts can take all items.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "balance/partition/part_targets.hpp"

namespace balance {
struct ChainItems;
}

namespace balance::chain {

using Int128 = __int128;

/// Targets of the parts. The *bottleneck* is the room of a part with the largest target; the rooms of other parts are
/// in proportion to their targets. A leader keeps two bits for each part, and eight bytes for each part with an unusual
/// target.
class Targets {
public:
    Targets(const PartTargets& targets, std::int64_t parts);
    /// The room of a part with this target.
    std::int64_t room(std::int64_t target, Int128 bottleneck) const {
        constexpr Int128 most = std::numeric_limits<std::int64_t>::max() / 2;
        if (!equal()) bottleneck = bottleneck * target / largest_;
        return static_cast<std::int64_t>(bottleneck < most ? bottleneck : most);
    }
    class Rooms;
    class Walk;
    /// The smallest bottleneck with which part p has room for `load`.
    Int128 bottleneck(std::int64_t p, std::int64_t load) const {
        return equal() ? Int128{load} : (Int128{load} * largest_ + of(p) - 1) / of(p);
    }
    /// Target of part p. If all targets are equal, each is 1.
    std::int64_t of(std::int64_t p) const { return is_other(p) ? of_other(others_before(p)) : usual_; }
    /// The smallest bottleneck with which every part has room for `load`.
    Int128 bottleneck_of_any(std::int64_t load) const { return (Int128{load} * largest_ + smallest_ - 1) / smallest_; }
    /// The share of `total` that the parts before p should get.
    Int128 share_before(std::int64_t p, std::int64_t total) const {
        const std::int64_t others = others_before(p);
        return Int128{total} * (usual_ * (p - others) + (others > 0 ? sums_[others] : 0)) / sum_;
    }
    /// No bottleneck below this one can do.
    Int128 least(std::int64_t total) const { return (Int128{total} * largest_ + sum_ - 1) / sum_; }

private:
    // One bit for each of 64 parts, set if the part has an unusual target; and the number of parts with an unusual
    // target before these 64.
    struct Word {
        std::uint64_t others = 0;
        std::int64_t before = 0;
    };
    bool equal() const { return words_.empty(); }
    bool is_other(std::int64_t p) const { return !equal() && (words_[p / 64].others >> p % 64 & 1); }
    std::int64_t of_other(std::int64_t k) const { return sums_[k + 1] - sums_[k]; }
    std::int64_t others_before(std::int64_t p) const {
        if (equal()) return 0;
        const Word& word = words_[p / 64];
        return word.before + std::popcount(word.others & ((std::uint64_t{1} << p % 64) - 1));
    }

    std::vector<Word> words_;         // none where all targets are equal
    std::vector<std::int64_t> sums_;  // of the targets of the first 0, 1, 2, ... parts with unusual targets
    std::int64_t usual_ = 1, largest_ = 1, smallest_ = 1, sum_ = 0;
};

/// The targets of parts that follow each other, upwards or downwards.
class Targets::Walk {
public:
    /// part: where the walk starts.
    Walk(const Targets& targets, std::int64_t part)
        : targets_(targets), part_(part), others_before_(part < 0 ? 0 : targets.others_before(part)) {}
    std::int64_t target() const {
        return targets_.is_other(part_) ? targets_.of_other(others_before_) : targets_.usual_;
    }
    void go_up() { others_before_ += targets_.is_other(part_++); }
    void go_down() {
        if (--part_ >= 0) others_before_ -= targets_.is_other(part_);
    }

private:
    const Targets& targets_;
    std::int64_t part_, others_before_;
};

/// Targets::room() with one bottleneck for many parts, mostly without a division of integers. Below 2^51, a quotient of
/// floating point is off by one at most, and the remainder shows by how much.
class Targets::Rooms {
public:
    Rooms(const Targets& targets, Int128 bottleneck)
        : targets_(targets),
          bottleneck_(bottleneck),
          quick_(!targets.equal() && bottleneck < Int128{1} << 51),
          low_(static_cast<std::int64_t>(bottleneck)),
          ratio_(static_cast<double>(low_) / static_cast<double>(targets.largest_)) {}
    std::int64_t of(std::int64_t target) const {
        if (!quick_) return targets_.room(target, bottleneck_);
        const std::int64_t most = targets_.largest_,
                           quotient = static_cast<std::int64_t>(static_cast<double>(target) * ratio_);
        // Both products may be too large for 64 bits, but not their difference.
        const auto rest =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(low_) * static_cast<std::uint64_t>(target) -
                                      static_cast<std::uint64_t>(quotient) * static_cast<std::uint64_t>(most));
        return quotient + (rest >= most) - (rest < 0);
    }

private:
    const Targets& targets_;
    Int128 bottleneck_;
    bool quick_;
    std::int64_t low_;
    double ratio_;
};

/// The constraints on the parts.
struct Rules {
    std::int64_t parts, limit;  ///< limit: on the size of a part; 0: none
    Targets targets;
};

/// A sweep with one bottleneck, as far as it has come.
struct Sweep {
    Int128 bottleneck;
    Int128 reached = 0;  ///< the smallest bottleneck with which the complete parts take these items
    Int128 next = std::numeric_limits<Int128>::max();  ///< the smallest bottleneck that would have moved a cut
    std::int64_t part = 0;            ///< the part that takes items now; past the last part if all are complete
    std::int64_t load = 0, size = 0;  ///< that this part has taken
};

/// Result of a bottleneck.
struct ProbeResult {
    bool fits;
    Int128 reached;  ///< where it fits, the smallest bottleneck with the same cuts
    Int128 next;     ///< where it does not, the smallest one with other cuts
};
/// Result of a sweep from the first part on and one from the last part back. Together they have taken all items.
ProbeResult meet(const Sweep& up, const Sweep& down, const Rules& rules);

/// Items of a chain that follow each other.
class Stretch {
public:
    Stretch(const ChainItems& items, const Rules& rules);
    std::int64_t count() const { return std::ssize(load_) - 1; }
    std::int64_t load() const { return load_.back(); }
    std::int64_t last_load() const { return count() > 0 ? load_.back() - load_[count() - 1] : 0; }
    std::int64_t largest_load() const { return largest_load_; }
    /// Number of items whose middle lies below `share`, in load from the beginning of the chain. before: load of the
    /// chain before this stretch.
    std::int64_t below(Int128 share, std::int64_t before) const;

    /// The parts that end here.
    struct Ends {
        std::int64_t first = 0;        ///< the first part, in the sweep's direction, that ends here
        std::vector<std::int64_t> at;  ///< items of the stretch below the end of each part
    };
    /// Goes through the items upwards, or downwards, and returns the number of parts that took some. ends: gets the
    /// ends of completed parts. latest: the latest allowed ends of parts, from part latest->first on.
    std::int64_t up(Sweep& sweep, Ends* ends = nullptr, const Ends* latest = nullptr);
    std::int64_t down(Sweep& sweep, Ends* ends = nullptr);

private:
    template <bool upwards>
    std::int64_t go(Sweep& sweep, Ends* ends, const Ends* latest);

    const Rules* rules_;
    std::int64_t largest_load_ = 0;
    std::vector<std::int64_t> load_, size_;  // sums from the beginning of the stretch; size_ is empty without a limit
    // Where parts would end if `latest` did not stop them: in the last sweep down, in the last one up, and in this one.
    Ends last_[2], now_;
};

}  // namespace balance::chain
