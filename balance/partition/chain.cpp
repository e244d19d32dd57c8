// SPDX-License-Identifier: MIT
// The search for the smallest bottleneck tries bottlenecks with greedy sweeps. A failing sweep names the next
// bottleneck that would change it. A successful sweep names the load that it really reached. So the search ends at a
// value that occurs, and needs few sweeps.
//
// The leaders stand in a line, each with a stretch of the chain, and hand the sweeps on from one to the next. A sweep
// takes as long as the line, even if a leader has few parts. So many bottlenecks are tried at once, in consecutive
// messages of a few sweeps each. Sweeps come from both ends and meet in the middle. With the final bottleneck a last
// sweep goes down from the middle alone. The leaders behind it go on from the sweeps of the search.
#include "balance/partition/chain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "balance/grid/grid.hpp"
#include "balance/partition/chain_line.hpp"
#include "balance/partition/chain_sweep.hpp"

namespace balance {
namespace {

using chain::Int128;
using chain::Rules;
using chain::Stretch;
using chain::Sweep;

constexpr int sweeps_at_once = 16 * chain::Line::most_sweeps;

// The interval in which the smallest bottleneck lies, by the sweeps so far.
class Interval {
public:
    // total, largest: loads of the chain and of an item of it.
    Interval(const Rules& rules, std::int64_t total, std::int64_t largest)
        : low_(std::max(rules.targets.least(total), Int128{largest})),
          high_(rules.targets.bottleneck_of_any(total)),
          // Unless a limit is in the way, parts that are complete with this bottleneck hold no less than their shares.
          enough_(std::min(high_, rules.targets.least(total) + rules.targets.bottleneck_of_any(largest + 1))) {}

    // The next `count` bottlenecks to try, ascending. At first there are at least two, and the last one fits if any
    // bottleneck does.
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
    // Takes the result of one try.
    void learn(Int128 bottleneck, const chain::ProbeResult& verdict) {
        if (verdict.fits) high_ = std::max(low_, std::min(fits_ ? high_ : bottleneck, verdict.reached)), fits_ = true;
        else low_ = std::max(low_, std::max(bottleneck + 1, std::min(verdict.next, fits_ ? high_ : verdict.next)));
    }
    bool fits() const { return fits_; }
    bool found() const { return fits_ && low_ >= high_; }
    Int128 high() const { return high_; }

    // Gives all members the interval of the member `from`. Collective.
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

// Sums of the chain before a leader's stretch, and of the whole chain.
struct Surroundings {
    std::int64_t items_before = 0, load_before = 0;
    std::int64_t last_ends = -1;  // where the last item there begins plus where it ends, in load
    std::int64_t load = 0, largest = 0;
};

class Leader {
public:
    Leader(const Team& leaders, const ChainItems& items, const Rules& rules, const Meter& meter)
        : team_(leaders), rules_(rules), meter_(meter), stretch_(items, rules), line_(leaders) {
        meter.part(RoundPart::chain, 0, stretch_.count());
        const std::array<std::int64_t, 4> mine{stretch_.count(), stretch_.load(), stretch_.last_load(),
                                               stretch_.largest_load()};
        const std::vector<std::int64_t> all = all_gather<std::int64_t>(team_, mine);
        for (int l = 0; l < team_.size(); ++l) {
            const std::int64_t* of = &all[4 * l];
            if (l < team_.rank()) {
                around_.items_before += of[0], around_.load_before += of[1];
                if (of[0] > 0) around_.last_ends = 2 * around_.load_before - of[2];
            }
            around_.load += of[1], around_.largest = std::max(around_.largest, of[3]);
        }
    }

    /// Nothing if no cut meets the limit.
    std::optional<Int128> smallest_bottleneck() {
        Interval interval(rules_, around_.load, around_.largest);
        do {
            const std::vector<Int128> tried = interval.candidates(team_.size() > 1 ? sweeps_at_once : 1);
            const std::vector<Sweep> from_behind = try_all(tried, interval);
            interval.share(team_, middle());
            if (!interval.fits()) return std::nullopt;
            // The smallest fitting bottleneck of this round makes the same cuts as interval.high(), the load that it
            // reached. If none of this round fits, all are below high(), and the sweep of an earlier round stays.
            const auto fits = std::ranges::lower_bound(tried, interval.high());
            if (rank() >= middle() && fits != tried.end()) from_behind_ = from_behind[fits - tried.begin()];
        } while (!interval.found());
        return interval.high();
    }

    /// The parts that end in this stretch, and where they end in the chain. The next part goes on in the next stretch,
    /// or has all remaining items.
    Stretch::Ends ends(Int128 bottleneck) {
        Stretch::Ends ends = sweep_up(bottleneck, latest_ends(bottleneck));
        for (std::int64_t& at : ends.at) at += around_.items_before;
        return ends;
    }

private:
    int rank() const { return team_.rank(); }
    int middle() const { return (team_.size() - 1) / 2; }
    IndexRange all() const { return {0, team_.size()}; }
    void went_through(std::int64_t parts) const { meter_.part(RoundPart::chain, parts, 0); }

