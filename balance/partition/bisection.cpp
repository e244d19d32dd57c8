// SPDX-License-Identifier: MIT
// Level by level instead of node by node: one reduction per level sums the lines of all boxes that are cut at that
// level, so that the number of collective calls grows with the logarithm of the parts.
#include "balance/partition/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace balance {
namespace {

struct Node {
    Box box;
    std::int64_t parts, id, first_leaf;  // id in preorder
};

struct Cut {
    int at = -1;
    std::int64_t left = 0;
};

Box side_of(const Box& box, int axis, int lower, int upper) {
    Box b = box;
    b.lower[axis] = box.lower[axis] + lower;
    b.upper[axis] = box.lower[axis] + upper;
    return b;
}

// Part counts that fit both sides of a cut, 40..60 % if that is possible; empty (low > high) if none fit.
struct Counts {
    std::int64_t low, high;
};
Counts counts_for(const Node& node, int axis, int at, int width, bool free) {
    const std::int64_t p = node.parts;
    const std::int64_t fit_left = capacity(side_of(node.box, axis, 0, at), width),
                       fit_right = capacity(side_of(node.box, axis, at, node.box.extent(axis)), width);
    const Counts all{std::max<std::int64_t>(1, p - fit_right), std::min(p - 1, fit_left)};
    if (free) return all;
    return {std::max({all.low, std::min(p / 2, (2 * p + 4) / 5)}), std::min(all.high, std::max(p - p / 2, 3 * p / 5))};
}

bool can_split(const Node& node, int axis, int width) {
    for (int at = width; at + width <= node.box.extent(axis); ++at)
        if (const Counts c = counts_for(node, axis, at, width, true); c.low <= c.high) return true;
    return false;
}

// Sums of targets over consecutive parts; without targets, their number.
class Shares {
public:
    explicit Shares(std::span<const double> targets) {
        if (targets.empty()) return;
        before_.push_back(0);
        for (const double t : targets) before_.push_back(before_.back() + t);
    }
    double of(std::int64_t first, std::int64_t parts) const {
        return before_.empty() ? static_cast<double>(parts) : before_[first + parts] - before_[first];
    }
    // The largest number of a node's parts whose targets are no more than load / total of all of its.
    std::int64_t parts_within(const Node& node, double load, double total) const {
        if (before_.empty()) return static_cast<std::int64_t>(static_cast<double>(node.parts) * load / total);
        const auto begin = before_.begin() + node.first_leaf;
        const double wanted = *begin + of(node.first_leaf, node.parts) * load / total;
        return std::upper_bound(begin, begin + node.parts, wanted) - begin - 1;
    }

private:
    std::vector<double> before_;
};

// Best cut by the sums over lines of cells; wanted: keep this count on the left, 0 for any.
Cut best_cut(const Node& node, int axis, int width, std::span<const std::int64_t> lines, std::int64_t wanted,
             const Shares& shares) {
    double total = 0;
    for (std::int64_t s : lines) total += static_cast<double>(s);
    const bool empty = total == 0;
    if (empty) total = static_cast<double>(lines.size());
    Cut best;
    for (const bool free : {false, true}) {
        double lowest = std::numeric_limits<double>::infinity(), below = 0;
        for (int at = 1; at < static_cast<int>(lines.size()); ++at) {
            below += empty ? 1.0 : static_cast<double>(lines[at - 1]);
            if (at < width || at + width > static_cast<int>(lines.size())) continue;
            const Counts fit = counts_for(node, axis, at, width, free || wanted > 0);
            if (fit.low > fit.high) continue;
            const auto consider = [&](std::int64_t left) {
                if (left < fit.low || left > fit.high) return;
                const double worst = std::max(below / shares.of(node.first_leaf, left),
                                              (total - below) / shares.of(node.first_leaf + left, node.parts - left));
                if (worst < lowest) lowest = worst, best = {at, left};
            };
            if (wanted > 0) {
                consider(wanted);
                continue;
            }
            const std::int64_t ideal = shares.parts_within(node, below, total);
            consider(std::clamp(ideal, fit.low, fit.high));
            consider(std::clamp(ideal + 1, fit.low, fit.high));
        }
        if (best.at > 0) break;
    }
    return best;
}

}  // namespace

std::int64_t capacity(const Box& box, int width) {
    return std::int64_t{box.extent(0) / width} * (box.extent(1) / width) * box.extent(2);
}

std::vector<Box> bisect(const Team& team, const Box& region, const SummedArea& load, std::int64_t parts, int width,
                        std::vector<Split>& memory, std::span<const double> targets) {
    if (parts < 1 || parts > capacity(region, width))
        throw std::invalid_argument("cannot split " + std::to_string(region.extent(0)) + " x " +
                                    std::to_string(region.extent(1)) + " cells into " + std::to_string(parts) +
                                    " parts at least " + std::to_string(width) + " cells wide");
    const Shares shares(targets);
    if (static_cast<std::int64_t>(memory.size()) != 2 * parts - 1) memory.assign(2 * parts - 1, Split{});
    std::vector<Box> leaves(parts);
    std::vector<Node> level{{region, parts, 0, 0}};
    std::vector<std::int64_t> lines;
    while (!level.empty()) {
        std::vector<Node> next;
        std::vector<int> axes(level.size());
        lines.clear();
        for (std::size_t i = 0; i < level.size(); ++i) {
            const Node& node = level[i];
            if (node.parts == 1) continue;
            Split& last = memory[node.id];
            const int longer = node.box.extent(1) > node.box.extent(0) ? 1 : 0;
            int axis = last.axis;
            if (axis < 0 || !can_split(node, axis, width)) axis = can_split(node, longer, width) ? longer : 1 - longer;
            if (axis != last.axis) last = {axis, 0};
            axes[i] = axis;
            if (!load.meets(node.box)) {  // as most are, where there are many members
                lines.resize(lines.size() + node.box.extent(axis), 0);
                continue;
            }
            for (int k = 0; k < node.box.extent(axis); ++k) lines.push_back(load.of(side_of(node.box, axis, k, k + 1)));
        }
        team.sum(lines);
        const std::int64_t* here = lines.data();
        for (std::size_t i = 0; i < level.size(); ++i) {
            const Node& node = level[i];
            if (node.parts == 1) {
                leaves[node.first_leaf] = node.box;
                continue;
            }
            const int axis = axes[i], extent = node.box.extent(axis);
            const std::span<const std::int64_t> sums(here, extent);
            here += extent;
            Split& last = memory[node.id];
            Cut cut;
            if (last.left > 0 && last.left < node.parts) cut = best_cut(node, axis, width, sums, last.left, shares);
            if (cut.at < 0) cut = best_cut(node, axis, width, sums, 0, shares);
            last = {axis, static_cast<std::int32_t>(cut.left)};
            next.push_back({side_of(node.box, axis, 0, cut.at), cut.left, node.id + 1, node.first_leaf});
            next.push_back({side_of(node.box, axis, cut.at, extent), node.parts - cut.left, node.id + 2 * cut.left,
                            node.first_leaf + cut.left});
        }
        level = std::move(next);
    }
    return leaves;
}

}  // namespace balance
