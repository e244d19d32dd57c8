// SPDX-License-Identifier: MIT
#include "balance/partition/cell_graph.hpp"

#include <algorithm>
#include <cmath>

namespace balance {

Partition lines_of(const Grid& grid, std::span<const std::int32_t> part, std::int64_t parts) {
    std::vector<std::vector<Box>> boxes(parts);
    const int along = grid.cells[2] > 1 ? 2 : 1;
    std::array<int, 3> end = grid.cells;
    end[along] = 1;
    for (int x = 0; x < end[0]; ++x)
        for (int y = 0; y < end[1]; ++y) {
            for (int at = 0; at < grid.cells[along];) {
                Box line{{x, y, 0}, {x + 1, y + 1, 1}};
                line.lower[along] = at;
                const std::int32_t* mine = &part[place_in(grid.box(), line.lower[0], line.lower[1], line.lower[2])];
                int n = 1;
                while (at + n < grid.cells[along] && mine[n] == *mine) ++n;
                line.upper[along] = at += n;
                boxes[*mine].push_back(line);
            }
        }
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
    for (int x = 0; x < grid.cells[0]; ++x)
        for (int y = 0; y < grid.cells[1]; ++y)
            for (int z = 0; z < grid.cells[2]; ++z) {
                near.clear();
                const std::array<int, 3> cell{x, y, z};
                for (int i = 0; i < 27; ++i) {
                    std::array<int, 3> other{x + i / 9 - 1, y + i / 3 % 3 - 1, z + i % 3 - 1};
                    bool inside = true;
                    for (int a = 0; a < 3; ++a) {
                        if (grid.periodic[a]) other[a] = (other[a] + grid.cells[a]) % grid.cells[a];
                        inside = inside && other[a] >= 0 && other[a] < grid.cells[a];
                    }
                    if (inside && other != cell)
                        near.push_back(static_cast<std::int32_t>(place_in(grid.box(), other[0], other[1], other[2])));
                }
                std::sort(near.begin(), near.end());  // a periodic axis of 1 or 2 cells gives neighbours twice
                near.erase(std::unique(near.begin(), near.end()), near.end());
                graph.first.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
                graph.neighbours.insert(graph.neighbours.end(), near.begin(), near.end());
            }
    graph.first.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
    return graph;
}

Partition partition_graph(const PartitionInput& in, const PartitionOptions& options,
                          const GraphPartitioner& partitioner) {
    const std::vector<std::int64_t> load = whole_field(in.team, in.grid, in.load);
    std::vector<std::int32_t> part(in.grid.box().cells(), 0);
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
