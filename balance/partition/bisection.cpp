// SPDX-License-Identifier: MIT
// The tree of cuts is made level by level. A team sums the lines of all boxes of a level by one reduction; where there
// are some boxes for its members to share, each goes on alone, and tells the others only where it has cut.
#include "balance/partition/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "balance/partition/region.hpp"

namespace balance {
namespace {

struct Node {
    Box box;
    std::int64_t parts, id, first_leaf;                 // id in preorder
    std::int64_t ids() const { return 2 * parts - 1; }  // of the node and all below it
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

// Where a node was cut, as members tell each other.
struct NodeCut {
    std::int32_t axis = -1, left = 0, at = 0;  // at: cells below the cut; 0: not cut
};

// The tree of one bisection.
class Tree {
public:
    Tree(const Box& region, std::int64_t parts, int width, const std::vector<Split>& memory,
         std::span<const double> targets)
        : root_{region, parts, 0, 0}, width_(width), shares_(targets), cuts_(root_.ids()) {
        if (parts < 1 || parts > capacity(region, width))
            throw std::invalid_argument(
                "cannot split " + std::to_string(region.extent(0)) + " x " + std::to_string(region.extent(1)) +
                (region.extent(2) > 1 ? " x " + std::to_string(region.extent(2)) : "") + " cells into " +
                std::to_string(parts) + " parts at least " + std::to_string(width) + " cells wide");
        if (memory.size() != cuts_.size()) return;
        for (std::size_t i = 0; i < cuts_.size(); ++i) cuts_[i] = {memory[i].axis, memory[i].left, 0};
    }

    const Node& root() const { return root_; }

    // Cuts all nodes of a level that have more than one part. sum: adds up what the members that cut together see.
    template <class Sum>
    std::vector<Node> next_level(std::span<const Node> level, const SummedArea& load, Sum sum) {
        std::vector<std::int64_t> lines;
        for (const Node& node : level) {
            const int axis = cuts_[node.id].axis = choose_axis(node);
            for (int k = 0; k < node.box.extent(axis); ++k) lines.push_back(load.of(side_of(node.box, axis, k, k + 1)));
        }
        sum(std::span(lines));
        std::vector<Node> next;
        const std::int64_t* here = lines.data();
        for (const Node& node : level) {
            NodeCut& c = cuts_[node.id];
            const std::span<const std::int64_t> sums(here, node.box.extent(c.axis));
            here += sums.size();
            Cut cut;
            if (c.left > 0 && c.left < node.parts) cut = best_cut(node, c.axis, width_, sums, c.left, shares_);
            if (cut.at < 0) cut = best_cut(node, c.axis, width_, sums, 0, shares_);
            c.left = static_cast<std::int32_t>(cut.left);
            c.at = cut.at;
            for (const Node& side : sides_of(node))
                if (side.parts > 1) next.push_back(side);
        }
        return next;
    }

    // Everything below a node.
    void cut_alone(const Node& node, const SummedArea& load) {
        for (std::vector<Node> level{node}; !level.empty();)
            level = next_level(level, load, [](std::span<std::int64_t>) {});
    }

    // Takes the cuts at and below a node away, in preorder.
    void take_cuts(const Node& node, std::vector<NodeCut>& made) {
        for (std::int64_t id = node.id; id < node.id + node.ids(); ++id)
            if (cuts_[id].at > 0) made.push_back(std::exchange(cuts_[id], {}));
    }

