// SPDX-License-Identifier: MIT
// Finds the boxes that meet a given box. Buckets of cells list the boxes in them. There are about equal numbers of
// buckets and boxes.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "balance/grid/for_each.hpp"
#include "balance/grid/grid.hpp"

namespace balance {

class BoxIndex {
public:
    /// The boxes lie within `bounds`.
    BoxIndex(const Box& bounds, std::vector<Box> boxes) : bounds_(bounds), boxes_(std::move(boxes)) {
        const int axes = bounds.extent(2) > 1 ? 3 : 2;
        const double a_box = static_cast<double>(bounds.cells()) / std::max(1.0, static_cast<double>(boxes_.size()));
        const double side = std::pow(a_box, 1.0 / axes);
        for (int a = 0; a < 3; ++a) {
            side_[a] = std::clamp(static_cast<int>(side), 1, std::max(1, bounds.extent(a)));
            buckets_.upper[a] = (bounds.extent(a) + side_[a] - 1) / side_[a];
        }
        begin_.assign(buckets_.cells() + 1, 0);
        for (const Box& b : boxes_) for_each_bucket(b, [&](std::int64_t k, auto) { ++begin_[k + 1]; });
        for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
        listed_.resize(begin_.back());
        std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
        for (std::size_t i = 0; i < boxes_.size(); ++i)
            for_each_bucket(boxes_[i],
                            [&](std::int64_t k, auto) { listed_[next[k]++] = static_cast<std::int32_t>(i); });
    }

    const std::vector<Box>& boxes() const { return boxes_; }

    /// Calls visit(number of a box, cells in common) once for each box that meets `box`, in any order.
    template <class Visit>
    void for_each_in(const Box& box, Visit visit) const {
        for_each_bucket(box, [&](std::int64_t k, const std::array<int, 3>& bucket) {
            for (std::int64_t i = begin_[k]; i < begin_[k + 1]; ++i) {
                const Box common = intersection(boxes_[listed_[i]], box);
                if (!common.empty() && bucket_of(common.lower) == bucket)  // the first of those that list both
                    visit(listed_[i], common);
            }
        });
    }

private:
    std::array<int, 3> bucket_of(const std::array<int, 3>& cell) const {
        return {(cell[0] - bounds_.lower[0]) / side_[0], (cell[1] - bounds_.lower[1]) / side_[1],
                (cell[2] - bounds_.lower[2]) / side_[2]};
    }
    template <class Visit>
    void for_each_bucket(const Box& any, Visit visit) const {
        const Box box = intersection(any, bounds_);
        if (box.empty()) return;
        const auto end = bucket_of({box.upper[0] - 1, box.upper[1] - 1, box.upper[2] - 1});
        for_each_cell({bucket_of(box.lower), {end[0] + 1, end[1] + 1, end[2] + 1}}, [&](int i, int j, int k) {
            visit((std::int64_t{i} * buckets_.upper[1] + j) * buckets_.upper[2] + k, std::array{i, j, k});
        });
    }

    Box bounds_;
    std::vector<Box> boxes_;
    std::array<int, 3> side_{1, 1, 1};
    Box buckets_;
    std::vector<std::int64_t> begin_;
    std::vector<std::int32_t> listed_;
};

}  // namespace balance
