// SPDX-License-Identifier: MIT
// Fields with one value a cell, spread over a team. Their home is a slab of whole columns for each member, fixed for the whole
// run, so that what a model remembers need not move when cells change their owner. For a while values are brought into the
// order of a list of boxes (the cells of one process, or of patches along a curve) and back.
// 2D: the cells of a slab or box are ordered by column x, then y.
#pragma once
#include <cstring>
#include <span>
#include <vector>

#include "balance/decomposition.hpp"
#include "balance/team.hpp"

namespace balance {

/// The grid's columns, dealt evenly.
struct Slabs {
    Grid grid;
    int members = 1;

    Box of(int member) const {
        Box b = grid.box();
        b.lower[0] = static_cast<int>(std::int64_t{grid.cells[0]} * member / members);
        b.upper[0] = static_cast<int>(std::int64_t{grid.cells[0]} * (member + 1) / members);
        return b;
    }
};

/// Boxes in some order; member r works on [first[r], first[r + 1]).
struct BoxList {
    std::span<const Box> boxes;
    std::vector<std::int64_t> first;

    std::int64_t cells(int member) const {
        std::int64_t n = 0;
        for (std::int64_t b = first[member]; b < first[member + 1]; ++b) n += boxes[b].cells();
        return n;
    }
};

/// Place of a cell among a box's cells.
inline std::int64_t place_in(const Box& box, int x, int y) { return std::int64_t{x - box.lower[0]} * box.extent(1) + (y - box.lower[1]); }

/// Calls copy(column of `slab`'s cells, column of the box's cells, cells of the column) for the cells of member's boxes that lie
/// in `slab`, in the order of the list. Places are those in the slab and in all of the member's boxes.
template <class Copy>
void for_each_run(const BoxList& list, int member, const Box& slab, Copy copy) {
    std::int64_t offset = 0;
    for (std::int64_t b = list.first[member]; b < list.first[member + 1]; ++b) {
        const Box& box = list.boxes[b];
        const Box common = intersection(box, slab);
        for (int x = common.lower[0]; x < common.upper[0]; ++x)
            if (common.extent(1) > 0) copy(place_in(slab, x, common.lower[1]), offset + place_in(box, x, common.lower[1]), common.extent(1));
        offset += box.cells();
    }
}

/// From the home slabs into the order of the list: this member's values of its boxes. Collective.
template <class T>
std::vector<T> to_boxes(const Team& team, const Slabs& slabs, const BoxList& list, std::span<const T> field) {
    const Box mine = slabs.of(team.rank());
    std::vector<std::vector<std::byte>> out(team.size());
    std::vector<T> values(list.cells(team.rank()));
    for (int r = 0; r < team.size(); ++r)
        for_each_run(list, r, mine, [&](std::int64_t from, std::int64_t to, std::int64_t n) {
            if (r == team.rank()) {
                std::memcpy(&values[to], &field[from], n * sizeof(T));
            } else {
                const auto bytes = std::as_bytes(field.subspan(from, n));
                out[r].insert(out[r].end(), bytes.begin(), bytes.end());
            }
        });
    if (team.size() == 1) return values;
    const std::vector<std::byte> in = team.all_to_all(out);
    const std::byte* next = in.data();
    for (int r = 0; r < team.size(); ++r)
        if (r != team.rank())
            for_each_run(list, team.rank(), slabs.of(r), [&](std::int64_t, std::int64_t to, std::int64_t n) {
                std::memcpy(&values[to], next, n * sizeof(T));
                next += n * sizeof(T);
            });
    return values;
}

/// Back again. Cells in no box keep what `field` had. Collective.
template <class T>
void to_slab(const Team& team, const Slabs& slabs, const BoxList& list, std::span<const T> values, std::span<T> field) {
    const Box mine = slabs.of(team.rank());
    std::vector<std::vector<std::byte>> out(team.size());
    for (int r = 0; r < team.size(); ++r)
        for_each_run(list, team.rank(), slabs.of(r), [&](std::int64_t to, std::int64_t from, std::int64_t n) {
            if (r == team.rank()) {
                std::memcpy(&field[to], &values[from], n * sizeof(T));
            } else {
                const auto bytes = std::as_bytes(values.subspan(from, n));
                out[r].insert(out[r].end(), bytes.begin(), bytes.end());
            }
        });
    if (team.size() == 1) return;
    const std::vector<std::byte> in = team.all_to_all(out);
    const std::byte* next = in.data();
    for (int r = 0; r < team.size(); ++r)
        if (r != team.rank())
            for_each_run(list, r, mine, [&](std::int64_t to, std::int64_t, std::int64_t n) {
                std::memcpy(&field[to], next, n * sizeof(T));
                next += n * sizeof(T);
            });
}

/// Sums over boxes of a slab's field in constant time.
class SummedArea {
public:
    SummedArea(const Box& slab, std::span<const std::int64_t> field) : slab_(slab), rows_(slab.extent(1) + 1), sums_(static_cast<std::size_t>(slab.extent(0) + 1) * rows_, 0) {
        for (int x = 0; x < slab.extent(0); ++x) {
            const std::int64_t* before = &sums_[static_cast<std::size_t>(x) * rows_];
            std::int64_t* here = &sums_[static_cast<std::size_t>(x + 1) * rows_];
            const std::int64_t* value = field.data() + static_cast<std::size_t>(x) * (rows_ - 1);
            std::int64_t column = 0;
            for (int y = 0; y + 1 < rows_; ++y) here[y + 1] = before[y + 1] + (column += value[y]);
        }
    }
    /// Of the cells of `box` that lie in the slab.
    std::int64_t of(const Box& box) const {
        const int x0 = std::clamp(box.lower[0], slab_.lower[0], slab_.upper[0]) - slab_.lower[0], x1 = std::clamp(box.upper[0], slab_.lower[0], slab_.upper[0]) - slab_.lower[0];
        if (x0 == x1) return 0;
        return at(x1, box.upper[1]) - at(x0, box.upper[1]) - at(x1, box.lower[1]) + at(x0, box.lower[1]);
    }

private:
    std::int64_t at(int x, int y) const { return sums_[static_cast<std::size_t>(x) * rows_ + y]; }
    Box slab_;
    int rows_;
    std::vector<std::int64_t> sums_;
};

}  // namespace balance
