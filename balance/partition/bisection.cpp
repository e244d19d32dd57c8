// SPDX-License-Identifier: MIT
// A team cuts boxes together, level by level. Each level takes one sum over its members, or two with many lines of
// cells. This ends when no box has more cells than the share of a block of members. Then each block gets some
// consecutive boxes with their loads, and goes on in the same way. At last a member cuts its boxes alone. So a member
// holds about its share of the cells at any time, and never learns of the cuts of other blocks. The memory of a node
// goes down with it to the members that may cut it, and comes back the same way after the cut.
#include "balance/partition/bisection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "balance/partition/hosts.hpp"
#include "balance/partition/shared_cuts.hpp"

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

std::int64_t cells_of(std::span<const CutNode> nodes) {
    std::int64_t cells = 0;
    for (const CutNode& n : nodes) cells += n.box.cells();
    return cells;
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
void spread(std::span<const CutNode> nodes, IndexRange members, EvenParts& cells) {
    const std::int64_t all = cells_of(nodes);
    std::int64_t before = 0;
    for (const CutNode& node : nodes) {
        const std::int64_t after = before + node.box.cells(), begin = before * members.size() / all,
                           end = (after * members.size() + all - 1) / all;
        cells.add(node.box, {members.begin + begin, members.begin + end});
        before = after;
    }
}

Leaves cut_alone(Work& work, CutRules& rules) {
    Leaves all{work.parts.begin, std::vector<Box>(work.parts.size())};
    for (const CutNode& leaf : work.leaves) all.boxes[leaf.first_leaf - all.first] = leaf.box;
    const std::vector<SummedArea> here = sums_of(work, 0);
    for (std::size_t n = 0; n < work.nodes.size(); ++n) {
        const CutNode& node = work.nodes[n];
        rules.cut_below(node, here[n], std::span(work.memory.splits()).subspan(node.id - work.ids.begin),
                        std::span(all.boxes).subspan(node.first_leaf - all.first));
    }
    return all;
}

// Cuts all there is to cut. Collective.
Leaves cut_apart(const Team& team, Work& work, CutRules& rules) {
    if (team.size() == 1) return cut_alone(work, rules);
    const int blocks = blocks_of(team.size());
    const std::vector<Made> made = cut_together(team, work, cells_of(work.nodes) / blocks, rules);
    const Hosts members(team.size(), blocks);
    const std::vector<std::int64_t> first = deal(work.nodes, members);
    // A block tells the nodes from its first one to that of the next block; the first one also those before.
    const auto begin_of = [&](int b) {
        if (b == 0) return std::pair{work.ids.begin, work.parts.begin};
        if (first[b] == std::ssize(work.nodes)) return std::pair{work.ids.end, work.parts.end};
        return std::pair{work.nodes[first[b]].id, work.nodes[first[b]].first_leaf};
    };
    EvenParts cells, ids, split_ids;
    ids.add(line_of(work.ids), {0, team.size()});
    for (int b = 0; b < blocks; ++b) {
        spread(std::span(work.nodes).subspan(first[b], first[b + 1] - first[b]), members.processes_of(b), cells);
        split_ids.add(line_of({begin_of(b).first, begin_of(b + 1).first}), members.processes_of(b));
    }
    const FieldPlan memory(team, ids, split_ids);
    std::vector<Split> splits(memory.cells());
    if (work.memory.anything()) splits = memory.to_boxes(std::span<const Split>(work.memory.splits()));
    std::vector<std::int64_t> loads =
        FieldPlan(team, work.cells, cells).to_boxes(std::span<const std::int64_t>(work.loads));
    std::vector<std::int64_t>().swap(work.loads);

    const int mine = members.member_of(team.rank());
    const auto [id, part] = begin_of(mine);
    const auto [end_id, end_part] = begin_of(mine + 1);
    const SerialTeam alone;
    const Team& block = blocks == team.size() ? static_cast<const Team&>(alone) : *team.blocks(blocks).inside;
    Work inside{{id, end_id},
                {part, end_part},
                {work.nodes.begin() + first[mine], work.nodes.begin() + first[mine + 1]},
                {},
                {},
                std::move(loads),
                {block, {id, end_id}, std::move(splits), work.memory.anything(), work.memory.known()}};
    for (const CutNode& leaf : work.leaves)
        if (leaf.first_leaf >= part && leaf.first_leaf < end_part) inside.leaves.push_back(leaf);
    for (std::int64_t n = first[mine]; n < first[mine + 1]; ++n) {
        const std::int64_t before = members.processes_of(mine).begin;
        inside.cells.add(cells.boxes[n], {cells.holders[n].begin - before, cells.holders[n].end - before});
    }
    Leaves leaves = cut_apart(block, inside, rules);
    memory.to_home(std::span<const Split>(inside.memory.splits()), std::span(work.memory.splits()));
    for (const Made& m : made) work.memory.keep(m.id, m.split);
    return leaves;
}

}  // namespace

