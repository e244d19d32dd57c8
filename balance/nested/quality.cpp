// SPDX-License-Identifier: MIT
// Ghosts are counted by boxes, not by cells: the cells around a region are boxes themselves, and an index says whose
// boxes they meet. So the cost depends on the number of boxes alone, for any grid.
#include "balance/partition/quality.hpp"

#include <algorithm>
#include <array>

#include "balance/nested/levels.hpp"
#include "balance/nested/nested.hpp"
#include "balance/partition/box_index.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

enum : std::size_t { between_nodes, distance, between_cpus, inside, other_cpu, sums };

class Counter {
public:
    /// weight: what a cell counts, in the home of this member; without it every cell counts 1, wherever it is.
    Counter(const Grid& grid, const std::vector<Resource>& resources, const NestedPartition& partition, int width,
            const SummedArea* weight = nullptr)
        : grid_(grid),
          weight_(weight),
          resources_(resources),
          partition_(partition),
          width_(width),
          index_(grid.box(), partition.boxes),
          owner_(partition.boxes.size()),
          remote_cells(resources.size(), 0) {
        for (std::size_t r = 0; r < resources.size(); ++r)
            for (std::int64_t b = partition.first[r]; b < partition.first[r + 1]; ++b)
                owner_[b] = static_cast<std::int32_t>(r);
    }

    /// Some of the nodes.
    void count_nodes(const MachineSpec& machine, const IndexRange& nodes) {
        std::size_t first = 0;
        for (std::int64_t n = 0; n < nodes.end; ++n) {
            const std::size_t last = first + static_cast<std::size_t>(machine.nodes[n].resources());
            if (n >= nodes.begin) count(first, last);
            first = last;
        }
    }
    /// The mean over the ghosts between nodes.
    double node_distance() const {
        return total[between_nodes] > 0
                   ? static_cast<double>(total[distance]) / static_cast<double>(total[between_nodes])
                   : 0;
    }

private:
    // A node with resources [first, last).
    void count(std::size_t first, std::size_t last) {
        const std::int32_t node = resources_[first].node;
        for_each_ghost(first, last, [&](const Resource& other, const Box& cells) {
            if (other.node == node) return;
            total[between_nodes] += size(cells);
            total[distance] += size(cells) * std::abs(std::int64_t{other.node} - node);
        });
        for (std::size_t r = first, next; r < last; r = next) {
            const Resource& mine = resources_[r];
            next = r + 1;
            while (next < last && same_cpu(mine, resources_[next])) ++next;
            for_each_ghost(r, next, [&](const Resource& other, const Box& cells) {
                if (other.node == node) total[between_cpus] += size(cells);
            });
            if (mine.kind == ResourceKind::accelerator && !weight_) count_contacts(r);
        }
        for (std::size_t r = first; r < last; ++r)
            for_each_ghost(r, r + 1, [&](const Resource& other, const Box& cells) {
                const Resource& mine = resources_[r];
                const bool two_accelerators =
                    mine.kind == ResourceKind::accelerator && other.kind == ResourceKind::accelerator;
                if (other.node != node || two_accelerators) remote_cells[r] += cells.cells();
                if (same_cpu(mine, other)) total[inside] += size(cells);
            });
    }
    std::int64_t size(const Box& cells) const { return weight_ ? weight_->of(cells) : cells.cells(); }
    static bool same_cpu(const Resource& a, const Resource& b) {
        return a.kind == ResourceKind::core && b.kind == ResourceKind::core && a.node == b.node && a.cpu == b.cpu;
    }
    Region region_of(std::size_t first, std::size_t last) const {
        return joined(
            {partition_.boxes.begin() + partition_.first[first], partition_.boxes.begin() + partition_.first[last]});
    }
    /// Calls visit(owner, cells) for the ghosts of resources [first, last) together.
    template <class Visit>
    void for_each_ghost(std::size_t first, std::size_t last, Visit visit) const {
        for (const Box& b : cells_around(region_of(first, last), grid_, width_))
            index_.for_each_in(b, [&](std::int32_t box, const Box& cells) { visit(resources_[owner_[box]], cells); });
    }
    void count_contacts(std::size_t accelerator) {
        std::vector<Region> of_cpu;  // the ghosts that CPUs of the own node own
        for_each_ghost(accelerator, accelerator + 1, [&](const Resource& other, const Box& cells) {
            if (other.node != resources_[accelerator].node || other.kind != ResourceKind::core) return;
            if (other.cpu >= static_cast<int>(of_cpu.size())) of_cpu.resize(other.cpu + 1);
            of_cpu[other.cpu].push_back(cells);
        });
        if (of_cpu.size() < 2) return;
        of_cpu.erase(std::max_element(of_cpu.begin(), of_cpu.end(),
                                      [](const Region& a, const Region& b) { return cells_in(a) < cells_in(b); }));
        Region others;
        for (const Region& r : of_cpu) others.insert(others.end(), r.begin(), r.end());
        const Region mine = region_of(accelerator, accelerator + 1);
        for (const Box& b : cells_around(others, grid_, width_)) total[other_cpu] += cells_in(within(mine, b));
    }

    const Grid& grid_;
    const SummedArea* weight_;
    const std::vector<Resource>& resources_;
    const NestedPartition& partition_;
    int width_;
    BoxIndex index_;
    std::vector<std::int32_t> owner_;  // the resource of each box

public:
    std::vector<std::int64_t> remote_cells;  ///< of each resource
    std::array<std::int64_t, sums> total{};
};

}  // namespace

NestedQuality quality_of(const Team& team, const Grid& grid, std::span<const std::int64_t> load,
                         const MachineSpec& machine, const NestedPartition& partition, int ghost_width) {
    const std::vector<Resource> resources = resources_of(machine);
    NestedQuality q;
    q.load.assign(resources.size(), 0);
    q.cells.assign(resources.size(), 0);
    const SummedArea home(Homes{grid, team.size()}.of(team.rank()), load);
    for (std::size_t r = 0; r < resources.size(); ++r)
        for (std::int64_t b = partition.first[r]; b < partition.first[r + 1]; ++b) {
            q.load[r] += home.of(partition.boxes[b]);
            q.cells[r] += partition.boxes[b].cells();
        }
    Counter counter(grid, resources, partition, ghost_width);
    counter.count_nodes(machine, block(std::ssize(machine.nodes), team.rank(), team.size()));
    team.sum(q.load);
    team.sum(counter.total);
    team.sum(counter.remote_cells);
    q.remote_cells = std::move(counter.remote_cells);
    q.ghosts_between_nodes = counter.total[between_nodes];
    q.ghosts_between_cpus = counter.total[between_cpus];
    q.ghosts_inside = counter.total[inside];
    q.other_cpu_contacts = counter.total[other_cpu];
    q.node_distance = counter.node_distance();
    std::vector<double> speeds;
    for (const Resource& r : resources) speeds.push_back(r.speed);
    q.lbe_model = std::min(1.0, efficiency(q.load, speeds));
    return q;
}

NestedTraffic traffic_of(const Team& team, const Grid& grid, std::span<const std::int64_t> weight,
                         const MachineSpec& machine, const NestedPartition& partition, int ghost_width) {
    const std::vector<Resource> resources = resources_of(machine);
    const SummedArea home(Homes{grid, team.size()}.of(team.rank()), weight);
    Counter counter(grid, resources, partition, ghost_width, &home);
    counter.count_nodes(machine, {0, std::ssize(machine.nodes)});
    team.sum(counter.total);
    return {counter.total[between_nodes], counter.total[between_cpus], counter.total[inside], counter.node_distance()};
}

}  // namespace balance