    // The parts. made: the cuts of all nodes that have none here, in preorder.
    std::vector<Box> finish(std::span<const NodeCut> made) {
        std::vector<Box> leaves;
        leaves.reserve(root_.parts);
        std::vector<std::pair<Box, std::int64_t>> stack{{root_.box, root_.parts}};  // nodes: boxes and parts
        auto next = made.begin();
        for (NodeCut& c : cuts_) {
            const auto [box, parts] = stack.back();
            stack.pop_back();
            if (parts == 1) {
                leaves.push_back(box);
                continue;
            }
            if (c.at == 0) c = *next++;
            stack.emplace_back(side_of(box, c.axis, c.at, box.extent(c.axis)), parts - c.left);
            stack.emplace_back(side_of(box, c.axis, 0, c.at), c.left);
        }
        return leaves;
    }
    std::vector<Split> memory() const {
        std::vector<Split> splits;
        splits.reserve(cuts_.size());
        for (const NodeCut& c : cuts_) splits.push_back({c.axis, c.left});
        return splits;
    }

private:
    int choose_axis(const Node& node) {
        NodeCut& last = cuts_[node.id];
        if (last.axis >= 0 && can_split(node, last.axis, width_)) return last.axis;
        const std::array<int, 3> axes = axes_by_length(node.box);
        const auto found = std::find_if(axes.begin(), axes.end(), [&](int a) { return can_split(node, a, width_); });
        const int axis = found == axes.end() ? axes[1] : *found;
        if (axis != last.axis) last.left = 0;
        return axis;
    }
    std::array<Node, 2> sides_of(const Node& node) const {
        const NodeCut& c = cuts_[node.id];
        return {Node{side_of(node.box, c.axis, 0, c.at), c.left, node.id + 1, node.first_leaf},
                Node{side_of(node.box, c.axis, c.at, node.box.extent(c.axis)), node.parts - c.left,
                     node.id + 2 * c.left, node.first_leaf + c.left}};
    }

    Node root_;
    int width_;
    Shares shares_;
    std::vector<NodeCut> cuts_;  // by id
};

// Members share the boxes where there are so many. With fewer, each would have more to do alone; with more, more sums
// over the team would come before.
constexpr std::size_t boxes_to_share = 32;

// The cuts at and below `nodes`, each found by one member, on all members, in preorder. Collective.
std::vector<NodeCut> cut_apart(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                               std::span<const Node> nodes, Tree& tree) {
    std::vector<Box> boxes;
    for (const Node& node : nodes) boxes.push_back(node.box);
    BoxList list{boxes, {}};
    const auto count = static_cast<std::int64_t>(nodes.size());
    // Fewer boxes than members: each box goes to one member, and these are spread over the team. Else each member gets
    // some boxes that follow each other.
    for (int m = 0; m <= team.size(); ++m) list.first.push_back(block(count, m, team.size()).begin);
    const std::vector<std::int64_t> loads = FieldPlan(team, {grid, team.size()}, list).to_boxes(load);
    std::vector<NodeCut> mine;
    std::size_t at = 0;
    for (std::int64_t n = list.first[team.rank()]; n < list.first[team.rank() + 1]; ++n) {
        const std::size_t cells = static_cast<std::size_t>(boxes[n].cells());
        tree.cut_alone(nodes[n], SummedArea(boxes[n], std::span(loads).subspan(at, cells)));
        tree.take_cuts(nodes[n], mine);
        at += cells;
    }
    return all_gather<NodeCut>(team, mine);
}

}  // namespace

std::int64_t capacity(const Box& box, int width) {
    const int deep = box.extent(2) == 1 ? 1 : box.extent(2) / width;  // two dimensions have no width along z
    return std::int64_t{box.extent(0) / width} * (box.extent(1) / width) * deep;
}

std::vector<Box> bisect(const Box& region, const SummedArea& load, std::int64_t parts, int width,
                        std::vector<Split>& memory, std::span<const double> targets) {
    Tree tree(region, parts, width, memory, targets);
    if (parts > 1) tree.cut_alone(tree.root(), load);
    memory = tree.memory();
    return tree.finish({});
}

std::vector<Box> bisect(const Team& team, const Grid& grid, std::span<const std::int64_t> load, std::int64_t parts,
                        int width, std::vector<Split>& memory, std::span<const double> targets) {
    const SummedArea here(Homes{grid, team.size()}.of(team.rank()), load);
    if (team.size() == 1) return bisect(grid.box(), here, parts, width, memory, targets);
    Tree tree(grid.box(), parts, width, memory, targets);
    std::vector<Node> level;
    if (parts > 1) level.push_back(tree.root());
    while (!level.empty() && level.size() < std::min<std::size_t>(team.size(), boxes_to_share))
        level = tree.next_level(level, here, [&](std::span<std::int64_t> lines) { team.sum(lines); });
    std::vector<NodeCut> below;
    if (!level.empty()) below = cut_apart(team, grid, load, level, tree);
    const std::vector<Box> leaves = tree.finish(below);
    memory = tree.memory();
    return leaves;
}

}  // namespace balance
