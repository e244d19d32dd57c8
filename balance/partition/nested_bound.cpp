// SPDX-License-Identifier: MIT
#include "balance/partition/nested_bound.hpp"

#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace balance {
namespace {

using Speeds = std::map<double, std::int64_t>;  // how many resources have each

// Least time in which resources that take whole cells get `cells` cells of load 1 done: the sum of floor(t s) is at
// least their number. Bisection from below.
double least_time(const Speeds& speeds, double cells) {
    double sum = 0;
    for (const auto& [s, n] : speeds) sum += s * static_cast<double>(n);
    double low = cells / sum, high = low + 1 / speeds.begin()->first;
    const auto done = [&](double t) {
        double whole = 0;
        for (const auto& [s, n] : speeds) whole += std::floor(t * s) * static_cast<double>(n);
        return whole;
    };
    if (done(low) >= cells) return low;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (done(middle) < cells ? low : high) = middle;
    }
    return low;
}

// The least time for the cells of at least a part of the largest load, for many such parts.
double time_for_whole_cells(const Team& team, std::span<const std::int64_t> load, const Speeds& speeds) {
    constexpr int parts = 64;
    std::int64_t largest = 0;
    for (const std::int64_t l : load) largest = std::max(largest, l);
    team.max(std::span(&largest, 1));
    if (largest == 0) return 0;
    std::array<std::int64_t, parts + 1> cells{};  // whose load is from k / parts of the largest to the next such part
    for (const std::int64_t l : load)
        ++cells[static_cast<std::size_t>(static_cast<double>(l) / static_cast<double>(largest) * parts)];
    team.sum(cells);
    double time = 0, count = 0;
    for (int k = parts; k > 0; --k) {
        count += static_cast<double>(cells[k]);
        if (count > 0) time = std::max(time, least_time(speeds, count) * k / parts * static_cast<double>(largest));
    }
    return time;
}

// The node of each cell of a box and of a frame around it, -1 outside the grid.
class NodeMap {
public:
    NodeMap(const Grid& grid, const Box& home, std::array<int, 3> width, std::span<const Box> boxes,
            std::span<const std::int32_t> nodes)
        : box_(with_halo(home, width)), node_(box_.cells(), -1) {
        std::array<int, 3> wraps{0, 0, 0};
        for (int a = 0; a < 3; ++a)
            if (grid.periodic[a]) wraps[a] = (width[a] + grid.cells[a] - 1) / grid.cells[a];
        std::array<int, 3> w{};
        for (std::size_t b = 0; b < boxes.size(); ++b)
            for (w[0] = -wraps[0]; w[0] <= wraps[0]; ++w[0])
                for (w[1] = -wraps[1]; w[1] <= wraps[1]; ++w[1])
                    for (w[2] = -wraps[2]; w[2] <= wraps[2]; ++w[2])
                        fill(shifted(boxes[b], {w[0] * grid.cells[0], w[1] * grid.cells[1], w[2] * grid.cells[2]}),
                             nodes[b]);
    }
    /// Whether a cell within `width` of this one is of another node.
    bool sees_another(std::array<int, 3> cell, std::array<int, 3> width) const {
        const std::int32_t own = at(cell);
        std::array<int, 3> c{};
        for (c[0] = cell[0] - width[0]; c[0] <= cell[0] + width[0]; ++c[0])
            for (c[1] = cell[1] - width[1]; c[1] <= cell[1] + width[1]; ++c[1])
                for (c[2] = cell[2] - width[2]; c[2] <= cell[2] + width[2]; ++c[2])
                    if (const std::int32_t n = at(c); n != own && n >= 0) return true;
        return false;
    }

private:
    std::size_t place(int x, int y, int z) const {
        return (static_cast<std::size_t>(x - box_.lower[0]) * box_.extent(1) + (y - box_.lower[1])) * box_.extent(2) +
               (z - box_.lower[2]);
    }
    std::int32_t at(std::array<int, 3> c) const { return node_[place(c[0], c[1], c[2])]; }
    void fill(const Box& box, std::int32_t node) {
        const Box here = intersection(box, box_);
        for (int x = here.lower[0]; x < here.upper[0]; ++x)
            for (int y = here.lower[1]; y < here.upper[1]; ++y)
                std::fill_n(node_.begin() + static_cast<std::ptrdiff_t>(place(x, y, here.lower[2])), here.extent(2),
                            node);
    }

    Box box_;
    std::vector<std::int32_t> node_;
};

// Load of the cells of each node that another node is near to.
std::vector<std::int64_t> rim_loads(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                                    const Machine& machine, const NestedPartition& partition, int ghost_width) {
    std::vector<std::int32_t> nodes;  // of each box
    const std::vector<Resource> resources = resources_of(machine);
    for (std::size_t r = 0; r < resources.size(); ++r)
        nodes.insert(nodes.end(), partition.first[r + 1] - partition.first[r], resources[r].node);
    std::array<int, 3> width{};
    for (int a = 0; a < 3; ++a) width[a] = grid.cells[a] > 1 ? ghost_width : 0;
    const Box home = Homes{grid, team.size()}.of(team.rank());
    const NodeMap map(grid, home, width, partition.boxes, nodes);
    std::vector<std::int64_t> rims(machine.nodes.size(), 0);
    for (std::size_t b = 0; b < partition.boxes.size(); ++b) {
        const Box box = intersection(partition.boxes[b], home);
        const Box inner = with_halo(partition.boxes[b], {-width[0], -width[1], -width[2]});  // sees this box only
        std::array<int, 3> c{};
        for (c[0] = box.lower[0]; c[0] < box.upper[0]; ++c[0])
            for (c[1] = box.lower[1]; c[1] < box.upper[1]; ++c[1])
                for (c[2] = box.lower[2]; c[2] < box.upper[2]; ++c[2]) {
                    if (inner.contains(c)) c[2] = std::min(inner.upper[2], box.upper[2]);
                    if (c[2] == box.upper[2] || !map.sees_another(c, width)) continue;
                    rims[nodes[b]] +=
                        load[(std::int64_t{c[0] - home.lower[0]} * home.extent(1) + c[1] - home.lower[1]) *
                                 home.extent(2) +
                             c[2] - home.lower[2]];
                }
    }
    team.sum(rims);
    return rims;
}

}  // namespace

NestedBound nested_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const Machine& machine,
                         const NestedPartition& partition, const NestedOptions& options) {
    Speeds speeds;
    double speed = 0;
    for (const Resource& r : resources_of(machine)) ++speeds[r.speed], speed += r.speed;
    std::int64_t total = 0;
    for (const std::int64_t l : load) total += l;
    team.sum(std::span(&total, 1));
    const double even = static_cast<double>(total) / speed;
    NestedBound bound;
    if (total == 0) return bound;
    bound.cells = std::min(1.0, even / time_for_whole_cells(team, load, speeds));
    if (options.algorithm != NestedAlgorithm::inner_outer) return bound;
    const std::vector<std::int64_t> rims = rim_loads(team, grid, load, machine, partition, options.ghost_width);
    for (std::size_t n = 0; n < rims.size(); ++n) {
        const NodeSpec& node = machine.nodes[n];
        if (node.accelerators > 0 && rims[n] > 0)
            bound.inner = std::min(
                bound.inner, even * node.cpus * node.cores_per_cpu * node.core_speed / static_cast<double>(rims[n]));
    }
    return bound;
}

}  // namespace balance
