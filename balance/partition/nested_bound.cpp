// SPDX-License-Identifier: MIT
#include "balance/partition/nested_bound.hpp"

#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "balance/partition/box_index.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/partition/levels.hpp"

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
double time_for_whole_cells(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                            const Speeds& speeds) {
    if (is_uniform(team, load)) return least_time(speeds, static_cast<double>(grid.box().cells()));
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

// Load of the cells of each node that another node is near to.
std::vector<std::int64_t> rim_loads(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                                    const Machine& machine, const NestedPartition& partition, int ghost_width) {
    std::vector<int> nodes;  // of each box
    std::vector<Region> regions(machine.nodes.size()), rims(machine.nodes.size());
    const std::vector<Resource> resources = resources_of(machine);
    for (std::size_t r = 0; r < resources.size(); ++r)
        for (std::int64_t b = partition.first[r]; b < partition.first[r + 1]; ++b) {
            nodes.push_back(resources[r].node);
            regions[resources[r].node].push_back(partition.boxes[b]);
        }
    const BoxIndex index(grid, partition.boxes);
    for (Region& region : regions)
        for (const Box& around : cells_around(joined(std::move(region)), grid, ghost_width))
            index.for_each_in(around, [&](std::int32_t box, const Box& cells) {
                Region& rim = rims[nodes[box]];
                const Region more = without(Region{cells}, rim);
                rim.insert(rim.end(), more.begin(), more.end());
            });
    const SummedArea home(Homes{grid, team.size()}.of(team.rank()), load);
    std::vector<std::int64_t> loads(rims.size(), 0);
    for (std::size_t n = 0; n < rims.size(); ++n)
        for (const Box& box : rims[n]) loads[n] += home.of(box);
    team.sum(loads);
    return loads;
}

}  // namespace

NestedBound nested_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const Machine& machine,
                         const NestedPartition& partition, const NestedOptions& options) {
    Speeds speeds;
    double speed = 0;
    for (const Resource& r : resources_of(machine)) ++speeds[r.speed], speed += r.speed;
    const Box box = Homes{grid, team.size()}.of(team.rank());
    std::int64_t total = SummedArea(box, load).of(box);
    team.sum(std::span(&total, 1));
    const double even = static_cast<double>(total) / speed;
    NestedBound bound;
    if (total == 0) return bound;
    bound.cells = std::min(1.0, even / time_for_whole_cells(team, grid, load, speeds));
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
