// SPDX-License-Identifier: MIT
#include "balance/partition/shared_cuts.hpp"

#include <numeric>
#include <span>
#include <utility>

namespace balance {
namespace {

// A node with its lines across the axis that is cut, or a stretch of them.
struct LineRun {
    CutNode node;
    Split split;
    IndexRange lines;          // of the node
    std::int64_t before, all;  // the loads in front of them, and of all lines; where these are many

    Box box() const {
        const int lower = node.box.lower[split.axis];
        return slab(node.box, split.axis, lower + static_cast<int>(lines.begin), lower + static_cast<int>(lines.end));
    }
};

// The loads of the lines of some stretches, one after the other, in bundles of `each`, and the sums of other numbers,
// which come along. Collective.
class LineSums {
public:
    LineSums(const Team& team, std::span<const SummedArea> here, std::span<const LineRun> stretches, int each,
             std::span<const std::int64_t> others = {}) {
        for (const LineRun& s : stretches) {
            first_.push_back(sums_.size());
            sums_.resize(sums_.size() + (s.lines.size() + each - 1) / each, 0);
            for (const SummedArea& area : here)
                area.add_lines(s.box(), s.split.axis, std::span(sums_).subspan(first_.back()), each);
        }
        first_.push_back(sums_.size());
        sums_.insert(sums_.end(), others.begin(), others.end());
        team.sum(sums_);
    }
    std::span<const std::int64_t> of(std::size_t stretch) const {
        return std::span(sums_).subspan(first_[stretch], first_[stretch + 1] - first_[stretch]);
    }
    std::span<const std::int64_t> of_others() const { return std::span(sums_).subspan(first_.back()); }

private:
    std::vector<std::int64_t> sums_;
    std::vector<std::size_t> first_;
};

void keep_windows(const Team& team, std::span<const SummedArea> here, std::vector<LineRun>& stretches,
                  const CutRules& rules) {
    std::vector<LineRun> large;
    for (const LineRun& s : stretches)
        if (s.lines.size() > many_lines) large.push_back(s);
    if (large.empty()) return;
    const LineSums bundles(team, here, large, bundle);
    std::size_t at = 0;
    for (LineRun& s : stretches) {
        if (s.lines.size() <= many_lines) continue;
        const std::span<const std::int64_t> sums = bundles.of(at++);
        s.lines = rules.window(s.node, s.split, sums, bundle);
        const auto window = sums.begin() + s.lines.begin / bundle;
        s.before = std::accumulate(sums.begin(), window, std::int64_t{0});
        s.all = std::accumulate(window, sums.end(), s.before);
    }
}

// Nodes that are to be cut now, with all their lines.
std::vector<LineRun> stretches_of(std::span<const CutNode> nodes, const TeamMemory& memory, const CutRules& rules) {
    std::vector<LineRun> stretches;
    for (const CutNode& node : nodes) {
        Split split = memory.of(node.id);
        const int axis = rules.axis_for(node, split);
        stretches.push_back({node, split, {0, node.box.extent(axis)}, 0, 0});
    }
    return stretches;
}

// The nodes that these become if they keep their counts of parts: what is remembered of them is asked for in time.
std::vector<std::int64_t> next_of(std::span<const LineRun> stretches) {
    std::vector<std::int64_t> ids;
    for (const LineRun& s : stretches) {
        ids.push_back(s.node.id + 1);
        if (const std::int64_t left = CutRules::kept_left(s.node, s.split)) ids.push_back(s.node.id + 2 * left);
    }
    return ids;
}

}  // namespace

std::vector<SummedArea> sums_of(const Work& work, int member) {
    std::vector<SummedArea> sums;
    std::size_t at = 0;
    for (const Box& b : work.cells.of(member)) {
        const auto cells = static_cast<std::size_t>(b.cells());
        sums.emplace_back(b, std::span(work.loads).subspan(at, cells));
        at += cells;
    }
    return sums;
}

std::vector<Made> cut_together(const Team& team, Work& work, std::int64_t limit, CutRules& rules) {
    const std::vector<SummedArea> here = sums_of(work, team.rank());
    std::vector<Made> made;
    while (true) {
        std::vector<CutNode> large, next;
        std::vector<std::int64_t> ids;
        for (const CutNode& node : work.nodes)
            if (node.box.cells() > limit) large.push_back(node), ids.push_back(node.id);
        if (large.empty()) return made;
        work.memory.recall(team, ids);
        std::vector<LineRun> stretches = stretches_of(large, work.memory, rules);
        keep_windows(team, here, stretches, rules);
        if (work.memory.anything()) ids = next_of(stretches);
        else ids.clear();
        const LineSums sums(team, here, stretches, 1, work.memory.ask(ids));
        work.memory.learn(ids, sums.of_others());
        std::size_t at = 0;
        for (const CutNode& node : work.nodes) {
            if (node.box.cells() <= limit) {
                next.push_back(node);
                continue;
            }
            LineRun& s = stretches[at];
            const std::span<const std::int64_t> loads = sums.of(at++);
            const bool many = node.box.extent(s.split.axis) > many_lines;
            const Lines known =
                many ? Lines{loads, static_cast<int>(s.lines.begin), s.before, s.all} : Lines::whole(loads);
            for (const CutNode& side : rules.cut(node, s.split, known))
                (side.parts > 1 ? next : work.leaves).push_back(side);
            made.push_back({node.id, s.split});
        }
        work.nodes = std::move(next);
    }
}

}  // namespace balance
