// SPDX-License-Identifier: MIT
// The search for the smallest bottleneck asks a greedy sweep whether a bottleneck will do: each run takes as many items
// as fit. A sweep that fails names the next bottleneck that would change it, one that succeeds names the load that it
// really reached, so that the search ends at a value that occurs and needs few sweeps.
#include "balance/partition/chain.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace balance {
namespace {

using Int128 = __int128;

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> prefix_of(const std::vector<std::int64_t>& v) {
    std::vector<std::int64_t> p(v.size() + 1, 0);
    for (std::size_t i = 0; i < v.size(); ++i) p[i + 1] = p[i] + v[i];
    return p;
}

// Targets of the parts, seen from a bottleneck, which is the load of a part with the largest target.
class Targets {
public:
    Targets(std::span<const std::int64_t> targets, std::int64_t parts) {
        if (targets.empty() || std::ranges::adjacent_find(targets, std::ranges::not_equal_to{}) == targets.end()) {
            sum_ = parts;
            return;
        }
        before_ = prefix_of({targets.begin(), targets.end()});
        largest_ = *std::max_element(targets.begin(), targets.end());
        sum_ = before_.back();
    }
    /// The most that part p may get.
    std::int64_t room(std::int64_t p, Int128 bottleneck) const {
        return static_cast<std::int64_t>(
            std::min<Int128>(equal() ? bottleneck : bottleneck * of(p) / largest_, none / 2));
    }
    /// The smallest bottleneck with so much room for part p.
    Int128 bottleneck(std::int64_t p, std::int64_t load) const {
        return equal() ? Int128{load} : (Int128{load} * largest_ + of(p) - 1) / of(p);
    }
    /// The share of `total` that the parts before p should get.
    Int128 share_before(std::int64_t p, std::int64_t total) const {
        return Int128{total} * (equal() ? p : before_[p]) / sum_;
    }
    /// No bottleneck below this one can do.
    Int128 least(std::int64_t total) const { return (Int128{total} * largest_ + sum_ - 1) / sum_; }

private:
    bool equal() const { return before_.empty(); }
    std::int64_t of(std::int64_t p) const { return before_[p + 1] - before_[p]; }
    std::vector<std::int64_t> before_;
    std::int64_t largest_ = 1, sum_ = 0;
};

struct Chain {
    std::vector<std::int64_t> load, size;  // prefix sums
    std::int64_t parts, limit;
    Targets targets;

    std::int64_t count() const { return static_cast<std::int64_t>(load.size()) - 1; }
    bool limited() const { return limit > 0 && !size.empty(); }

