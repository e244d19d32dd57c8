// SPDX-License-Identifier: MIT
// Partitioners of graphs, by other libraries: the cells of a grid as a graph, and their parts as boxes.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "balance/partition/partition.hpp"

namespace balance {

/// Cells that see each other, over a face, an edge or a corner, are joined.
struct CellGraph {
    std::vector<std::int32_t> first;       ///< of each cell's neighbours, and one past the last
    std::vector<std::int32_t> neighbours;  ///< cells, ordered by x, then y, then z
    std::vector<std::int32_t> weight;      ///< of each cell, at least 0; all add up to at most 2^30
};

/// Cells that a graph can have, since its numbers have 32 bits.
inline constexpr std::int64_t most_cells_of_a_graph = (std::int64_t{1} << 31) / 26 - 1;

/// load: of all cells, ordered by x, then y, then z.
CellGraph cell_graph(const Grid& grid, std::span<const std::int64_t> load);

/// Each part as lines of cells, along the last axis that has more cells than one. part: of each cell, from 0.
Partition lines_of(const Grid& grid, std::span<const std::int32_t> part, std::int64_t parts);

/// The part of each cell, from 0; weights: what each part should get, as fractions of all.
using GraphPartitioner = std::function<std::vector<std::int32_t>(const CellGraph&, std::span<const double> weights)>;

/// Lets a library partition the graph on member 0, where all loads are for that moment. Each part is a list of lines of
/// cells. Collective.
Partition partition_graph(const PartitionInput& input, const PartitionOptions& options,
                          const GraphPartitioner& partitioner);

}  // namespace balance
