// SPDX-License-Identifier: MIT
#include "balance/partition/cut_rules.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "balance/partition/region.hpp"

namespace balance {
namespace {

// Part counts that fit both sides of a cut; empty (low > high) if none fit.
struct Counts {
    std::int64_t low, high;
    bool empty() const { return low > high; }
};

// Part counts for the cuts of one node across one axis.
class PartCountLimits {
public:
    PartCountLimits(const CutNode& node, int axis, int width)
        : parts_(node.parts), extent_(node.box.extent(axis)), width_(width), across_(1) {
        for (int a = 0; a < 3; ++a)  // two dimensions have no width along z
            if (a != axis && (a < 2 || node.box.extent(2) > 1)) across_ *= node.box.extent(a) / width;
    }
    // 40..60 % of the parts on each side, if that is possible; free: any.
    Counts limits(bool free) const {
        if (free) return {1, parts_ - 1};
        return {std::max<std::int64_t>(1, std::min(parts_ / 2, (2 * parts_ + 4) / 5)),
                std::min(parts_ - 1, std::max(parts_ - parts_ / 2, 3 * parts_ / 5))};
    }
    // For a cut at one place.
    Counts at(int at, bool free) const {
        const Counts most = limits(free);
        return {std::max(most.low, parts_ - (extent_ - at) / width_ * across_),
                std::min(most.high, at / width_ * across_)};
    }
    // The lowest and the highest place of a cut: each side is at least `width` wide.
    int first() const { return width_; }
    int last() const { return extent_ - width_; }

private:
    std::int64_t parts_;
    int extent_, width_;
    std::int64_t across_;  // parts of least width that fit side by side across the axis
};

bool can_split(const CutNode& node, int axis, int width) {
    const PartCountLimits fit(node, axis, width);
    for (int at = fit.first(); at <= fit.last(); ++at)
        if (!fit.at(at, true).empty()) return true;
    return false;
}

}  // namespace

CutRules::Shares::Shares(std::span<const double> targets) {
    if (targets.empty()) return;
    before_.reserve(targets.size() + 1);
    before_.push_back(0);
    for (const double t : targets) before_.push_back(before_.back() + t);
}

std::int64_t CutRules::Shares::parts_within(const CutNode& node, double load, double total) const {
    if (before_.empty()) return static_cast<std::int64_t>(static_cast<double>(node.parts) * load / total);
    const auto begin = before_.begin() + node.first_leaf;
    const double wanted = *begin + of(node.first_leaf, node.parts) * load / total;
    return std::upper_bound(begin, begin + node.parts, wanted) - begin - 1;
}

CutRules::CutRules(const Box& region, std::int64_t parts, int width, std::span<const double> targets)
    : root_{region, parts, 0, 0}, width_(width), shares_(targets) {
    if (parts < 1 || parts > capacity(region, width))
        throw std::invalid_argument(
            "cannot split " + std::to_string(region.extent(0)) + " x " + std::to_string(region.extent(1)) +
            (region.extent(2) > 1 ? " x " + std::to_string(region.extent(2)) : "") + " cells into " +
            std::to_string(parts) + " parts at least " + std::to_string(width) + " cells wide");
}

int CutRules::axis_for(const CutNode& node, Split& split) const {
    if (split.axis >= 0 && can_split(node, split.axis, width_)) return split.axis;
    const std::array<int, 3> axes = axes_by_length(node.box);
    const auto found = std::find_if(axes.begin(), axes.end(), [&](int a) { return can_split(node, a, width_); });
    const int axis = found == axes.end() ? axes[1] : *found;
    if (axis != split.axis) split.left = 0;
    return split.axis = axis;
}

// Looks at the places of a node's cut, given the loads below them.
// wanted: keep this count of parts on the lower side, 0 for any.
// free: any count, else 40 to 60 % of the parts.
class CutRules::PlaceSearch {
public:
    PlaceSearch(const CutRules& rules, const CutNode& node, int axis, std::int64_t wanted, bool free, double total)
        : shares_(rules.shares_),
          node_(node),
          fit_(node, axis, rules.width_),
          wanted_(wanted),
          free_(free),
          total_(total) {}