    std::vector<Sweep> begin(std::span<const Int128> bottlenecks, bool upwards) const {
        std::vector<Sweep> sweeps;
        for (const Int128 b : bottlenecks) sweeps.push_back({.bottleneck = b, .part = upwards ? 0 : rules_.parts - 1});
        return sweeps;
    }

    // Leaders up to the middle one go upwards, those behind it downwards. Returns the downward sweeps that come from
    // the leader behind this one; none on leaders before the middle.
    std::vector<Sweep> try_all(std::span<const Int128> bottlenecks, Interval& interval) {
        const std::size_t each = chain::Line::most_sweeps;
        std::vector<Sweep> from_behind;
        line_.lead_to(middle(), static_cast<std::int64_t>((bottlenecks.size() + each - 1) / each), all());
        for (std::size_t at = 0; at < bottlenecks.size(); at += each) {
            const auto some = bottlenecks.subspan(at, std::min(each, bottlenecks.size() - at));
            const auto next = [&](int from, bool upwards) {
                std::vector<Sweep> sweeps = line_.comes_from(from) ? line_.receive(from) : begin(some, upwards);
                sweeps.resize(some.size());
                if (!upwards) from_behind.insert(from_behind.end(), sweeps.begin(), sweeps.end());
                return sweeps;
            };
            const bool upwards = rank() <= middle();
            std::vector<Sweep> sweeps = next(upwards ? rank() - 1 : rank() + 1, upwards);
            std::int64_t parts = 0;
            for (Sweep& s : sweeps) parts += upwards ? stretch_.up(s) : stretch_.down(s);
            went_through(parts);
            line_.send(sweeps);
            if (rank() != middle()) continue;
            const std::vector<Sweep> others = next(rank() + 1, false);
            for (std::size_t k = 0; k < sweeps.size(); ++k) interval.learn(some[k], meet(sweeps[k], others[k], rules_));
        }
        line_.finish();
        return from_behind;
    }

    // The latest places for the parts' ends up to this stretch. They are nearest to the shares, and the rest of the
    // chain still fits.
    Stretch::Ends latest_ends(Int128 bottleneck) {
        line_.lead_to(0, 1, {0, middle() + 1});
        Sweep s = line_.comes_from(rank() + 1) ? line_.receive(rank() + 1).front() : from_behind_;
        s.bottleneck = bottleneck;
        Stretch::Ends earliest;  // of part p: where it begins
        went_through(stretch_.down(s, &earliest));
        line_.send(std::span(&s, 1));
        line_.finish();
        // Parts before `known` end here or before.
        const std::int64_t last_ends = stretch_.count() > 0
                                           ? 2 * (around_.load_before + stretch_.load()) - stretch_.last_load()
                                           : around_.last_ends;
        const std::int64_t shares_end = shares_up_to(last_ends);
        const std::int64_t known = std::min(earliest.first, shares_end);
        const auto recorded = std::ssize(earliest.at);
        Stretch::Ends latest;
        latest.first = std::min(earliest.first - recorded, shares_up_to(around_.last_ends));
        for (std::int64_t p = latest.first; p < known; ++p) {
            std::int64_t at = stretch_.below(rules_.targets.share_before(p + 1, around_.load), around_.load_before);
            const std::int64_t place = earliest.first - (p + 1);  // in `earliest`
            if (place < recorded) at = std::max(at, earliest.at[place]);
            latest.at.push_back(at);
        }
        return latest;
    }
    // Cuts whose shares do not reach beyond the middle of an item.
    std::int64_t shares_up_to(std::int64_t ends) const {
        std::int64_t low = 0, high = rules_.parts - 1;
        while (low < high) {
            const std::int64_t m = low + (high - low + 1) / 2;
            if (2 * rules_.targets.share_before(m, around_.load) <= ends) low = m;
            else high = m - 1;
        }
        return low;
    }

    Stretch::Ends sweep_up(Int128 bottleneck, const Stretch::Ends& latest) {
        line_.lead_to(team_.size() - 1, 1, all());
        Stretch::Ends ends;
        Sweep s = line_.comes_from(rank() - 1) ? line_.receive(rank() - 1).front()
                                               : begin(std::span(&bottleneck, 1), true).front();
        went_through(stretch_.up(s, &ends, &latest));
        line_.send(std::span(&s, 1));
        line_.finish();
        return ends;
    }

