// SPDX-License-Identifier: MIT
#include "balance/grid/field.hpp"

#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "balance/grid/for_each.hpp"

namespace balance {
namespace {

// The boxes of other members that meet this one's home, by member. mine: this one's own boxes, which the others are
// told of.
std::map<int, std::vector<Box>> boxes_at_home(const Team& team, const Homes& homes, std::span<const Box> mine) {
    if (team.size() == 1) return {};
    std::map<int, std::vector<Box>> at_homes, here;
    for (const Box& b : mine)
        homes.for_each_in(b, [&](int m) {
            if (m != team.rank()) at_homes[m].push_back(b);
        });
    std::vector<Parcel<Box>> parcels;
    for (auto& [member, boxes] : at_homes) parcels.push_back({member, std::move(boxes)});
    for (Parcel<Box>& p : deliver(team, parcels)) here[p.member] = std::move(p.list);
    return here;
}

}  // namespace

std::vector<Box> EvenParts::of(int member) const {
    std::vector<Box> parts;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        if (holders[i].contains(member))
            parts.push_back(even_part(boxes[i], holders[i].size(), member - holders[i].begin));
    return parts;
}

std::vector<int> EvenParts::members_in(std::span<const Box> regions) const {
    std::set<int> found;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (const Box& region : regions)
            for_each_even_part_in(region, boxes[i], holders[i].size(),
                                  [&](std::int64_t part) { found.insert(static_cast<int>(holders[i].begin + part)); });
    return {found.begin(), found.end()};
}

FieldPlan::FieldPlan(const Team& team, const Homes& homes, const std::vector<Box>& mine)
    : FieldPlan([&] {
          const std::map<int, std::vector<Box>> others = boxes_at_home(team, homes, mine);
          std::vector<int> members;
          for (const auto& other : others) members.push_back(other.first);
          return FieldPlan(team, homes, members,
                           [&](int member) { return member == team.rank() ? mine : others.at(member); });
      }()) {}

// Homes of one box each.
FieldPlan::FieldPlan(const Team& team, const Homes& homes, std::span<const int> members,
                     const std::function<std::vector<Box>(int)>& boxes_of)
    : FieldPlan(
          team, homes.grid.box().cells(), [&](int member) { return std::vector<Box>{homes.of(member)}; },
          [&] {
              std::set<int> givers;
              for (const Box& b : boxes_of(team.rank())) homes.for_each_in(b, [&](int m) { givers.insert(m); });
              return std::vector<int>(givers.begin(), givers.end());
          }(),
          boxes_of, members) {}

FieldPlan::FieldPlan(const Team& team, const EvenParts& homes, const EvenParts& list)
    : FieldPlan(
          team, cells_in(homes.boxes), [&](int member) { return homes.of(member); },
          homes.members_in(list.of(team.rank())), [&](int member) { return list.of(member); },
          list.members_in(homes.of(team.rank()))) {}

FieldPlan::FieldPlan(const Team& team, std::int64_t cells, const BoxesOf& homes_of, std::span<const int> givers,
                     const BoxesOf& boxes_of, std::span<const int> takers)
    : team_(team), packs_(worth_packing(cells, team.size())) {
    const int self = team.rank();
    const std::vector<Box> homes = homes_of(self), boxes = boxes_of(self);
    cells_ = cells_in(boxes);
    local_ = runs_in(homes, boxes);
    std::vector<int> others;
    std::ranges::set_union(givers, takers, std::back_inserter(others));
    for (const int other : others) {
        if (other == self) continue;
        std::vector<Run> to_their_boxes, from_their_home;
        if (std::ranges::binary_search(givers, other)) from_their_home = runs_in(homes_of(other), boxes);
        if (std::ranges::binary_search(takers, other)) to_their_boxes = runs_in(homes, boxes_of(other));
        if (to_their_boxes.empty() && from_their_home.empty()) continue;
        home_to_boxes_.push_back({other, to_their_boxes, from_their_home});
        boxes_to_home_.push_back({other, std::move(from_their_home), std::move(to_their_boxes)});
    }
}

std::int64_t FieldPlan::cells_of_all(std::span<const Run> runs) {
    std::int64_t cells = 0;
    for (const Run& r : runs) cells += r.cells;
    return cells;
}

std::vector<FieldPlan::Run> FieldPlan::runs_in(std::span<const Box> homes, std::span<const Box> boxes) {
    std::vector<Run> found;
    std::int64_t in_home = 0;
    for (const Box& home : homes) {
        std::int64_t in_boxes = 0;
        for (const Box& b : boxes) {
            const Box common = intersection(b, home);
            for_each_run(common, {b, home}, [&](int x, int y, std::int64_t cells) {
                found.push_back({in_home + place_in(home, x, y, common.lower[2]),
                                 in_boxes + place_in(b, x, y, common.lower[2]), cells});
            });
            in_boxes += b.cells();
        }
        in_home += home.cells();
    }
    return found;
}

SummedArea::SummedArea(const Box& home, std::span<const std::int64_t> field)
    : home_(home),
      uniform_(field.empty()),
      rows_(home.extent(1) + 1),
      layers_(home.extent(2) == 1 ? 1 : home.extent(2) + 1) {
    if (uniform_) return;
    const std::size_t plane = static_cast<std::size_t>(rows_) * layers_;
    sums_.assign((home.extent(0) + 1) * plane, 0);
    const std::int64_t* value = field.data();
    for (int x = 0; x < home.extent(0); ++x) {
        const std::int64_t* before = &sums_[x * plane];
        std::int64_t* here = &sums_[(x + 1) * plane];
        for (int y = 0; y + 1 < rows_; ++y, here += layers_) {
            std::int64_t line = 0;
            for (int z = layers_ > 1; z < layers_; ++z) here[layers_ + z] = here[z] + (line += *value++);
        }
        here = &sums_[(x + 1) * plane];
        for (std::size_t i = 0; i < plane; ++i) here[i] += before[i];
    }
}

std::int64_t SummedArea::of(const Box& box) const {
    const Box b = shifted(intersection(box, home_), {-home_.lower[0], -home_.lower[1], -home_.lower[2]});
    if (b.empty()) return 0;
    if (uniform_) return b.cells();
    return layers_ == 1 ? below(b, 0) : below(b, b.upper[2]) - below(b, b.lower[2]);
}

void SummedArea::add_lines(const Box& box, int axis, std::span<std::int64_t> lines, int each) const {
    const Box here = intersection(box, home_);
    if (here.empty()) return;
    const Box b = shifted(here, {-home_.lower[0], -home_.lower[1], -home_.lower[2]});
    // Sums below a place, at the ends of the box's edges: two in two dimensions and four in three.
    const std::array<std::int64_t, 3> stride{std::int64_t{rows_} * layers_, layers_, 1};
    const int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    const bool space = layers_ > 1, alike = uniform_ || (axis == 2 && !space);
    const std::int64_t lower_u = b.lower[u] * stride[u], upper_u = b.upper[u] * stride[u],
                       lower_v = space ? b.lower[v] * stride[v] : 0, upper_v = space ? b.upper[v] * stride[v] : 0,
                       line = of(here) / here.extent(axis);  // where all are alike
    const auto below = [&](int place) {
        if (alike) return place * line;
        const std::int64_t* end = &sums_[place * stride[axis]];
        const std::int64_t sum = end[upper_u + upper_v] - end[lower_u + upper_v];
        return space ? sum - end[upper_u + lower_v] + end[lower_u + lower_v] : sum;
    };
    const int begin = box.lower[axis] - home_.lower[axis];
    std::int64_t last = below(b.lower[axis]);
    for (int k = (b.lower[axis] - begin) / each; begin + k * each < b.upper[axis]; ++k) {
        const std::int64_t next = below(std::min(b.upper[axis], begin + (k + 1) * each));
        lines[k] += next - std::exchange(last, next);
    }
}

std::vector<std::int64_t> whole_field(const Team& team, const Grid& grid, std::span<const std::int64_t> field) {
    const std::vector<std::int64_t> by_home = gather<std::int64_t>(team, field);
    std::vector<std::int64_t> all(by_home.size());
    const Homes homes{grid, team.size()};
    auto next = by_home.begin();
    for (int m = 0; m < team.size() && next != by_home.end(); ++m) {
        for_each_cell(homes.of(m), [&](int x, int y, int z) { all[place_in(grid.box(), x, y, z)] = *next++; });
    }
    return all;
}

FieldPlan plan_by_columns(const Team& team, const Grid& grid) {
    const IndexRange columns = block(grid.cells[0], team.rank(), team.size());
    const Box mine = slab(grid.box(), 0, static_cast<int>(columns.begin), static_cast<int>(columns.end));
    return {team, {grid, team.size()}, std::vector<Box>{mine}};
}

}  // namespace balance
