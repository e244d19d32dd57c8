// SPDX-License-Identifier: MIT
#include "balance/model/cell_counts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "balance/grid/field.hpp"

namespace balance {
namespace {

constexpr int reach = 2;  // cells

// What of a home and its frame lies in the grid: a box there, and where it is in the frame.
struct FramePart {
    Box in_grid, in_frame;
};
std::vector<FramePart> parts_of_frame(const Grid& grid, const Box& frame) {
    const auto images = [&](int axis) {
        const bool wraps = axis < grid.dimensions && grid.periodic[axis];
        return wraps ? (reach + grid.cells[axis] - 1) / grid.cells[axis] : 0;
    };
    std::vector<FramePart> parts;
    for (int x = -images(0); x <= images(0); ++x)
        for (int y = -images(1); y <= images(1); ++y)
            for (int z = -images(2); z <= images(2); ++z) {
                const std::array<int, 3> image{x * grid.cells[0], y * grid.cells[1], z * grid.cells[2]};
                const Box there = intersection(shifted(frame, image), grid.box());
                if (!there.empty()) parts.push_back({there, shifted(there, {-image[0], -image[1], -image[2]})});
            }
    return parts;
}

// Calls visit(x, y, z, cells) for the first of the cells of each line of a box; in two dimensions lines lie along y.
template <class Visit>
void for_each_line(const Box& box, Visit visit) {
    const bool flat = box.extent(2) == 1;
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < (flat ? box.lower[1] + 1 : box.upper[1]); ++y)
            visit(x, y, box.lower[2], box.extent(flat ? 1 : 2));
}

// Replaces each of a box's numbers by the sum of `Wide` that follow each other along an axis, itself and those behind
// it: that axis becomes shorter by Wide - 1.
template <int Wide>
std::vector<std::int32_t> summed_along(int axis, const std::vector<std::int32_t>& values, std::array<int, 3>& extent) {
    std::size_t inner = 1, outer = 1;
    for (int a = 0; a < 3; ++a) (a < axis ? outer : inner) *= a == axis ? 1 : static_cast<std::size_t>(extent[a]);
    const std::size_t from = extent[axis] * inner, to = from - (Wide - 1) * inner;
    extent[axis] -= Wide - 1;
    std::vector<std::int32_t> sums(outer * to);
    for (std::size_t o = 0; o < outer; ++o) {
        const std::int32_t* value = &values[o * from];
        std::int32_t* sum = &sums[o * to];
        for (std::size_t k = 0; k < to; ++k) {
            std::int32_t s = 0;
            for (int w = 0; w < Wide; ++w) s += value[k + w * inner];
            sum[k] = s;
        }
    }
    return sums;
}

template <int Wide>
std::vector<std::int32_t> summed(int dimensions, const std::vector<std::int32_t>& values, std::array<int, 3> extent) {
    std::vector<std::int32_t> sums = summed_along<Wide>(dimensions - 1, values, extent);
    for (int a = dimensions - 2; a >= 0; --a) sums = summed_along<Wide>(a, sums, extent);
    return sums;
}

}  // namespace

std::vector<CellCounts> counts_around(const Team& team, const Grid& grid, std::span<const std::int32_t> particles) {
    const Homes homes{grid, team.size()};
    const auto frame_of = [&](int member) {
        const Box home = homes.of(member);
        return home.empty() ? home : with_halo(home, halo_of(grid, reach));
    };
    const auto boxes_of = [&](int member) {
        std::vector<Box> boxes;
        for (const FramePart& p : parts_of_frame(grid, frame_of(member))) boxes.push_back(p.in_grid);
        return boxes;
    };
    const Box home = homes.of(team.rank()), frame = frame_of(team.rank());
    const std::vector<FramePart> parts = parts_of_frame(grid, frame);
    std::set<int> around;  // what one member's frame has of another's home, the other's frame has of this one's
    for (const FramePart& p : parts) homes.for_each_in(p.in_grid, [&](int m) { around.insert(m); });
    const FieldPlan plan(team, homes, std::vector<int>(around.begin(), around.end()), boxes_of);
    const std::vector<std::int32_t> there = plan.to_boxes(particles);

    std::vector<CellCounts> counts(home.cells());
    if (home.empty()) return counts;
    std::vector<std::int32_t> framed(frame.cells(), 0);
    const std::int32_t* next = there.data();
    for (const FramePart& p : parts)
        for_each_line(p.in_frame, [&](int x, int y, int z, int cells) {
            std::copy_n(std::exchange(next, next + cells), cells, &framed[place_in(frame, x, y, z)]);
        });
    const std::array<int, 3> extent{frame.extent(0), frame.extent(1), frame.extent(2)};
    const std::vector<std::int32_t> near = summed<3>(grid.dimensions, framed, extent),
                                    farther = summed<5>(grid.dimensions, framed, extent);
    const Box nearer = with_halo(home, halo_of(grid, 1));  // of whose cells the sums `near` are
    std::size_t at = 0;
    for_each_line(home, [&](int x, int y, int z, int cells) {
        const std::int32_t* n = &framed[place_in(frame, x, y, z)];
        const std::int32_t* n3 = &near[place_in(nearer, x, y, z)];
        for (int i = 0; i < cells; ++i, ++at) counts[at] = {n[i], n3[i], farther[at]};
    });
    return counts;
}

}  // namespace balance
