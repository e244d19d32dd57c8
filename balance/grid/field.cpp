// SPDX-License-Identifier: MIT
#include "balance/grid/field.hpp"

namespace balance {

FieldPlan::FieldPlan(const Team& team, const Slabs& slabs, const BoxList& list)
    : team_(team), cells_(list.cells(team.rank())) {
    // The runs of one member's boxes that lie in another's slab, in the order of the list.
    const auto runs = [&](int owner, const Box& slab) {
        std::vector<Run> found;
        std::int64_t offset = 0;
        for (std::int64_t b = list.first[owner]; b < list.first[owner + 1]; ++b) {
            const Box& box = list.boxes[b];
            const Box common = intersection(box, slab);
            for (int x = common.lower[0]; !common.empty() && x < common.upper[0]; ++x)
                found.push_back(
                    {place_in(slab, x, common.lower[1]), offset + place_in(box, x, common.lower[1]), common.extent(1)});
            offset += box.cells();
        }
        return found;
    };
    const int self = team.rank();
    const Box mine = slabs.of(self);
    local_ = runs(self, mine);
    for (int other = 0; other < team.size(); ++other) {
        if (other == self) continue;
        std::vector<Run> to_their_boxes = runs(other, mine), from_their_slab = runs(self, slabs.of(other));
        if (to_their_boxes.empty() && from_their_slab.empty()) continue;
        slab_to_boxes_.push_back({other, to_their_boxes, from_their_slab});
        boxes_to_slab_.push_back({other, std::move(from_their_slab), std::move(to_their_boxes)});
    }
}

SummedArea::SummedArea(const Box& slab, std::span<const std::int64_t> field)
    : slab_(slab), rows_(slab.extent(1) + 1), sums_(static_cast<std::size_t>(slab.extent(0) + 1) * rows_, 0) {
    for (int x = 0; x < slab.extent(0); ++x) {
        const std::int64_t* before = &sums_[static_cast<std::size_t>(x) * rows_];
        std::int64_t* here = &sums_[static_cast<std::size_t>(x + 1) * rows_];
        const std::int64_t* value = field.data() + static_cast<std::size_t>(x) * (rows_ - 1);
        std::int64_t column = 0;
        for (int y = 0; y + 1 < rows_; ++y) here[y + 1] = before[y + 1] + (column += value[y]);
    }
}

std::int64_t SummedArea::of(const Box& box) const {
    const int x0 = std::clamp(box.lower[0], slab_.lower[0], slab_.upper[0]) - slab_.lower[0];
    const int x1 = std::clamp(box.upper[0], slab_.lower[0], slab_.upper[0]) - slab_.lower[0];
    if (x0 == x1) return 0;
    return at(x1, box.upper[1]) - at(x0, box.upper[1]) - at(x1, box.lower[1]) + at(x0, box.lower[1]);
}

}  // namespace balance
