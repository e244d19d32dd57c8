// SPDX-License-Identifier: MIT
// Fields with one value a cell, spread over a team. The home of a field is one block of the grid on each member, the
// same for the whole run. So a load model's state of a cell need not move when the cell changes its owner. For a while,
// values are brought into the order of a list of boxes (the cells of one process, or of the patches along a curve) and
// back. Blocks are compact, so a member's home meets the boxes of few others, however many there are. The cells of a
// block or box are ordered by x, then y, then z.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "balance/delivery.hpp"
#include "balance/grid/grid.hpp"
#include "balance/grid/packed.hpp"
#include "balance/team.hpp"
#include "balance/transfer.hpp"

namespace balance {

/// The homes of all members. Takes no memory for each of them.
struct Homes {
    Grid grid;
    int members = 1;

    /// Empty for members beyond the number of cells.
    Box of(int member) const {
        return member < blocks() ? even_part(grid.box(), blocks(), member) : Box{{0, 0, 0}, {0, 0, 1}};
    }
    /// Calls visit(member) for each member at whose home cells of `box` are, in ascending order.
    template <class Visit>
    void for_each_in(const Box& box, Visit visit) const {
        for_each_even_part_in(box, grid.box(), blocks(), [&](std::int64_t m) { visit(static_cast<int>(m)); });
    }
    /// Members whose home is not empty: the first ones.
    std::int64_t blocks() const { return std::min<std::int64_t>(members, grid.box().cells()); }
};

/// Boxes that are each spread over members which follow each other: of boxes[i], holders[i].begin has the first of
/// holders[i].size() even parts, the next member the second one. No more holders than a box has cells.
struct EvenParts {
    std::vector<Box> boxes;
    std::vector<IndexRange> holders;

    /// Another box for these members, but no more of them than it has cells; none for an empty one.
    void add(const Box& box, const IndexRange& members) {
        if (box.empty()) return;
        boxes.push_back(box);
        holders.push_back({members.begin, std::min(members.end, members.begin + box.cells())});
    }
    /// A member's parts, in the order of the boxes.
    std::vector<Box> of(int member) const;
    /// The members of whose parts some meet one of `regions`, in ascending order.
    std::vector<int> members_in(std::span<const Box> regions) const;
};

/// Place of a cell among a box's cells. In 2D z is 0.
inline std::int64_t place_in(const Box& box, int x, int y, int z = 0) {
    return (std::int64_t{x - box.lower[0]} * box.extent(1) + (y - box.lower[1])) * box.extent(2) + (z - box.lower[2]);
}

/// Calls visit(x, y, cells) for each run of cells of `part` that follow each other in every box of `fields`: from
/// (x, y, part.lower[2]) on. Lines along z that are whole follow each other along y, and such columns along x.
template <class Visit>
void for_each_run(const Box& part, std::initializer_list<Box> fields, Visit visit) {
    if (part.empty()) return;
    const auto whole = [&](int axis) {
        return std::ranges::all_of(fields, [&](const Box& f) { return part.extent(axis) == f.extent(axis); });
    };
    const bool lines = whole(2), columns = lines && whole(1);
    const Box starts{part.lower,
                     {columns ? part.lower[0] + 1 : part.upper[0], lines ? part.lower[1] + 1 : part.upper[1], 0}};
    const std::int64_t cells = part.cells() / (std::int64_t{starts.extent(0)} * starts.extent(1));
    for (int x = part.lower[0]; x < starts.upper[0]; ++x)
        for (int y = part.lower[1]; y < starts.upper[1]; ++y) visit(x, y, cells);
}

/// The sum of a field's values in `part`, which lies in its box.
template <class Values>
std::int64_t sum_in(const Box& field, const Box& part, const Values& values) {
    std::int64_t sum = 0;
    for_each_run(part, {field}, [&](int x, int y, std::int64_t cells) {
        const auto* first = &values[place_in(field, x, y, part.lower[2])];
        sum = std::accumulate(first, first + cells, sum);
    });
    return sum;
}

/// True if values of cells are packed on their way between members. cells: of all members together. Members with few
/// cells send short messages. Packing then saves less time than the exchange of message sizes takes.
constexpr bool worth_packing(std::int64_t cells, int members) { return cells / members > 8192; }

/// Where the values of a list of boxes lie in the homes: the plan by which fields go there and back.
class FieldPlan {
public:
    /// mine: this member's boxes, of which it tells those members at whose homes their cells are. Collective.
    FieldPlan(const Team& team, const Homes& homes, const std::vector<Box>& mine);
    /// For members that know the boxes of others, so nothing is exchanged.
    /// boxes_of(m): the boxes of member m, in their order. Called for this member and for those of `members`.
    /// members: at least all members with boxes that meet this member's home, in ascending order.
    FieldPlan(const Team& team, const Homes& homes, std::span<const int> members,
              const std::function<std::vector<Box>(int)>& boxes_of);
    /// From boxes anywhere, which take the place of the homes, into the order of others. Both the same on all members;
    /// cells in none of `homes` keep the value 0.
    FieldPlan(const Team& team, const EvenParts& homes, const EvenParts& list);

