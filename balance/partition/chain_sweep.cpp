// SPDX-License-Identifier: MIT
// Sweeps with similar bottlenecks end their parts at similar places, so each search starts where the part ended in the
// sweep before.
#include "balance/partition/chain_sweep.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "balance/partition/chain.hpp"

namespace balance::chain {
namespace {

// largest: becomes the largest value, at least 0.
std::vector<std::int64_t> prefix_of(std::span<const std::int64_t> v, std::int64_t& largest) {
    std::vector<std::int64_t> p(v.size() + 1, 0);
    std::int64_t sum = 0, most = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        p[i + 1] = sum += v[i];
        most = std::max(most, v[i]);
    }
    largest = most;
    return p;
}

// Sums over items from one end of a stretch.
template <bool upwards>
struct Sums {
    const std::int64_t* prefix;
    std::int64_t count;
    std::int64_t operator()(std::int64_t items) const {
        return upwards ? prefix[items] : prefix[count] - prefix[count - items];
    }
    // The most items, at least `from`, with a sum of at most `most`. guess: from .. count.
    std::int64_t fitting(std::int64_t from, std::int64_t most, std::int64_t guess) const {
        std::int64_t low = guess, high = guess, step = 1;  // `low` items fit, `high` items do not
        if ((*this)(guess) <= most) {
            for (high = low + step; high <= count && (*this)(high) <= most; high = low + step) low = high, step *= 2;
            high = std::min(high, count + 1);
        } else {
            for (low = high - step; low > from && (*this)(low) > most; low = high - step) high = low, step *= 2;
            low = std::max(low, from);
        }
        while (high - low > 1) {
            const std::int64_t middle = low + (high - low) / 2;
            ((*this)(middle) <= most ? low : high) = middle;
        }
        return low;
    }
};

// The part whose load over its target is the largest or the smallest. Products tell, because targets are above 0.
struct Extreme {
    std::int64_t part = -1, load = 0, target = 1;
    template <class Before>
    void take(std::int64_t p, std::int64_t l, std::int64_t t, Before before) {
        if (part < 0 || before(Int128{load} * t, Int128{l} * target)) part = p, load = l, target = t;
    }
};

}  // namespace

Targets::Targets(const PartTargets& targets, std::int64_t parts) : sum_(parts) {
    const std::span<const PartTargets::Target> others = targets.others();
    if (others.empty()) return;
    const auto [least, most] = std::ranges::minmax(others, {}, &PartTargets::Target::target);
    const bool any_usual = std::ssize(others) < parts;
    const std::int64_t some = any_usual ? targets.usual() : least.target;
    if (least.target == some && most.target == some) return;
    smallest_ = std::min(least.target, some);
    largest_ = std::max(most.target, some);
    usual_ = targets.usual();
    words_.resize(parts / 64 + 1);
    sums_.reserve(others.size() + 1);
    sums_.push_back(0);
    for (const PartTargets::Target& o : others) {
        words_[o.part / 64].others |= std::uint64_t{1} << o.part % 64;
        sums_.push_back(sums_.back() + o.target);
    }
    for (std::size_t w = 1; w < words_.size(); ++w)
        words_[w].before = words_[w - 1].before + std::popcount(words_[w - 1].others);
    sum_ = usual_ * (parts - std::ssize(others)) + sums_.back();
}

ProbeResult meet(const Sweep& up, const Sweep& down, const Rules& rules) {
    const auto needed = [&](std::int64_t p, std::int64_t load) { return rules.targets.bottleneck(p, load); };
    ProbeResult result{up.part < down.part, std::max(up.reached, down.reached), std::min(up.next, down.next)};
    if (result.fits) {
        result.reached = std::max({result.reached, needed(up.part, up.load), needed(down.part, down.load)});
    } else if (up.part == down.part) {  // one part has what both hold
        const Int128 all = needed(up.part, up.load + down.load);
        const bool small = rules.limit == 0 || up.size + down.size <= rules.limit;
        result.fits = small && up.load + down.load <= rules.targets.room(rules.targets.of(up.part), up.bottleneck);
        if (result.fits) result.reached = std::max(result.reached, all);
        else if (small) result.next = std::min(result.next, all);
    }
    return result;
}

Stretch::Stretch(const ChainItems& items, const Rules& rules)
    : rules_(&rules), load_(prefix_of(items.load, largest_load_)) {
    std::int64_t largest_size = 0;
    if (rules.limit > 0 && !items.size.empty()) size_ = prefix_of(items.size, largest_size);
}

std::int64_t Stretch::below(Int128 share, std::int64_t before) const {
    std::int64_t low = 0, high = count();
    while (low < high) {
        const std::int64_t m = (low + high) / 2;
        if (Int128{load_[m]} + load_[m + 1] < 2 * (share - before)) low = m + 1;
        else high = m;
    }
    return low;
}

std::int64_t Stretch::up(Sweep& sweep, Ends* ends, const Ends* latest) { return go<true>(sweep, ends, latest); }
std::int64_t Stretch::down(Sweep& sweep, Ends* ends) { return go<false>(sweep, ends, nullptr); }

template <bool upwards>
std::int64_t Stretch::go(Sweep& s, Ends* ends, const Ends* latest) {
    const std::int64_t n = count(), first = s.part, no_part = upwards ? rules_->parts : -1;
    const bool limited = !size_.empty();
    const Sums<upwards> load{load_.data(), n}, size{size_.data(), n};
    const Targets& targets = rules_->targets;
    if (ends) *ends = {first, {}};
    const Targets::Rooms rooms(targets, s.bottleneck);
    Targets::Walk part(targets, s.part);
    Extreme reached, next;
    Ends& last = last_[upwards];
    now_.first = s.part;
    now_.at.clear();
    std::int64_t i = 0, a_part = n * 2 / (rules_->parts + 1);  // items taken; of the part before
    while (s.part != no_part) {
        const std::int64_t k = upwards ? s.part - last.first : last.first - s.part;
        const bool known = k >= 0 && k < std::ssize(last.at);
        const std::int64_t start = std::clamp(known ? last.at[k] : i + a_part, i, n);
        const std::int64_t target = part.target();
        std::int64_t j = load.fitting(i, load(i) + rooms.of(target) - s.load, start);
        if (limited) j = std::min(j, size.fitting(i, size(i) + rules_->limit - s.size, j));
        now_.at.push_back(j);
        const std::int64_t place = latest ? s.part - latest->first : 0;
        const bool stops = latest && place < std::ssize(latest->at) && latest->at[place] <= j;
        if (stops) j = std::max(latest->at[place], i);
        s.load += load(j) - load(i);
        if (limited) s.size += size(j) - size(i);
        a_part = j - i;
        i = j;
        if (j == n && !stops) break;  // the part may go on in the next stretch
        if (ends) ends->at.push_back(upwards ? j : n - j);
        reached.take(s.part, s.load, target, std::less<>());
        if (j < n && (!limited || s.size + size(j + 1) - size(j) <= rules_->limit))
            next.take(s.part, s.load + load(j + 1) - load(j), target, std::greater<>());
        s.part += upwards ? 1 : -1;
        upwards ? part.go_up() : part.go_down();
        s.load = s.size = 0;
    }
    if (!now_.at.empty()) std::swap(last, now_);
    if (reached.part >= 0) s.reached = std::max(s.reached, targets.bottleneck(reached.part, reached.load));
    if (next.part >= 0) s.next = std::min(s.next, targets.bottleneck(next.part, next.load));
    return std::abs(s.part - first) + 1;
}

}  // namespace balance::chain
