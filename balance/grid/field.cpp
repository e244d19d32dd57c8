// SPDX-License-Identifier: MIT
#include "balance/grid/field.hpp"

namespace balance {

FieldPlan::FieldPlan(const Team& team, const Homes& homes, const BoxList& list)
    : team_(team), cells_(list.cells(team.rank())) {
    // The runs of one member's boxes that lie in another's home, in the order of the list.
    const auto runs = [&](int owner, const Box& home) {
        std::vector<Run> found;
        std::int64_t offset = 0;
        for (std::int64_t b = list.first[owner]; b < list.first[owner + 1]; ++b) {
            const Box& box = list.boxes[b];
            const Box common = intersection(box, home);
            for (int x = common.lower[0]; !common.empty() && x < common.upper[0]; ++x)
                found.push_back(
                    {place_in(home, x, common.lower[1]), offset + place_in(box, x, common.lower[1]), common.extent(1)});
            offset += box.cells();
        }
        return found;
    };
    const int self = team.rank();
    const Box mine = homes.of(self);
    local_ = runs(self, mine);
    for (int other = 0; other < team.size(); ++other) {
        if (other == self) continue;
        std::vector<Run> to_their_boxes = runs(other, mine), from_their_home = runs(self, homes.of(other));
        if (to_their_boxes.empty() && from_their_home.empty()) continue;
        home_to_boxes_.push_back({other, to_their_boxes, from_their_home});
        boxes_to_home_.push_back({other, std::move(from_their_home), std::move(to_their_boxes)});
    }
}

SummedArea::SummedArea(const Box& home, std::span<const std::int64_t> field)
    : home_(home), rows_(home.extent(1) + 1), sums_(static_cast<std::size_t>(home.extent(0) + 1) * rows_, 0) {
    for (int x = 0; x < home.extent(0); ++x) {
        const std::int64_t* before = &sums_[static_cast<std::size_t>(x) * rows_];
        std::int64_t* here = &sums_[static_cast<std::size_t>(x + 1) * rows_];
        const std::int64_t* value = field.data() + static_cast<std::size_t>(x) * (rows_ - 1);
        std::int64_t column = 0;
        for (int y = 0; y + 1 < rows_; ++y) here[y + 1] = before[y + 1] + (column += value[y]);
    }
}

std::int64_t SummedArea::of(const Box& box) const {
    const Box b = shifted(intersection(box, home_), {-home_.lower[0], -home_.lower[1], 0});
    if (b.empty()) return 0;
    return at(b.upper[0], b.upper[1]) - at(b.lower[0], b.upper[1]) - at(b.upper[0], b.lower[1]) +
           at(b.lower[0], b.lower[1]);
}

FieldPlan plan_by_columns(const Team& team, const Grid& grid) {
    std::vector<Box> boxes;
    std::vector<std::int64_t> first{0};
    for (int m = 0; m < team.size(); ++m) {
        const Range columns = block(grid.cells[0], m, team.size());
        boxes.push_back(grid.box());
        boxes.back().lower[0] = static_cast<int>(columns.begin);
        boxes.back().upper[0] = static_cast<int>(columns.end);
        first.push_back(m + 1);
    }
    return {team, {grid, team.size()}, {boxes, std::move(first)}};
}

}  // namespace balance
