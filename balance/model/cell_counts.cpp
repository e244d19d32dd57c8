// SPDX-License-Identifier: MIT
#include "balance/model/cell_counts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"

namespace balance {
namespace {

constexpr int reach = 2;  // cells

// A part of a home and its frame inside the grid: a box there, and its place in the frame.
struct FramePart {
    Box in_grid, in_frame;
};
std::vector<FramePart> parts_of_frame(const Grid& grid, const Box& frame) {
    std::vector<FramePart> parts;
    for_each_image(grid, reach, [&](const std::array<int, 3>& image) {
        const std::array<int, 3> back{-image[0], -image[1], -image[2]};
        const Box there = intersection(shifted(frame, offset_of(grid, image)), grid.box());
        if (!there.empty()) parts.push_back({there, shifted(there, offset_of(grid, back))});
    });
    return parts;
}

// Calls visit(x, y, z, cells) for the first of the cells of each line of a box; in two dimensions lines lie along y.
template <class Visit>
void for_each_line(const Box& box, int dimensions, Visit visit) {
    const bool flat = dimensions == 2;
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < (flat ? box.lower[1] + 1 : box.upper[1]); ++y)
            visit(x, y, box.lower[2], box.extent(flat ? 1 : 2));
}

// Calls use(n, n3, n5, x, y) for each line of `part`, with the particles in and around its cells.
template <class Use>
void count_lines(const Box& part, int dimensions, const Box& frame, std::span<const std::int32_t> particles, Use use) {
    // First the lines around each line are added up, then neighbours within the sum.
    std::vector<std::int64_t> near, farther;  // from a line to those up to one cell away, and to the others
    const int across = dimensions == 3 ? reach : 0;
    const std::int64_t y_stride = frame.extent(2), x_stride = y_stride * frame.extent(1);
    for (int x = -reach; x <= reach; ++x)
        for (int y = -across; y <= across; ++y)
            (std::max(std::abs(x), std::abs(y)) <= 1 ? near : farther).push_back(x * x_stride + y * y_stride);
    std::vector<std::int32_t> sums, n3, n5;
    for_each_line(part, dimensions, [&](int x, int y, int z, int cells) {
        const std::int32_t* line = &particles[place_in(frame, x, y, z)] - reach;
        const auto add = [&](std::int64_t offset) {
            for (int i = 0; i < cells + 2 * reach; ++i) sums[i] += line[offset + i];
        };
        sums.assign(cells + 2 * reach, 0);
        n3.resize(cells);
        n5.resize(cells);
        std::ranges::for_each(near, add);
        for (int i = 0; i < cells; ++i) n3[i] = sums[i + 1] + sums[i + 2] + sums[i + 3];
        std::ranges::for_each(farther, add);
        for (int i = 0; i < cells; ++i) n5[i] = sums[i] + sums[i + 1] + sums[i + 2] + sums[i + 3] + sums[i + 4];
        use(std::span(line + reach, cells), std::span<const std::int32_t>(n3), std::span<const std::int32_t>(n5), x, y);
    });
}

}  // namespace

std::vector<CellCounts> counts_in(const Box& part, int dimensions, const Box& frame,
                                  std::span<const std::int32_t> particles) {
    std::vector<CellCounts> counts;
    counts.reserve(part.cells());
    count_lines(part, dimensions, frame, particles, [&](auto n, auto n3, auto n5, int, int) {
        for (std::size_t i = 0; i < n.size(); ++i) counts.push_back({n[i], n3[i], n5[i]});
    });
    return counts;
}

std::vector<CountSums> slab_counts(const Box& part, int dimensions, const Box& frame,
                                   std::span<const std::int32_t> particles, int axis) {
    const bool along = axis == (dimensions == 2 ? 1 : 2);  // each cell of a line lies in another slab
    std::vector<std::int64_t> sums[3];
    for (auto& s : sums) s.assign(part.extent(axis), 0);
    // Numbers of particles are not negative, and products without a sign are the faster ones.
    const auto product = [](std::int32_t a, std::int32_t b) {
        return static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(a)} * static_cast<std::uint32_t>(b));
    };
    count_lines(part, dimensions, frame, particles, [&](auto n, auto n3, auto n5, int x, int y) {
        if (along) {
            for (std::size_t i = 0; i < n.size(); ++i) {
                sums[0][i] += n[i];
                sums[1][i] += product(n[i], n3[i]);
                sums[2][i] += product(n[i], n5[i]);
            }
            return;
        }
        std::int64_t all = 0, all3 = 0, all5 = 0;
        for (std::size_t i = 0; i < n.size(); ++i) {
            all += n[i];
            all3 += product(n[i], n3[i]);
            all5 += product(n[i], n5[i]);
        }
        const int at = axis == 0 ? x - part.lower[0] : y - part.lower[1];
        sums[0][at] += all;
        sums[1][at] += all3;
        sums[2][at] += all5;
    });
    std::vector<CountSums> slabs;
    for (int i = 0; i < part.extent(axis); ++i)
        slabs.push_back({part.cells() / part.extent(axis), sums[0][i], sums[1][i], sums[2][i]});
    return slabs;
}

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

    if (home.empty()) return {};
    std::vector<std::int32_t> framed(frame.cells(), 0);
    const std::int32_t* next = there.data();
    for (const FramePart& p : parts)
        for_each_line(p.in_frame, grid.dimensions, [&](int x, int y, int z, int cells) {
            std::copy_n(std::exchange(next, next + cells), cells, &framed[place_in(frame, x, y, z)]);
        });
    return counts_in(home, grid.dimensions, frame, framed);
}

}  // namespace balance
