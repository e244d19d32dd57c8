// SPDX-License-Identifier: MIT
// Scotch (Pellegrini & Roman 1996), where it was there when this was built: multilevel recursive bipartitioning.
#include "balance/partition/cell_graph.hpp"

#ifdef STEELYARD_SCOTCH
#include <scotch.h>

#endif

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace balance {

#ifdef STEELYARD_SCOTCH
namespace {

static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t), "Scotch with 32-bit numbers is needed");

void require(int failed) {
    if (failed != 0) throw std::runtime_error("Scotch cannot partition the graph of the cells");
}

std::vector<std::int32_t> by_scotch(const CellGraph& cells, std::span<const double> weights) {
    const auto vertices = static_cast<SCOTCH_Num>(cells.weight.size());
    std::vector<SCOTCH_Num> weight, wanted, part(vertices);
    for (const std::int32_t w : cells.weight) weight.push_back(std::max(w, 1));
    for (const double w : weights) wanted.push_back(static_cast<SCOTCH_Num>(std::lround(w * 0x1p20) + 1));
    SCOTCH_Context context;
    SCOTCH_Graph graph, bound;
    SCOTCH_Arch parts;
    SCOTCH_Strat strategy;
    require(SCOTCH_contextInit(&context));
    require(SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1));
    require(SCOTCH_contextThreadSpawn(&context, 1, nullptr));
    SCOTCH_contextRandomSeed(&context, 1);
    require(SCOTCH_graphInit(&graph));
    require(SCOTCH_graphInit(&bound));
    require(SCOTCH_archInit(&parts));
    require(SCOTCH_stratInit(&strategy));
    require(SCOTCH_graphBuild(&graph, 0, vertices, cells.first.data(), nullptr, weight.data(), nullptr,
                              static_cast<SCOTCH_Num>(cells.neighbours.size()), cells.neighbours.data(), nullptr));
    require(SCOTCH_contextBindGraph(&context, &graph, &bound));
    require(SCOTCH_archCmpltw(&parts, static_cast<SCOTCH_Num>(wanted.size()), wanted.data()));
    constexpr double uneven = 0.001;
    require(SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATBALANCE, static_cast<SCOTCH_Num>(wanted.size()), uneven));
    require(SCOTCH_graphMap(&bound, &parts, &strategy, part.data()));
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&parts);
    SCOTCH_graphExit(&bound);
    SCOTCH_graphExit(&graph);
    SCOTCH_contextExit(&context);
    return {part.begin(), part.end()};
}

}  // namespace

Partition partition_scotch(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    return partition_graph(in, options, by_scotch);
}
#else
Partition partition_scotch(const PartitionInput&, const PartitionOptions&, Scattered<Split>&) {
    throw std::invalid_argument("this was built without Scotch");
}
#endif

}  // namespace balance
