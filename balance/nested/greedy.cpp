// SPDX-License-Identifier: MIT
// Algorithm 1 of Liu, Yang & Yang (2018). The piece cut off has the load nearest to the remaining capacity. The paper
// takes the smallest piece that is not below the capacity, and overshoots by up to a line of cells.
#include <algorithm>

#include "balance/nested/node.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

struct Taker {
    double target, left;  // load
    std::int64_t cells;   // that it needs at least and has not got yet
    bool accelerator;
    Region* region;
};

std::vector<Taker> takers_of(const NodeProblem& node, const Loads& loads, NodeSplit& split) {
    const double unit = static_cast<double>(load_in(node.region, loads)) / speed_of(node.parts);
    std::vector<Taker> takers;
    for (std::size_t a = 0; a < split.accelerators.size(); ++a) {
        const double target = node.parts.accelerators[a] * unit;
        takers.push_back({target, target, 1, true, &split.accelerators[a]});
    }
    for (std::size_t c = 0; c < split.cpus.size(); ++c) {
        const double target = node.parts.cpus[c].speed * unit;
        takers.push_back({target, target, node.parts.cpus[c].cells, false, &split.cpus[c]});
    }
    return takers;
}

// The one with more capacity left comes first, but nobody comes before those who need cells.
bool comes_later(const Taker& a, const Taker& b) {
    return (a.cells > 0) != (b.cells > 0) ? b.cells > 0 : a.left < b.left;
}

// A taker's share of the region; others: cells that are to be left.
Region piece_for(const Taker& taker, const Region& region, const Loads& loads, std::int64_t others) {
    const std::int64_t cells = cells_in(region);
    if (taker.accelerator) return others < cells ? block_of(region, loads, taker.left, cells - others) : Region{};
    const std::int64_t least = std::min(taker.cells, cells);
    const CutAim aim{taker.left, 1e-3 * taker.target, least, std::min(others, cells - least)};
    return cut(region, loads, axes_by_length(bounds_of(region)), aim).first;
}

}  // namespace

NodeSplit split_greedily(const NodeProblem& node) {
    const Loads& loads = loads_or_counts(node.region, node.loads);
    NodeSplit split{std::vector<Region>(node.parts.cpus.size()), std::vector<Region>(node.parts.accelerators.size())};
    std::vector<Taker> takers = takers_of(node, loads, split);
    Region rest = node.region;
    while (!rest.empty()) {
        const auto taker = std::max_element(takers.begin(), takers.end(), comes_later);
        std::int64_t others = -taker->cells;
        for (const Taker& t : takers) others += t.cells;
        Region piece = rest;
        if (static_cast<double>(load_in(rest, loads)) > taker->left || others > 0 || taker->accelerator)
            piece = piece_for(*taker, rest, loads, others);
        if (piece.empty() && !taker->accelerator) piece = rest;  // less than half a cell is wanted
        rest = joined(without(std::move(rest), piece));
        taker->left -= static_cast<double>(load_in(piece, loads));
        taker->cells = std::max<std::int64_t>(0, taker->cells - cells_in(piece));
        taker->region->insert(taker->region->end(), piece.begin(), piece.end());
        if (taker->accelerator) takers.erase(taker);
    }
    return split;
}

}  // namespace balance
