// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "balance/nested/levels.hpp"
#include "balance/nested/nested.hpp"

namespace balance {
namespace {

// Figures of the loads of all cells.
struct Cells {
    std::int64_t load = 0, lightest = std::numeric_limits<std::int64_t>::max(), heaviest = 0;
    std::int64_t unit = 0;  // the largest number of which all loads are multiples
};
Cells cells_of(const Team& team, const Grid& grid, std::span<const std::int64_t> load) {
    if (is_uniform(team, load)) return {grid.box().cells(), 1, 1, 1};
    Cells mine, all;
    for (const std::int64_t l : load) {
        mine.load += l;
        mine.lightest = std::min(mine.lightest, l);
        mine.heaviest = std::max(mine.heaviest, l);
        mine.unit = std::gcd(mine.unit, l);
    }
    for (const Cells& c : all_gather<Cells>(team, std::span(&mine, 1))) {
        all.load += c.load;
        all.lightest = std::min(all.lightest, c.lightest);
        all.heaviest = std::max(all.heaviest, c.heaviest);
        all.unit = std::gcd(all.unit, c.unit);
    }
    return all;
}

// The fewest cells in a rim of a region. cells: number of cells of the region, fewer than the grid has. width: of the
// rim.
double thinnest_rim(const Grid& grid, double cells, int width) {
    const auto all = static_cast<double>(grid.box().cells());
    double thinnest = cells;
    for (int slab = 0; slab < 8; ++slab) {  // bit a: across the whole grid along axis a
        double across = 1, free_axes = 0;
        for (int a = 0; a < 3; ++a) {
            if (slab >> a & 1 || grid.cells[a] == 1) across *= grid.cells[a];
            else ++free_axes;
        }
        if (free_axes == 0) continue;
        bool any_end = false;
        for (int a = 0; a < 3; ++a) any_end = any_end || (!(slab >> a & 1) && grid.cells[a] > 1 && !grid.periodic[a]);
        const double border = width * (any_end ? 1.0 : 2.0);  // one side lies at an end of the grid, if there is one
        const double side = std::pow(cells / across, 1 / free_axes),
                     inner = side > border ? across * std::pow(side - border, free_axes) : 0;
        const double hole = std::pow((all - cells) / across, 1 / free_axes),
                     around = across * std::pow(hole + border, free_axes) - (all - cells);
        thinnest = std::min({thinnest, cells - inner, around});
    }
    return std::max(0.0, thinnest);
}

class Feasible {
public:
    Feasible(const Grid& grid, const Cells& cells, const MachineSpec& machine, int ghost_width)
        : grid_(grid), cells_(cells), machine_(machine), ghost_width_(ghost_width) {}

    /// Whether the loads might be done in so much time.
    bool operator()(double time) const {
        double possible = 0;
        for (const NodeSpec& node : machine_.nodes) possible += load_of(node, time);
        return possible >= static_cast<double>(cells_.load);
    }

private:
    double whole(double load) const {
        const auto unit = static_cast<double>(cells_.unit);
        return std::floor(load / unit * (1 + 1e-12)) * unit;
    }
    double rim(double load) const {
        const auto all = static_cast<double>(grid_.box().cells());
        const double cells = std::min(all, load / static_cast<double>(cells_.heaviest));
        return static_cast<double>(cells_.lightest) * thinnest_rim(grid_, cells, ghost_width_);
    }
    // The most that a node can do.
    double load_of(const NodeSpec& node, double time) const {
        const double cpus = node.cpus * node.cores_per_cpu * whole(time * node.core_speed);
        const double most = cpus + node.accelerators * whole(time * node.accelerator_speed);
        if (node.accelerators == 0 || ghost_width_ == 0 || machine_.nodes.size() == 1) return most;
        double low = 0, high = std::min(most, static_cast<double>(cells_.load));
        if (rim(high) <= cpus) return most;
        for (int i = 0; i < 60; ++i) {
            const double middle = (low + high) / 2;
            (rim(middle) <= cpus ? low : high) = middle;
        }
        return high;
    }

    const Grid& grid_;
    const Cells& cells_;
    const MachineSpec& machine_;
    int ghost_width_;  // 0: no rim is needed
};

}  // namespace

double lbe_bound(const Team& team, const Grid& grid, std::span<const std::int64_t> load, const MachineSpec& machine,
                 const NestedOptions& options) {
    check(machine);
    const Cells cells = cells_of(team, grid, load);
    if (cells.load == 0) return 1;
    double speed = 0, fastest = 0;
    for (const NodeSpec& node : machine.nodes) {
        speed += node.speed();
        fastest = std::max({fastest, node.core_speed, node.accelerators > 0 ? node.accelerator_speed : 0.0});
    }
    const double mean = static_cast<double>(cells.load) / speed;
    const bool rims = options.algorithm == NestedAlgorithm::inner_outer;
    const Feasible feasible(grid, cells, machine, rims ? options.ghost_width : 0);
    double low = std::max(mean, static_cast<double>(cells.heaviest) / fastest), high = low;
    if (feasible(low)) return mean / low;
    while (!feasible(high)) high *= 2;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (feasible(middle) ? high : low) = middle;
    }
    return mean / low;
}

}  // namespace balance
