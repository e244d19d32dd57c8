// SPDX-License-Identifier: MIT
// A team cuts boxes together, level by level, with a sum over its members for each, or two where there are many lines
// of cells, until none has more cells than the share of a block of members. Then each block gets some boxes that follow
// each other, with their loads, and goes on in the same way, until a member cuts its boxes alone. So a member holds
// about its share of the cells at any time, and learns of the cuts of other blocks only at the end.
#include "balance/partition/bisection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "balance/partition/cut_tree.hpp"
#include "balance/partition/hosts.hpp"

namespace balance {
namespace {

// So many members, or blocks of them, share the boxes of a team. With more, longer sums would come before; with fewer,
// more moves of the loads.
constexpr int most_blocks = 16;

int blocks_of(int members) {
    if (members <= most_blocks) return members;  // of one member each
    const int needed = (members + most_blocks - 1) / most_blocks;
    return std::min(most_blocks, static_cast<int>(std::bit_ceil(static_cast<unsigned>(needed))));
}

// Boxes that are still to be cut, in preorder, and the loads of their cells on the members of a team.
struct Work {
    Range ids;  // of all nodes at which the team knows, or will know, the cuts
    std::vector<CutNode> nodes;
    EvenParts cells;                  // where the loads of their cells are
    std::vector<std::int64_t> loads;  // of this member's cells
};

std::int64_t cells_of(std::span<const CutNode> nodes) {
    std::int64_t cells = 0;
    for (const CutNode& n : nodes) cells += n.box.cells();
    return cells;
}

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

// A node with its lines across the axis that is cut, or a stretch of them.
struct Stretch {
    CutNode node;
    int axis;
    Range lines;               // of the node
    std::int64_t before, all;  // the loads in front of them, and of all lines; where these are many

