// SPDX-License-Identifier: MIT
// A patch is sorted on the member that owns its place on the curve. Each member has an even share of the grid along the
// curve, so all know the owner of a place without asking. That member counts the patches before each of its patches,
// and their items. These counts decide which member gets a patch.
#include "balance/partition/patches.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "balance/delivery.hpp"
#include "balance/grid/curve.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/partition/region.hpp"

namespace balance {
namespace {

using Point = std::array<std::uint32_t, 3>;

// A curve through points at half a cell's distance, so that the centres of all boxes of cells are among them.
class Curve {
public:
    Curve(const Grid& grid, PatchOrder order) : order_(order), dimensions_(grid.dimensions) {
        for (int a = 0; a < dimensions_; ++a) end_[a] = 2 * std::int64_t{grid.cells[a]};
        while (std::int64_t{1} << levels_ < *std::max_element(end_.begin(), end_.end())) ++levels_;
    }
    static Point centre(const Box& box) {
        Point at{};
        for (int a = 0; a < 3; ++a) at[a] = static_cast<std::uint32_t>(box.lower[a] + box.upper[a]);
        return at;
    }
    std::uint64_t key(const Point& at) const {
        if (dimensions_ == 3) return order_ == PatchOrder::morton ? morton_key(at) : hilbert_key(at);
        return order_ == PatchOrder::morton ? morton_key(at[0], at[1]) : hilbert_key(at[0], at[1]);
    }
    // The member to which a point belongs. Members follow each other along the curve, with about equal numbers of
    // points. A square (or cube) that is small against a member's share belongs to one member.
    int member_of(const Point& at, int members) const {
        constexpr int fineness = 16;  // squares in a share, at least
        const std::int64_t all = points_in({}, levels_);
        std::int64_t before = 0;  // points before the square
        Point square{};           // its lower corner
        for (int level = levels_; level > 0 && points_in(square, level) > all / members / fineness;) {
            --level;
            const std::uint64_t own = key(at) >> dimensions_ * level;
            for (int part = 0; part < 1 << dimensions_; ++part) {
                Point corner = square;
                for (int a = 0; a < dimensions_; ++a) corner[a] |= static_cast<std::uint32_t>(part >> a & 1) << level;
                if (key(corner) >> dimensions_ * level < own) before += points_in(corner, level);
            }
            for (int a = 0; a < dimensions_; ++a) square[a] = at[a] >> level << level;
        }
        return static_cast<int>(static_cast<__int128>(before) * members / all);
    }

private:
    // Number of the grid's points in a square (or cube) of 2^level points a side. corner: its lower corner.
    std::int64_t points_in(const Point& corner, int level) const {
        std::int64_t points = 1;
        for (int a = 0; a < dimensions_; ++a)
            points *= std::clamp<std::int64_t>(end_[a] - corner[a], 0, std::int64_t{1} << level);
        return points;
    }

    PatchOrder order_;
    int dimensions_, levels_ = 0;  // a square of 2^levels_ points a side holds all
    std::array<std::int64_t, 3> end_{1, 1, 1};
};

// The places of keys in ascending order. Equal keys keep their order. The keys are sorted digit by digit, the lowest
// first, so the time is proportional to their number.
std::vector<std::uint32_t> ascending(std::span<const std::uint64_t> keys) {
    constexpr int bits = 11;
    const std::uint64_t largest = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
    std::vector<std::uint32_t> order(keys.size()), next(keys.size());
    std::iota(order.begin(), order.end(), 0);
    for (int shift = 0; shift < 64 && largest >> shift > 0; shift += bits) {
        const auto digit = [&](std::uint32_t i) { return keys[i] >> shift & ((1U << bits) - 1); };
        std::array<std::uint32_t, (1 << bits) + 1> first{};
        for (const std::uint32_t i : order) ++first[digit(i) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        for (const std::uint32_t i : order) next[first[digit(i)]++] = i;
        order.swap(next);
    }
    return order;
}

// This member's share of all patches along the curve. Patches arrive in the order of the bisection, and patches with
// equal keys keep that order.
std::vector<Box> sorted_patches(const Team& team, const Grid& grid, Leaves leaves, PatchOrder order) {
    if (order == PatchOrder::tree) return leaves.boxes;
    const Curve curve(grid, order);
    const std::vector<Box> boxes = deliver_each(
        team, std::move(leaves.boxes), [&](const Box& b) { return curve.member_of(Curve::centre(b), team.size()); });
    std::vector<std::uint64_t> keys;
    keys.reserve(boxes.size());
    for (const Box& b : boxes) keys.push_back(curve.key(Curve::centre(b)));
    std::vector<Box> sorted;
    sorted.reserve(boxes.size());
    for (const std::uint32_t i : ascending(keys)) sorted.push_back(boxes[i]);
    return sorted;
}

}  // namespace

PatchRow::PatchRow(const Box& patch, CutAt cut, int dimensions)
    : patch_(patch), cut_(cut), axes_(axes_by_length(patch)), line_(patch.extent(axes_[dimensions - 1])) {}

void PatchRow::add_items(const std::int64_t* cells, std::vector<std::int64_t>& items) const {
    const std::size_t begin = items.size();
    items.resize(begin + this->items(), 0);
    std::array<std::int64_t, 3> step{};  // places of a cell in the row, along each axis
    step[axes_[2]] = 1;
    step[axes_[1]] = patch_.extent(axes_[2]);
    step[axes_[0]] = step[axes_[1]] * patch_.extent(axes_[1]);
    const std::int64_t each = patch_.cells() / this->items();
    for_each_cell({{0, 0, 0}, {patch_.extent(0), patch_.extent(1), patch_.extent(2)}}, [&](int x, int y, int z) {
        items[begin + (x * step[0] + y * step[1] + z * step[2]) / each] += *cells++;
    });
}

void PatchRow::add_boxes(std::int64_t begin, std::int64_t end, std::vector<Box>& boxes) const {
    const std::int64_t each = patch_.cells() / items();
    add_cells(patch_, axes_, begin * each, end * each, boxes);
}

Patches patches_in_order(const Team& team, const Grid& grid, Leaves leaves, std::int64_t all, PatchOrder order,
                         CutAt cut) {
    Patches patches;
    for (const Box& b : sorted_patches(team, grid, std::move(leaves), order)) {
        patches.mine.push_back({patches.items, b});
        patches.items += PatchRow(b, cut, grid.dimensions).items();
    }
    const std::vector<std::int64_t> before =
        sums_before(team, std::array<std::int64_t, 2>{patches.items, std::ssize(patches.mine)});
    for (Patch& p : patches.mine) p.before += before[0];
    if (cut == CutAt::cells) patches.items = grid.box().cells();
    else patches.items = team.sum_of(patches.items);
    // Sends each patch to the member whose share holds its middle. The middle is the mean of its places among all items
    // and among all patches.
    std::int64_t place = before[1];
    patches.mine = deliver_each(team, std::move(patches.mine), [&](const Patch& p) {
        const __int128 among_items = 2 * p.before + PatchRow(p.box, cut, grid.dimensions).items(),
                       among_patches = 2 * place++ + 1;
        return static_cast<int>((among_items * all + among_patches * patches.items) * team.size() /
                                (__int128{4} * patches.items * all));
    });
    return patches;
}

}  // namespace balance