std::int64_t capacity(const Box& box, int width) {
    const int deep = box.extent(2) == 1 ? 1 : box.extent(2) / width;  // two dimensions have no width along z
    return std::int64_t{box.extent(0) / width} * (box.extent(1) / width) * deep;
}

std::vector<Box> bisect(const Box& region, const SummedArea& load, std::int64_t parts, int width,
                        std::vector<Split>& memory, std::span<const double> targets) {
    CutRules rules(region, parts, width, targets);
    const auto nodes = static_cast<std::size_t>(rules.root().ids().size());
    if (memory.size() != nodes) memory.assign(nodes, {});
    std::vector<Box> boxes(parts);
    rules.cut_below(rules.root(), load, memory, boxes);
    return boxes;
}

Leaves bisect(const Team& team, const Grid& grid, std::span<const std::int64_t> load, std::int64_t parts, int width,
              Scattered<Split>& memory, std::span<const double> targets) {
    CutRules rules(grid.box(), parts, width, targets);
    const CutNode& root = rules.root();
    const bool remembers = memory.size() == root.ids().size();
    if (!remembers) memory = {team, root.ids().size(), Split{}};
    if (team.size() == 1) return {0, bisect(grid.box(), {grid.box(), load}, parts, width, memory.mine(), targets)};
    Work all{root.ids(),
             {0, parts},
             {},
             {},
             {},
             {load.begin(), load.end()},
             {team, root.ids(), std::move(memory.mine()), remembers}};
    all.cells.add(grid.box(), {0, team.size()});
    (parts > 1 ? all.nodes : all.leaves).push_back(root);
    Leaves leaves = cut_apart(team, all, rules);
    memory.mine() = std::move(all.memory.splits());
    return leaves;
}

void prepare_bisections(const Team& team) {
    const int blocks = blocks_of(team.size());
    if (blocks < team.size()) prepare_bisections(*team.blocks(blocks).inside);
}

CutTogether cut_together_of(double cells, int dimensions, int members) {
    constexpr double longer = 1.3;  // than an edge of a square or cube of as many cells
    const int blocks = blocks_of(members);
    CutTogether all;
    if (blocks < members) all = cut_together_of(cells / blocks, dimensions, members / blocks);
    double lines = 0;
    for (int nodes = 1; nodes < blocks; nodes *= 2) {
        const double here = longer * nodes * std::pow(cells / nodes, 1.0 / dimensions);
        // A fifth of the load lies where a cut may be (PartCountLimits), and often more of the lines.
        const bool windows = here > static_cast<double>(nodes) * many_lines;
        lines += windows ? here / bundle + 0.3 * here : here;
        all.sums += windows ? 2 : 1;
    }
    all.lines += static_cast<std::int64_t>(lines);
    all.moves += members > 1;
    return all;
}

}  // namespace balance