    Box box() const {
        Box b = node.box;
        b.lower[axis] = node.box.lower[axis] + static_cast<int>(lines.begin);
        b.upper[axis] = node.box.lower[axis] + static_cast<int>(lines.end);
        return b;
    }
};

// The loads of the lines of some stretches, one after the other, in bundles of `each`. Collective.
class LineSums {
public:
    LineSums(const Team& team, std::span<const SummedArea> here, std::span<const Stretch> stretches, int each) {
        for (const Stretch& s : stretches) {
            first_.push_back(sums_.size());
            sums_.resize(sums_.size() + (s.lines.size() + each - 1) / each, 0);
            for (const SummedArea& area : here)
                area.add_lines(s.box(), s.axis, std::span(sums_).subspan(first_.back()), each);
        }
        first_.push_back(sums_.size());
        team.sum(sums_);
    }
    std::span<const std::int64_t> of(std::size_t stretch) const {
        return std::span(sums_).subspan(first_[stretch], first_[stretch + 1] - first_[stretch]);
    }

private:
    std::vector<std::int64_t> sums_;
    std::vector<std::size_t> first_;
};

// Of nodes with many lines a sum over bundles of them comes first: then only those among which a cut can be the best
// have to be summed one by one.
constexpr int bundle = 32;

void keep_windows(const Team& team, std::span<const SummedArea> here, std::vector<Stretch>& stretches, CutTree& tree) {
    std::vector<Stretch> large;
    for (const Stretch& s : stretches)
        if (s.lines.size() > many_lines) large.push_back(s);
    if (large.empty()) return;
    const LineSums bundles(team, here, large, bundle);
    std::size_t at = 0;
    for (Stretch& s : stretches) {
        if (s.lines.size() <= many_lines) continue;
        const std::span<const std::int64_t> sums = bundles.of(at++);
        s.lines = tree.window(s.node, sums, bundle);
        const auto window = sums.begin() + s.lines.begin / bundle;
        s.before = std::accumulate(sums.begin(), window, std::int64_t{0});
        s.all = std::accumulate(window, sums.end(), s.before);
    }
}

// Cuts nodes that have more cells than `limit`, level by level, and leaves out those of one part.
void cut_together(const Team& team, Work& work, std::int64_t limit, CutTree& tree) {
    const std::vector<SummedArea> here = sums_of(work, team.rank());
    const auto large = [&](const CutNode& n) { return n.box.cells() > limit; };
    while (std::any_of(work.nodes.begin(), work.nodes.end(), large)) {
        std::vector<Stretch> stretches;
        for (const CutNode& node : work.nodes) {
            if (!large(node)) continue;
            const int axis = tree.axis_for(node), extent = node.box.extent(axis);
            stretches.push_back({node, axis, {0, extent}, 0, 0});
        }
        keep_windows(team, here, stretches, tree);
        const LineSums sums(team, here, stretches, 1);
        std::vector<CutNode> next;
        std::size_t at = 0;
        for (const CutNode& node : work.nodes) {
            if (!large(node)) {
                next.push_back(node);
                continue;
            }
            const Stretch& s = stretches[at];
            const std::span<const std::int64_t> loads = sums.of(at++);
            const bool many = node.box.extent(s.axis) > many_lines;
            const Lines known =
                many ? Lines{loads, static_cast<int>(s.lines.begin), s.before, s.all} : Lines::whole(loads);
            for (const CutNode& side : tree.cut(node, known))
                if (side.parts > 1) next.push_back(side);
        }
        work.nodes = std::move(next);
    }
}

// The nodes of each block of a team: [first[b], first[b + 1]) of them, by their cells.
std::vector<std::int64_t> deal(std::span<const CutNode> nodes, const Hosts& blocks) {
    std::vector<std::int64_t> first(blocks.members() + 1, 0);
    const std::int64_t all = cells_of(nodes);
    std::int64_t before = 0;
    for (const CutNode& node : nodes) {
        const std::int64_t cells = node.box.cells();
        // The member in whose share of all cells the middle of the node lies.
        ++first[blocks.member_of((2 * before + cells) * blocks.processes() / (2 * all)) + 1];
        before += cells;
    }
    for (std::size_t b = 1; b < first.size(); ++b) first[b] += first[b - 1];
    return first;
}

// Spreads the cells of some nodes evenly over members. A node whose share begins or ends within a member's has a part
// there, too.
void spread(std::span<const CutNode> nodes, Range members, EvenParts& cells) {
    const std::int64_t all = cells_of(nodes);
    std::int64_t before = 0;
    for (const CutNode& node : nodes) {
        const std::int64_t after = before + node.box.cells(), begin = before * members.size() / all,
                           end = (after * members.size() + all - 1) / all;
        cells.boxes.push_back(node.box);
        cells.holders.push_back({members.begin + begin, members.begin + std::min(end, begin + node.box.cells())});
        before = after;
    }
}

// Cuts all there is to cut. made: gets the cuts at the nodes that are this member's to tell, so that those of all
// members, one after the other, are all of work.ids in preorder. Collective.
void cut_apart(const Team& team, Work work, CutTree& tree, std::vector<NodeCut>& made) {
    const int blocks = blocks_of(team.size());
    if (team.size() > 1) cut_together(team, work, cells_of(work.nodes) / blocks, tree);
    if (team.size() == 1) {
        const std::vector<SummedArea> here = sums_of(work, 0);
        for (std::size_t n = 0; n < work.nodes.size(); ++n) tree.cut_below(work.nodes[n], here[n]);
        return tree.add_cuts(work.ids, made);
    }
    const Hosts members(team.size(), blocks);
    const std::vector<std::int64_t> first = deal(work.nodes, members);
    EvenParts next;
    for (int b = 0; b < blocks; ++b)
        spread(std::span(work.nodes).subspan(first[b], first[b + 1] - first[b]), members.processes_of(b), next);
    const int mine = members.member_of(team.rank());
    // A block tells the cuts from its first node to that of the next block; the first one also those before.
    const auto begin_of = [&](int b) {
        return b == 0 ? work.ids.begin : first[b] < std::ssize(work.nodes) ? work.nodes[first[b]].id : work.ids.end;
    };
    Work part{{begin_of(mine), begin_of(mine + 1)},
              {},
              {},
              FieldPlan(team, work.cells, next).to_boxes(std::span<const std::int64_t>(work.loads))};
    for (std::int64_t n = first[mine]; n < first[mine + 1]; ++n) {
        const std::int64_t before = members.processes_of(mine).begin;
        part.nodes.push_back(work.nodes[n]);
        part.cells.boxes.push_back(next.boxes[n]);
        part.cells.holders.push_back({next.holders[n].begin - before, next.holders[n].end - before});
    }
    if (blocks == team.size()) cut_apart(SerialTeam(), std::move(part), tree, made);
    else cut_apart(*team.blocks(blocks).inside, std::move(part), tree, made);
}

}  // namespace

std::int64_t capacity(const Box& box, int width) {
    const int deep = box.extent(2) == 1 ? 1 : box.extent(2) / width;  // two dimensions have no width along z
    return std::int64_t{box.extent(0) / width} * (box.extent(1) / width) * deep;
}

std::vector<Box> bisect(const Box& region, const SummedArea& load, std::int64_t parts, int width,
                        std::vector<Split>& memory, std::span<const double> targets) {
    CutTree tree(region, parts, width, memory, targets);
    tree.cut_below(tree.root(), load);
    std::vector<NodeCut> made;
    tree.add_cuts(tree.root().ids(), made);
    std::vector<Box> boxes = tree.parts(made);
    memory = tree.memory();
    return boxes;
}

std::vector<Box> bisect(const Team& team, const Grid& grid, std::span<const std::int64_t> load, std::int64_t parts,
                        int width, std::vector<Split>& memory, std::span<const double> targets) {
    if (team.size() == 1) return bisect(grid.box(), {grid.box(), load}, parts, width, memory, targets);
    CutTree tree(grid.box(), parts, width, memory, targets);
    const Homes homes{grid, team.size()};
    Work all{tree.root().ids(), {}, {{grid.box()}, {{0, homes.blocks()}}}, {load.begin(), load.end()}};
    if (parts > 1) all.nodes.push_back(tree.root());
    std::vector<NodeCut> mine;
    cut_apart(team, std::move(all), tree, mine);
    std::vector<Box> boxes = tree.parts(all_gather<NodeCut>(team, mine));
    memory = tree.memory();
    return boxes;
}

CutTogether cut_together_of(double cells, int dimensions, int members) {
    constexpr double longer = 1.3;  // than an edge of a square or cube of as many cells
    const int blocks = blocks_of(members);
    CutTogether all;
    if (blocks < members) all = cut_together_of(cells / blocks, dimensions, members / blocks);
    double lines = 0;
    for (int nodes = 1; nodes < blocks; nodes *= 2) {
        const double here = longer * nodes * std::pow(cells / nodes, 1.0 / dimensions);
        // A fifth of the load lies where a cut may be (Fit), and often more of the lines.
        const bool windows = here > static_cast<double>(nodes) * many_lines;
        lines += windows ? here / bundle + 0.3 * here : here;
        all.sums += windows ? 2 : 1;
    }
    all.lines += static_cast<std::int64_t>(lines);
    return all;
}

}  // namespace balance