    /// Values of some boxes' cells, box by box, in the order of other boxes that have the same cells.
    template <class T>
    static std::vector<T> reordered(std::span<const T> values, std::span<const Box> from, std::span<const Box> to) {
        std::vector<T> in_order(values.size());
        for (const Run& r : runs_in(from, to))
            std::memcpy(&in_order[r.in_boxes], &values[r.in_home], r.cells * sizeof(T));
        return in_order;
    }

    /// From the homes into the order of the list: this member's values of its boxes. Collective.
    template <class T>
    std::vector<T> to_boxes(std::span<const T> field) const {
        std::vector<T> values(cells_);
        carry(home_to_boxes_, {&Run::in_home, &Run::in_boxes}, field, std::span(values));
        return values;
    }

    /// Back again. Cells in no box keep what `field` had. Returns how many numbers were packed and unpacked here one by
    /// one (numbers_in()). Collective.
    template <class T>
    std::int64_t to_home(std::span<const T> values, std::span<T> field) const {
        return carry(boxes_to_home_, {&Run::in_boxes, &Run::in_home}, values, field);
    }

    std::int64_t cells() const { return cells_; }  ///< in this member's boxes
    /// How many values this member packs and unpacks, at most, each time that a field goes one way.
    std::int64_t packed_values() const {
        std::int64_t cells = 0;
        for (const PeerMoves<Run>& link : home_to_boxes_)
            cells += cells_of_all(link.outgoing) + cells_of_all(link.incoming);
        return packs_ ? cells : 0;
    }

private:
    /// Cells that are consecutive in both orders: their places in the home's values and in the values of a member's
    /// boxes.
    struct Run {
        std::int64_t in_home, in_boxes, cells;
    };
    using BoxesOf = std::function<std::vector<Box>(int)>;
    /// takers: as `members` above; givers: the members at whose homes cells of this member's boxes are. Both ascending.
    /// cells: in the homes of all members.
    FieldPlan(const Team& team, std::int64_t cells, const BoxesOf& homes_of, std::span<const int> givers,
              const BoxesOf& boxes_of, std::span<const int> takers);
    /// The runs for the boxes of one member at the homes of another, as few as possible.
    static std::vector<Run> runs_in(std::span<const Box> homes, std::span<const Box> boxes);
    static std::size_t cells_of(const Run& r) { return static_cast<std::size_t>(r.cells); }
    static std::int64_t cells_of_all(std::span<const Run> runs);

