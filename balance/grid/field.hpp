// SPDX-License-Identifier: MIT
// Fields with one value a cell, spread over a team. The home of a field is a slab of whole columns on each member, the
// same for the whole run: what a load model remembers of a cell need not move when the cell changes its owner. For a
// while, values are brought into the order of a list of boxes (the cells of one process, or of the patches along a
// curve) and back.
// 2D: the cells of a slab or box are ordered by column x, then y.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/team.hpp"
#include "balance/transfer.hpp"

namespace balance {

/// The grid's columns, dealt evenly.
struct Slabs {
    Grid grid;
    int members = 1;

    Box of(int member) const {
        const Range columns = block(grid.cells[0], member, members);
        Box b = grid.box();
        b.lower[0] = static_cast<int>(columns.begin);
        b.upper[0] = static_cast<int>(columns.end);
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
inline std::int64_t place_in(const Box& box, int x, int y) {
    return std::int64_t{x - box.lower[0]} * box.extent(1) + (y - box.lower[1]);
}

/// Where the values of a list of boxes lie in the home slabs: the plan by which fields go there and back.
class FieldPlan {
public:
    /// The same list on all members.
    FieldPlan(const Team& team, const Slabs& slabs, const BoxList& list);

    /// From the home slabs into the order of the list: this member's values of its boxes. Collective.
    template <class T>
    std::vector<T> to_boxes(std::span<const T> field) const {
        std::vector<T> values(cells_);
        for (const Run& r : local_) std::memcpy(&values[r.in_boxes], &field[r.in_slab], r.cells * sizeof(T));
        if (team_.size() == 1) return values;
        Transfer<Run, T> transfer(team_.channel());
        transfer.lay_out(std::span(slab_to_boxes_), cells_of, cells_of);
        transfer.start(SerialLoop{},
                       [&](const Run& r, T* to) { std::memcpy(to, &field[r.in_slab], r.cells * sizeof(T)); });
        transfer.finish(SerialLoop{}, [&](const Run& r, const T* from) {
            std::memcpy(&values[r.in_boxes], from, r.cells * sizeof(T));
        });
        return values;
    }

    /// Back again. Cells in no box keep what `field` had. Collective.
    template <class T>
    void to_slab(std::span<const T> values, std::span<T> field) const {
        for (const Run& r : local_) std::memcpy(&field[r.in_slab], &values[r.in_boxes], r.cells * sizeof(T));
        if (team_.size() == 1) return;
        Transfer<Run, T> transfer(team_.channel());
        transfer.lay_out(std::span(boxes_to_slab_), cells_of, cells_of);
        transfer.start(SerialLoop{},
                       [&](const Run& r, T* to) { std::memcpy(to, &values[r.in_boxes], r.cells * sizeof(T)); });
        transfer.finish(SerialLoop{}, [&](const Run& r, const T* from) {
            std::memcpy(&field[r.in_slab], from, r.cells * sizeof(T));
        });
    }

private:
    /// Cells of one column: their places in the slab's values and in those of a member's boxes.
    struct Run {
        std::int64_t in_slab, in_boxes, cells;
    };
    static std::size_t cells_of(const Run& r) { return static_cast<std::size_t>(r.cells); }

    const Team& team_;
    std::int64_t cells_;
    std::vector<Run> local_;
    std::vector<Link<Run>> slab_to_boxes_, boxes_to_slab_;  // the same runs in both directions
};

/// Sums over boxes of a slab's field in constant time.
class SummedArea {
public:
    SummedArea(const Box& slab, std::span<const std::int64_t> field);
    /// Of the cells of `box` that lie in the slab.
    std::int64_t of(const Box& box) const;

private:
    std::int64_t at(int x, int y) const { return sums_[static_cast<std::size_t>(x) * rows_ + y]; }
    Box slab_;
    int rows_;
    std::vector<std::int64_t> sums_;
};

}  // namespace balance