    int first() const { return fit_.first(); }
    int last() const { return fit_.last(); }
    bool fits(int at) const {
        const Counts counts = fit_.at(at, free_ || wanted_ > 0);
        return wanted_ > 0 ? counts.low <= wanted_ && wanted_ <= counts.high : !counts.empty();
    }
    bool fits_somewhere() const {
        int at = first();
        while (at <= last() && !fits(at)) ++at;
        return at <= last();
    }
    // The best cut at one place; at < 0 if no count of parts fits.
    Place at(int at, double below) const {
        Place found;
        if (!fits(at)) return found;
        const auto consider = [&](std::int64_t left) {
            const double worst = std::max(below / shares_.of(node_.first_leaf, left),
                                          (total_ - below) / shares_.of(node_.first_leaf + left, node_.parts - left));
            if (worst < found.worst) found = {worst, at, left};
        };
        if (wanted_ > 0) {
            consider(wanted_);
            return found;
        }
        const Counts counts = fit_.at(at, free_);
        const std::int64_t ideal = shares_.parts_within(node_, below, total_);
        consider(std::clamp(ideal, counts.low, counts.high));
        consider(std::clamp(ideal + 1, counts.low, counts.high));
        return found;
    }
    // Bounds on the loads of both sides. If a side has more load, its cut is worse than `worst`, even with the largest
    // number of parts there. The bounds leave room for rounding.
    struct Bounds {
        double left, right;
    };
    Bounds bounds(double worst) const {
        const double guess = worst * (1 + 1e-12);
        const Counts most = wanted_ > 0 ? Counts{wanted_, wanted_} : fit_.limits(free_);
        return {guess * shares_.of(node_.first_leaf, most.high),
                guess * shares_.of(node_.first_leaf + most.low, node_.parts - most.low)};
    }

private:
    const Shares& shares_;
    const CutNode& node_;
    PartCountLimits fit_;
    std::int64_t wanted_;
    bool free_;
    double total_;
};

// Where a cut balances best.
CutRules::Place CutRules::best_place(const CutNode& node, int axis, const Lines& lines, std::int64_t wanted) {
    below_.clear();  // the load below each place that is known
    std::int64_t sum = lines.before;
    below_.push_back(static_cast<double>(sum));
    const bool once = node.box.extent(axis) > many_lines;
    for (const std::int64_t s : lines.loads)
        below_.push_back(once ? static_cast<double>(sum += s) : below_.back() + static_cast<double>(s));
    double total = once ? static_cast<double>(lines.total) : below_.back();
    if (lines.total == 0) {  // then all lines are known, and each counts as 1
        std::iota(below_.begin(), below_.end(), 0.0);
        total = below_.back();
    }
    const int known = lines.first + static_cast<int>(lines.loads.size());
    Place best;
    for (const bool free : {false, true}) {
        const PlaceSearch search(*this, node, axis, wanted, free, total);
        const int from = std::max(search.first(), lines.first), to = std::min(search.last(), known);
        if (from > to) break;
        const auto place_at = [&](auto at) {
            return search.at(lines.first + static_cast<int>(at - below_.begin()), *at);
        };
        // Half of the load is a first guess.
        const auto first = below_.begin() + (from - lines.first), end = below_.begin() + (to + 1 - lines.first);
        const auto half = std::min(std::lower_bound(first, end, total / 2), end - 1);
        const PlaceSearch::Bounds most = search.bounds(place_at(half).worst);
        const auto low = std::partition_point(first, end, [&](double below) { return total - below > most.right; }),
                   high = std::partition_point(low, end, [&](double below) { return !(below > most.left); });
        for (auto at = low; at != high; ++at)
            if (const Place p = place_at(at); p.worst < best.worst) best = p;
        if (best.at > 0) break;
    }
    return best;
}

IndexRange CutRules::window(const CutNode& node, const Split& split, std::span<const std::int64_t> bundles,
                            int each) const {
    const int extent = node.box.extent(split.axis);
    std::vector<double> below{0};  // of the places between bundles
    std::int64_t sum = 0;
    for (const std::int64_t b : bundles) below.push_back(static_cast<double>(sum += b));
    if (sum == 0) return {0, extent};
    const auto place = [&](std::size_t k) { return std::min(static_cast<int>(k) * each, extent); };
    // The searches have the order of cut() and best_place(). The first search that finds a place counts.
    const auto search = [&](std::int64_t wanted, bool free) {
        return PlaceSearch(*this, node, split.axis, wanted, free, below.back());
    };
    const std::int64_t wanted = kept_left(node, split);
    const PlaceSearch chosen = wanted > 0 && search(wanted, true).fits_somewhere() ? search(wanted, true)
                               : search(0, false).fits_somewhere()                 ? search(0, false)
                                                                                   : search(0, true);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < below.size(); ++k)
        if (place(k) >= chosen.first() && place(k) <= chosen.last())
            least = std::min(least, chosen.at(place(k), below[k]).worst);
    if (least == std::numeric_limits<double>::infinity()) return {0, extent};
    const PlaceSearch::Bounds most = chosen.bounds(least);
    std::size_t low = 0, high = below.size() - 1;
    while (low + 1 < high && below.back() - below[low + 1] > most.right) ++low;
    while (high - 1 > low && below[high - 1] > most.left) --high;
    return {place(low), place(high)};
}

std::array<CutNode, 2> CutRules::cut(const CutNode& node, Split& split, const Lines& lines) {
    const int axis = split.axis;
    Place place;
    if (const std::int64_t wanted = kept_left(node, split)) place = best_place(node, axis, lines, wanted);
    if (place.at < 0) place = best_place(node, axis, lines, 0);
    split.left = static_cast<std::int32_t>(place.left);
    const int lower = node.box.lower[axis], at = lower + place.at, upper = node.box.upper[axis];
    return {CutNode{slab(node.box, axis, lower, at), place.left, node.id + 1, node.first_leaf},
            CutNode{slab(node.box, axis, at, upper), node.parts - place.left, node.id + 2 * place.left,
                    node.first_leaf + place.left}};
}

void CutRules::cut_below(const CutNode& node, const SummedArea& load, std::span<Split> splits, std::span<Box> parts) {
    std::vector<std::int64_t> lines;
    std::vector<CutNode> open{node};
    while (!open.empty()) {
        const CutNode next = open.back();
        open.pop_back();
        if (next.parts == 1) {
            parts[next.first_leaf - node.first_leaf] = next.box;
            continue;
        }
        Split& split = splits[next.id - node.id];
        const int axis = axis_for(next, split);
        lines.assign(next.box.extent(axis), 0);
        load.add_lines(next.box, axis, lines);
        for (const CutNode& side : cut(next, split, Lines::whole(lines))) open.push_back(side);
    }
}

}  // namespace balance