    const Team& team_;
    const Rules& rules_;
    const Meter& meter_;
    Stretch stretch_;
    chain::Line line_;
    Surroundings around_;
    Sweep from_behind_;  // down to this leader, with the smallest bottleneck that is known to fit
};

// The parts that end in a leader's stretch.
Stretch::Ends ends_of(const Team& leaders, const ChainItems& items, const Rules& rules, const Meter& meter) {
    Leader leader(leaders, items, rules, meter);
    if (const auto bottleneck = leader.smallest_bottleneck()) return leader.ends(*bottleneck);
    // With the sizes taken as loads, the smallest bottleneck is the smallest limit.
    const Rules sizes{rules.parts, 0, chain::Targets({}, rules.parts)};
    throw Infeasible(rules.parts, rules.limit,
                     static_cast<std::int64_t>(*Leader(leaders, {items.size, {}}, sizes, meter).smallest_bottleneck()));
}

// The parts that have some of these items, which lie in a stretch with these ends.
ChainCuts cuts_between(const Stretch::Ends& ends, IndexRange items) {
    if (items.size() == 0) return {};
    auto next = std::upper_bound(ends.at.begin(), ends.at.end(), items.begin);
    ChainCuts cuts{ends.first + (next - ends.at.begin()), {}};
    for (std::int64_t at = items.begin; at < items.end; cuts.at.push_back(at))
        at = next == ends.at.end() ? items.end : std::min(*next++, items.end);
    return cuts;
}

Rules rules_of(std::int64_t parts, std::int64_t limit, const PartTargets& targets) {
    return {parts, limit, chain::Targets(targets, parts)};
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
                                          const PartTargets& targets) {
    targets.require(parts);
    const Stretch::Ends ends = ends_of(SerialTeam{}, items, rules_of(parts, limit, targets), no_meter);
    std::vector<std::int64_t> cuts{0};
    cuts.insert(cuts.end(), ends.at.begin(), ends.at.end());
    cuts.resize(parts + 1, std::ssize(items.load));  // what is left is the next part's
    return cuts;
}

ChainCuts chain_partition(const Team& team, const ChainItems& mine, std::int64_t begin, std::int64_t parts,
                          std::int64_t limit, const PartTargets& targets, int leaders, const Meter& meter) {
    targets.require(parts);
    const Team::Blocks* blocks = leaders > 1 ? &team.blocks(leaders) : nullptr;
    const Team& block = blocks ? *blocks->inside : team;
    ChainItems collected;
    if (block.size() > 1) collected.load = gather<std::int64_t>(block, mine.load);
    if (block.size() > 1 && limit > 0) collected.size = gather<std::int64_t>(block, mine.size);
    const ChainItems& items = block.size() > 1 ? collected : mine;
    const SerialTeam alone;
    const Team& line = blocks ? *blocks->across : static_cast<const Team&>(alone);
    Stretch::Ends ends;
    std::int64_t smallest_limit = 0;  // where the one asked for can't be met: all leaders find that
    if (block.rank() == 0) {
        try {
            ends = ends_of(line, items, rules_of(parts, limit, targets), meter);
        } catch (const Infeasible& e) {
            smallest_limit = e.smallest;
        }
    }
    std::vector<std::int64_t> answer{smallest_limit, ends.first};
    answer.insert(answer.end(), ends.at.begin(), ends.at.end());
    answer = from_first(block, std::move(answer));
    if (answer[0] > 0) throw Infeasible(parts, limit, answer[0]);
    ends = {answer[1], {answer.begin() + 2, answer.end()}};
    return cuts_between(ends, {begin, begin + std::ssize(mine.load)});
}

int chain_leaders(std::int64_t items, std::int64_t parts, int members) {
    // One member is done with a short chain before leaders have told one another anything.
    if (items + 100 * parts < 65536) return 1;
    // A leader's work falls with the number of leaders, and the way of a sweep grows with it. A part costs in all
    // sweeps as much as collecting a thousand items. The number is a power of two, because the team keeps its blocks,
    // and items vary a little.
    const double work = static_cast<double>(items) + 1000 * static_cast<double>(parts);
    const auto leaders = std::bit_floor(static_cast<std::uint64_t>(std::sqrt(work) / 32));
    return static_cast<int>(std::min<std::uint64_t>(members, leaders));
}

ChainCourse chain_course(double items, double parts, int leaders) {
    if (leaders == 1)
        return {.items = items, .parts = 17 * parts};  // 13 to 16 sweeps find the bottleneck of most loads
    // Most loads take three rounds of sweeps that meet in the middle; then there is one from there down and one up.
    constexpr double rounds = 3, messages = static_cast<double>(sweeps_at_once) / chain::Line::most_sweeps;
    const double parts_here = parts / leaders + 1, turns = rounds * (leaders / 2 + messages), last = 1.5 * leaders;
    return {.items = items / leaders,
            .parts = parts_here * (turns * chain::Line::most_sweeps + last),
            .messages = turns + last,
            .reductions = rounds};
}

}  // namespace balance
