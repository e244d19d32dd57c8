// SPDX-License-Identifier: MIT
#include "balance/partition/cut_tree.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "balance/partition/region.hpp"

namespace balance {
namespace {

Box side_of(const Box& box, int axis, int lower, int upper) {
    Box b = box;
    b.lower[axis] = box.lower[axis] + lower;
    b.upper[axis] = box.lower[axis] + upper;
    return b;
}

// Part counts that fit both sides of a cut; empty (low > high) if none fit.
struct Counts {
    std::int64_t low, high;
    bool empty() const { return low > high; }
};

// Part counts for the cuts of one node across one axis.
class Fit {
public:
    Fit(const CutNode& node, int axis, int width)
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
    // Sides are at least so wide.
    int first() const { return width_; }
    int last() const { return extent_ - width_; }

private:
    std::int64_t parts_;
    int extent_, width_;
    std::int64_t across_;  // parts of the least width beside each other across the axis
};

bool can_split(const CutNode& node, int axis, int width) {
    const Fit fit(node, axis, width);
    for (int at = fit.first(); at <= fit.last(); ++at)
        if (!fit.at(at, true).empty()) return true;
    return false;
}

}  // namespace

CutTree::Shares::Shares(std::span<const double> targets) {
    if (targets.empty()) return;
    before_.push_back(0);
    for (const double t : targets) before_.push_back(before_.back() + t);
}

std::int64_t CutTree::Shares::parts_within(const CutNode& node, double load, double total) const {
    if (before_.empty()) return static_cast<std::int64_t>(static_cast<double>(node.parts) * load / total);
    const auto begin = before_.begin() + node.first_leaf;
    const double wanted = *begin + of(node.first_leaf, node.parts) * load / total;
    return std::upper_bound(begin, begin + node.parts, wanted) - begin - 1;
}

CutTree::CutTree(const Box& region, std::int64_t parts, int width, std::span<const Split> memory,
                 std::span<const double> targets)
    : root_{region, parts, 0, 0}, width_(width), shares_(targets), cuts_(root_.ids().size()) {
    if (parts < 1 || parts > capacity(region, width))
        throw std::invalid_argument(
            "cannot split " + std::to_string(region.extent(0)) + " x " + std::to_string(region.extent(1)) +
            (region.extent(2) > 1 ? " x " + std::to_string(region.extent(2)) : "") + " cells into " +
            std::to_string(parts) + " parts at least " + std::to_string(width) + " cells wide");
    if (memory.size() != cuts_.size()) return;
    for (std::size_t i = 0; i < cuts_.size(); ++i) cuts_[i] = {memory[i].axis, memory[i].left, 0};
}

int CutTree::axis_for(const CutNode& node) {
    NodeCut& last = cuts_[node.id];
    if (last.axis >= 0 && can_split(node, last.axis, width_)) return last.axis;
    const std::array<int, 3> axes = axes_by_length(node.box);
    const auto found = std::find_if(axes.begin(), axes.end(), [&](int a) { return can_split(node, a, width_); });
    const int axis = found == axes.end() ? axes[1] : *found;
    if (axis != last.axis) last.left = 0;
    return last.axis = axis;
}

// Where a cut balances best. wanted: keep this count on the left, 0 for any.
CutTree::Place CutTree::best_place(const CutNode& node, int axis, std::span<const std::int64_t> lines,
                                   std::int64_t wanted) {
    const Fit fit(node, axis, width_);
    below_.assign(1, 0);  // the load of the lines before each
    for (const std::int64_t s : lines) below_.push_back(below_.back() + static_cast<double>(s));
    if (below_.back() == 0) std::iota(below_.begin(), below_.end(), 0.0);
    const double total = below_.back();
    Place best;
    for (const bool free : {false, true}) {
        const auto place_at = [&](int at) {
            const Counts counts = fit.at(at, free || wanted > 0);
            Place found;
            const auto consider = [&](std::int64_t left) {
                if (left < counts.low || left > counts.high) return;
                const double worst =
                    std::max(below_[at] / shares_.of(node.first_leaf, left),
                             (total - below_[at]) / shares_.of(node.first_leaf + left, node.parts - left));
                if (worst < found.worst) found = {worst, at, left};
            };
            if (counts.empty() || wanted > 0) {
                consider(wanted);
                return found;
            }
            const std::int64_t ideal = shares_.parts_within(node, below_[at], total);
            consider(std::clamp(ideal, counts.low, counts.high));
            consider(std::clamp(ideal + 1, counts.low, counts.high));
            return found;
        };
        // Half of the load is a first guess. Where one side has more load than its largest number of parts could have
        // to be as good, no place is better. The bounds leave room for rounding.
        const auto first = below_.begin() + fit.first(), end = below_.begin() + std::max(fit.first(), fit.last() + 1);
        if (first == end) break;
        const auto half = std::min(std::lower_bound(first, end, total / 2), end - 1);
        const double guess = place_at(static_cast<int>(half - below_.begin())).worst * (1 + 1e-12);
        const Counts most = wanted > 0 ? Counts{wanted, wanted} : fit.limits(free);
        const double left = guess * shares_.of(node.first_leaf, most.high),
                     right = guess * shares_.of(node.first_leaf + most.low, node.parts - most.low);
        const auto low = std::partition_point(first, end, [&](double below) { return total - below > right; }),
                   high = std::partition_point(low, end, [&](double below) { return !(below > left); });
        for (auto at = low; at != high; ++at)
            if (const Place p = place_at(static_cast<int>(at - below_.begin())); p.worst < best.worst) best = p;
        if (best.at > 0) break;
    }
    return best;
}

std::array<CutNode, 2> CutTree::cut(const CutNode& node, std::span<const std::int64_t> lines) {
    NodeCut& c = cuts_[node.id];
    Place place;
    if (c.left > 0 && c.left < node.parts) place = best_place(node, c.axis, lines, c.left);
    if (place.at < 0) place = best_place(node, c.axis, lines, 0);
    c.left = static_cast<std::int32_t>(place.left);
    c.at = place.at;
    return {CutNode{side_of(node.box, c.axis, 0, c.at), c.left, node.id + 1, node.first_leaf},
            CutNode{side_of(node.box, c.axis, c.at, node.box.extent(c.axis)), node.parts - c.left, node.id + 2 * c.left,
                    node.first_leaf + c.left}};
}

void CutTree::cut_below(const CutNode& node, const SummedArea& load) {
    std::vector<std::int64_t> lines;
    std::vector<CutNode> open{node};
    while (!open.empty()) {
        const CutNode next = open.back();
        open.pop_back();
        if (next.parts == 1) continue;
        const int axis = axis_for(next);
        lines.assign(next.box.extent(axis), 0);
        load.add_lines(next.box, axis, lines);
        for (const CutNode& side : cut(next, lines)) open.push_back(side);
    }
}

void CutTree::add_cuts(Range ids, std::vector<NodeCut>& made) const {
    for (std::int64_t id = ids.begin; id < ids.end; ++id)
        if (cuts_[id].at > 0) made.push_back(cuts_[id]);
}

std::vector<Box> CutTree::parts(std::span<const NodeCut> made) {
    std::vector<Box> leaves;
    leaves.reserve(root_.parts);
    std::vector<std::pair<Box, std::int64_t>> later;  // upper sides, with their parts
    std::pair<Box, std::int64_t> node{root_.box, root_.parts};
    auto next = made.begin();
    for (NodeCut& c : cuts_) {
        const auto [box, parts] = node;
        if (parts == 1) {
            leaves.push_back(box);
            if (later.empty()) break;
            node = later.back();
            later.pop_back();
            continue;
        }
        c = *next++;
        later.emplace_back(side_of(box, c.axis, c.at, box.extent(c.axis)), parts - c.left);
        node = {side_of(box, c.axis, 0, c.at), c.left};
    }
    return leaves;
}

std::vector<Split> CutTree::memory() const {
    std::vector<Split> splits;
    splits.reserve(cuts_.size());
    for (const NodeCut& c : cuts_) splits.push_back({c.axis, c.left});
    return splits;
}

}  // namespace balance
