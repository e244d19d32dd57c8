// SPDX-License-Identifier: MIT
#include "balance/partition/cell_graph.hpp"

#include <algorithm>
#include <cmath>

#include "balance/grid/for_each.hpp"

namespace balance {

Partition lines_of(const Grid& grid, std::span<const std::int32_t> part, std::int64_t parts) {
    std::vector<std::vector<Box>> boxes(parts);
    const int along = grid.cells[2] > 1 ? 2 : 1;
    for_each_cell(slab(grid.box(), along, 0, 1), [&](int x, int y, int) {
        for (int at = 0, end = 0; at < grid.cells[along]; at = end) {
            const Box cell = slab({{x, y, 0}, {x + 1, y + 1, 1}}, along, at, at + 1);
            const std::int32_t* mine = &part[place_in(grid.box(), cell.lower[0], cell.lower[1], cell.lower[2])];
            for (end = at + 1; end < grid.cells[along] && mine[end - at] == *mine;) ++end;
            boxes[*mine].push_back(slab(cell, along, at, end));
        }
    });
    Partition result;
    for (const std::vector<Box>& mine : boxes) {
        result.first.push_back(std::ssize(result.boxes));
        result.boxes.insert(result.boxes.end(), mine.begin(), mine.end());
    }
    result.first.push_back(std::ssize(result.boxes));
    return result;
}

CellGraph cell_graph(const Grid& grid, std::span<const std::int64_t> load) {
    CellGraph graph;
    double sum = 0;
    for (const std::int64_t l : load) sum += static_cast<double>(l);
    const double scale = sum > 0 ? 0x1p30 / sum : 0;
    for (const std::int64_t l : load)
        graph.weight.push_back(static_cast<std::int32_t>(std::floor(static_cast<double>(l) * scale)));
    std::vector<std::int32_t> near;
    for_each_cell(grid.box(), [&](int x, int y, int z) {
        near.clear();
        const std::array<int, 3> cell{x, y, z};
        for_each_cell({{x - 1, y - 1, z - 1}, {x + 2, y + 2, z + 2}}, [&](int i, int j, int k) {
            std::array<int, 3> other{i, j, k};
            for (int a = 0; a < 3; ++a)
                if (grid.periodic[a]) other[a] = (other[a] + grid.cells[a]) % grid.cells[a];
            if (grid.box().contains(other) && other != cell)
                near.push_back(static_cast<std::int32_t>(place_in(grid.box(), other[0], other[1], other[2])));
        });
        std::ranges::sort(near);  // a periodic axis of 1 or 2 cells gives neighbours twice
        near.erase(std::unique(near.begin(), near.end()), near.end());
        graph.first.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
        graph.neighbours.insert(graph.neighbours.end(), near.begin(), near.end());
    });
    graph.first.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
    return graph;
}

Partition partition_graph(const PartitionInput& in, const PartitionOptions& options,
                          const GraphPartitioner& partitioner) {
    const std::vector<std::int64_t> load = whole_field(in.team, in.grid, in.load);
    std::vector<std::int32_t> part(in.grid.box().cells(), 0);
    in.meter.part(RoundPart::whole, options.processes, in.grid.box().cells());
    if (in.team.rank() == 0 && options.processes > 1) {
        std::vector<double> weights;
        for (std::int64_t p = 0; p < options.processes; ++p) weights.push_back(static_cast<double>(in.targets.of(p)));
        double sum = 0;
        for (const double w : weights) sum += w;
        for (double& w : weights) w /= sum;
        part = partitioner(cell_graph(in.grid, load), weights);
    }
    in.team.broadcast(std::as_writable_bytes(std::span(part)));
    return lines_of(in.grid, part, options.processes);
}

}  // namespace balance
