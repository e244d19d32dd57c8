// SPDX-License-Identifier: MIT
// The search for the smallest bottleneck: which ones are tried next, and what is known then.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "balance/partition/chain_sweep.hpp"
#include "balance/team.hpp"

namespace balance::chain {

/// Where the smallest bottleneck lies, as far as sweeps have told.
class Interval {
public:
    /// total, largest: loads of the chain and of an item of it.
    Interval(const Rules& rules, std::int64_t total, std::int64_t largest)
        : low_(std::max(rules.targets.least(total), Int128{largest})),
          high_(rules.targets.bottleneck_of_any(total)),
          // Unless a limit is in the way, parts that are complete with this bottleneck hold no less than their shares.
          enough_(std::min(high_, rules.targets.least(total) + rules.targets.bottleneck_of_any(largest + 1))) {}

    /// Bottlenecks to be tried next, ascending, `count` of them; at first at least two, the last one so large that it
    /// fits unless nothing does.
    std::vector<Int128> candidates(int count) const {
        std::vector<Int128> all;
        const int spread = fits_ ? count : std::max(1, count - 1);
        const Int128 end = fits_ ? high_ : std::max(low_, enough_);
        for (int k = 0; k < spread; ++k)
            all.push_back(fits_ || count == 1 ? low_ + (end - low_) * (2 * k + 1) / (2 * spread)
                                              : low_ + (end - low_) * (k + 1) / spread);
        if (!fits_) all.push_back(std::max(low_, high_));
        return all;
    }
    /// Result of one of them.
    void learn(Int128 bottleneck, const Verdict& verdict) {
        if (verdict.fits) high_ = std::max(low_, std::min(fits_ ? high_ : bottleneck, verdict.reached)), fits_ = true;
        else low_ = std::max(low_, std::max(bottleneck + 1, std::min(verdict.next, fits_ ? high_ : verdict.next)));
    }
    bool fits() const { return fits_; }
    bool found() const { return fits_ && low_ >= high_; }
    Int128 high() const { return high_; }

    /// As one member knows it, on all of them. Collective.
    void share(const Team& team, int from) {
        std::array<std::int64_t, 5> words{};
        if (team.rank() == from) {
            std::memcpy(&words[0], &low_, sizeof low_);
            std::memcpy(&words[2], &high_, sizeof high_);
            words[4] = fits_;
        }
        team.sum(words);
        std::memcpy(&low_, &words[0], sizeof low_);
        std::memcpy(&high_, &words[2], sizeof high_);
        fits_ = words[4] != 0;
    }

private:
    Int128 low_, high_, enough_;  // nothing below `low` fits
    bool fits_ = false;           // `high` is known to fit
};

}  // namespace balance::chain