    // Largest j such that items [i, j) fit into part p.
    std::int64_t furthest(std::int64_t i, std::int64_t p, Int128 bottleneck) const {
        const std::int64_t j = fitting(load, i, targets.room(p, bottleneck));
        return limited() ? std::min(j, fitting(size, i, limit)) : j;
    }
    // Smallest i such that items [i, j) fit into part p.
    std::int64_t nearest(std::int64_t j, std::int64_t p, Int128 bottleneck) const {
        const std::int64_t i = fitting_back(load, j, targets.room(p, bottleneck));
        return limited() ? std::max(i, fitting_back(size, j, limit)) : i;
    }

private:
    static std::int64_t fitting(const std::vector<std::int64_t>& prefix, std::int64_t i, std::int64_t room) {
        return std::upper_bound(prefix.begin() + i, prefix.end(), prefix[i] + room) - prefix.begin() - 1;
    }
    static std::int64_t fitting_back(const std::vector<std::int64_t>& prefix, std::int64_t j, std::int64_t room) {
        return std::lower_bound(prefix.begin(), prefix.begin() + j, prefix[j] - room) - prefix.begin();
    }
};

// One greedy sweep with a bottleneck.
struct Probe {
    bool fits;
    Int128 reached;  // the bottleneck that would have done as well
    Int128 next;     // the smallest bottleneck that would have moved a cut
};
Probe probe(const Chain& chain, Int128 bottleneck) {
    Probe result{true, 0, std::numeric_limits<Int128>::max()};
    std::int64_t i = 0;
    for (std::int64_t p = 0; p < chain.parts && i < chain.count(); ++p) {
        const std::int64_t j = chain.furthest(i, p, bottleneck);
        result.reached = std::max(result.reached, chain.targets.bottleneck(p, chain.load[j] - chain.load[i]));
        const bool load_stops =
            j < chain.count() && (!chain.limited() || chain.size[j + 1] - chain.size[i] <= chain.limit);
        if (load_stops)
            result.next = std::min(result.next, chain.targets.bottleneck(p, chain.load[j + 1] - chain.load[i]));
        i = j;
    }
    result.fits = i == chain.count();
    return result;
}

Int128 smallest_bottleneck(const Chain& chain) {
    // Between `low`, below which nothing fits, and `high`, which is known to fit.
    const std::int64_t total = chain.load.back();
    Int128 low = chain.targets.least(total);
    Int128 everything = 0;  // a bottleneck with room for all items in any part
    for (std::int64_t p = 0; p < chain.parts; ++p)
        everything = std::max(everything, chain.targets.bottleneck(p, total));
    const Probe best = probe(chain, everything);
    if (!best.fits)  // with the sizes taken as loads, the smallest bottleneck is the smallest limit
        throw Infeasible(
            chain.parts, chain.limit,
            static_cast<std::int64_t>(smallest_bottleneck({chain.size, {}, chain.parts, 0, Targets({}, chain.parts)})));
    Int128 high = best.reached;
    while (low < high) {
        const Int128 middle = low + (high - low) / 2;
        const Probe p = probe(chain, middle);
        if (p.fits) high = std::max(p.reached, low);
        else low = std::max<Int128>(middle + 1, std::min(p.next, high));
    }
    return high;
}

// Earliest position of each cut such that what follows it still fits: a sweep from the end.
std::vector<std::int64_t> earliest_cuts(const Chain& chain, Int128 bottleneck) {
    std::vector<std::int64_t> earliest(chain.parts + 1, 0);
    std::int64_t j = chain.count();
    for (std::int64_t p = chain.parts - 1; p > 0 && j > 0; --p) earliest[p] = j = chain.nearest(j, p, bottleneck);
    return earliest;
}

// Where the share of the parts before p ends: items whose middle lies below it belong to them. From item i on.
std::int64_t nearest_to_share(const Chain& chain, std::int64_t i, std::int64_t p) {
    const Int128 share = chain.targets.share_before(p, chain.load.back());
    std::int64_t low = i, high = chain.count();
    while (low < high) {
        const std::int64_t m = (low + high) / 2;
        if (static_cast<Int128>(chain.load[m]) + chain.load[m + 1] < 2 * share) low = m + 1;
        else high = m;
    }
    return low;
}

}  // namespace

Infeasible::Infeasible(std::int64_t parts_wanted, std::int64_t limit_wanted, std::int64_t smallest_limit)
    : std::runtime_error("no cut of the chain keeps " + std::to_string(parts_wanted) + " parts within " +
                         std::to_string(limit_wanted) + "; the smallest limit that works is " +
                         std::to_string(smallest_limit)),
      parts(parts_wanted),
      limit(limit_wanted),
      smallest(smallest_limit) {}

std::vector<std::int64_t> chain_partition(const ChainItems& items, std::int64_t parts, std::int64_t limit,
                                          std::span<const std::int64_t> targets) {
    if (!targets.empty() && static_cast<std::int64_t>(targets.size()) != parts)
        throw std::invalid_argument(std::to_string(targets.size()) + " targets for " + std::to_string(parts) +
                                    " parts");
    for (const std::int64_t t : targets)
        if (t < 1 || t > std::int64_t{1} << 31)
            throw std::invalid_argument("a target of " + std::to_string(t) + " is not from 1 to 2^31");
    const Chain chain{prefix_of(items.load), items.size.empty() ? items.size : prefix_of(items.size), parts, limit,
                      Targets(targets, parts)};
    const Int128 bottleneck = smallest_bottleneck(chain);
    const std::vector<std::int64_t> earliest = earliest_cuts(chain, bottleneck);
    std::vector<std::int64_t> cuts(parts + 1, 0);
    cuts[parts] = chain.count();
    for (std::int64_t p = 1; p < parts; ++p) {
        const std::int64_t latest = chain.furthest(cuts[p - 1], p - 1, bottleneck);
        cuts[p] = std::min(std::max(nearest_to_share(chain, cuts[p - 1], p), earliest[p]), latest);
    }
    return cuts;
}

}  // namespace balance