    struct Way {
        std::int64_t Run::*from;
        std::int64_t Run::*to;
    };
    template <class T>
    std::int64_t carry(const std::vector<PeerMoves<Run>>& links, Way way, std::span<const T> from,
                       std::span<T> to) const {
        const auto copy = [](const Run& r, const T* source, T* target) {
            std::memcpy(target, source, r.cells * sizeof(T));
        };
        for (const Run& r : local_) copy(r, &from[r.*way.from], &to[r.*way.to]);
        if (team_.size() == 1) return 0;
        if (packs_) return carry_packed(links, way, from, to);
        Transfer<Run, T> transfer(team_.channel());
        transfer.lay_out(std::span(links), cells_of, cells_of);
        transfer.start(SerialLoop{}, [&](const Run& r, T* target) { copy(r, &from[r.*way.from], target); });
        transfer.finish(SerialLoop{}, [&](const Run& r, const T* source) { copy(r, source, &to[r.*way.to]); });
        return 0;
    }
    template <class T>
    std::int64_t carry_packed(const std::vector<PeerMoves<Run>>& links, Way way, std::span<const T> from,
                              std::span<T> to) const {
        std::vector<Parcel<std::byte>> parcels;
        std::vector<int> senders;
        std::vector<T> values;
        std::int64_t numbers = 0;
        for (const PeerMoves<Run>& link : links) {
            if (!link.incoming.empty()) senders.push_back(link.member);
            if (link.outgoing.empty()) continue;
            values.clear();
            for (const Run& r : link.outgoing)
                values.insert(values.end(), &from[r.*way.from], &from[r.*way.from] + r.cells);
            parcels.push_back({link.member, packed(std::span<const T>(values))});
            numbers += numbers_in<T>(parcels.back().list);
        }
        parcels = exchange_parcels(team_, parcels, senders);
        auto parcel = parcels.begin();
        for (const PeerMoves<Run>& link : links) {
            if (link.incoming.empty()) continue;
            values.resize(cells_of_all(link.incoming));
            numbers += numbers_in<T>(parcel->list);
            unpack((parcel++)->list, std::span(values));
            const T* next = values.data();
            for (const Run& r : link.incoming)
                std::memcpy(&to[r.*way.to], std::exchange(next, next + r.cells), r.cells * sizeof(T));
        }
        return numbers;
    }

    const Team& team_;
    bool packs_;  // the same on all members
    std::int64_t cells_ = 0;
    std::vector<Run> local_;
    std::vector<PeerMoves<Run>> home_to_boxes_, boxes_to_home_;  // the same runs in both directions
};

/// All cells' values on member 0, ordered by x, then y, then z; none elsewhere. field: of this member's home.
/// Collective.
std::vector<std::int64_t> whole_field(const Team& team, const Grid& grid, std::span<const std::int64_t> field);

/// From homes to the order of files, column by column with an even share of the columns on each member, and back.
FieldPlan plan_by_columns(const Team& team, const Grid& grid);

/// Sums over boxes of the part of a field that is at home here, in constant time.
class SummedArea {
public:
    /// field: one value a cell of `home`; empty: every cell's is 1, which takes no memory.
    SummedArea(const Box& home, std::span<const std::int64_t> field);
    /// Sum over the cells of `box` that are at home here.
    std::int64_t of(const Box& box) const;
    /// Adds the sums over each line of cells of `box` across an axis, or over bundles of `each` lines, to lines[0],
    /// lines[1], ...
    void add_lines(const Box& box, int axis, std::span<std::int64_t> lines, int each = 1) const;

private:
    std::int64_t at(int x, int y, int z) const { return sums_[(std::size_t(x) * rows_ + y) * layers_ + z]; }
    // Sums of the first cells along z.
    std::int64_t below(const Box& b, int z) const {
        return at(b.upper[0], b.upper[1], z) - at(b.lower[0], b.upper[1], z) - at(b.upper[0], b.lower[1], z) +
               at(b.lower[0], b.lower[1], z);
    }

    Box home_;
    bool uniform_;
    int rows_, layers_;  // of the sums: cells and one more, but one layer where the home is one cell deep
    std::vector<std::int64_t> sums_;
};

}  // namespace balance
