// SPDX-License-Identifier: MIT
// Algorithm 2 of Liu, Yang & Yang (2018), for any load. Each accelerator takes its block from a zone of the node. First
// each CPU gets a zone with the accelerators that it feeds, so that these touch no other CPU. Where such zones are too
// small for their accelerators, all of them take from the whole node, which leaves thinner rims.
#include <algorithm>
#include <numeric>

#include "balance/nested/node.hpp"
#include "balance/partition/decomposition.hpp"

namespace balance {
namespace {

// The accelerators of each CPU: the strongest first, each to the CPU that has the least for its own speed.
std::vector<std::vector<std::size_t>> accelerators_by_cpu(const NodeParts& parts, std::span<const std::size_t> order) {
    std::vector<std::vector<std::size_t>> of_cpu(parts.cpus.size());
    std::vector<double> speed(parts.cpus.size(), 0.0);
    for (const std::size_t a : order) {
        std::size_t best = 0;
        const auto ratio = [&](std::size_t c) { return (speed[c] + parts.accelerators[a]) / parts.cpus[c].speed; };
        for (std::size_t c = 1; c < parts.cpus.size(); ++c)
            if (ratio(c) < ratio(best)) best = c;
        speed[best] += parts.accelerators[a];
        of_cpu[best].push_back(a);
    }
    return of_cpu;
}

// A zone for each accelerator: a part of its CPU's, as large as its own share and an even part of its CPU's.
std::vector<Region> zones_by_cpu(const NodeProblem& node, const Loads& loads, std::span<const std::size_t> order) {
    const NodeParts& parts = node.parts;
    const auto of_cpu = accelerators_by_cpu(parts, order);
    std::vector<PartNeed> groups = parts.cpus;
    for (std::size_t c = 0; c < groups.size(); ++c)
        for (const std::size_t a : of_cpu[c]) groups[c].speed += parts.accelerators[a];
    const std::vector<SplitPart> of_groups = split_region(node.region, loads, groups, cut_tolerance);
    std::vector<Region> zones(parts.accelerators.size());
    for (std::size_t c = 0; c < groups.size(); ++c) {
        std::vector<PartNeed> needs;
        for (const std::size_t a : of_cpu[c])
            needs.push_back({parts.accelerators[a] + parts.cpus[c].speed / static_cast<double>(of_cpu[c].size()), 1});
        std::vector<SplitPart> of_accelerators = split_region(of_groups[c].region, loads, needs, cut_tolerance);
        for (std::size_t i = 0; i < needs.size(); ++i) zones[of_cpu[c][i]] = std::move(of_accelerators[i].region);
    }
    return zones;
}

// The blocks of all accelerators, the strongest first, each from the inner part of what is left of its zone. Where the
// zones' inner parts are smaller than the targets, those who share a zone share the shortfall.
class BlockPlacement {
public:
    BlockPlacement(const NodeProblem& node, const Loads& loads, std::span<const std::size_t> order)
        : node_(node), loads_(loads), order_(order), blocks_(node.parts.accelerators.size()) {
        unit_ = static_cast<double>(load_in(node.region, loads)) / speed_of(node.parts);
        most_cells_ = cells_in(node.region) - std::ssize(blocks_);
        for (const PartNeed& cpu : node.parts.cpus) most_cells_ -= cpu.cells;
    }

    void from_zones(const std::vector<Region>& zones) {
        for (const std::size_t a : order_) place(a, zones[a], target(a));
        from_node();  // those that found nothing
    }
    // Those that have no block yet.
    void from_node() {
        double left = 0;
        for (const std::size_t a : order_) left += blocks_[a].empty() ? target(a) : 0;
        for (const std::size_t a : order_) {
            if (!blocks_[a].empty()) continue;
            const auto room =
                static_cast<double>(load_in(inner_part(rest(node_.region), node_.grid, node_.ghost_width), loads_));
            place(a, node_.region, std::min(1.0, room / left) * target(a));
            left -= target(a);
        }
    }
    // The largest load over speed in the node, if the CPUs share what is left.
    double slowest() const {
        double cpus = 0, rest = static_cast<double>(load_in(node_.region, loads_)), slowest = 0;
        for (const PartNeed& cpu : node_.parts.cpus) cpus += cpu.speed;
        for (std::size_t a = 0; a < blocks_.size(); ++a) {
            const auto load = static_cast<double>(load_in(blocks_[a], loads_));
            slowest = std::max(slowest, load / node_.parts.accelerators[a]);
            rest -= load;
        }
        return std::max(slowest, rest / cpus);
    }
    std::vector<Region> blocks() && { return std::move(blocks_); }

private:
    double target(std::size_t a) const { return node_.parts.accelerators[a] * unit_; }
    Region rest(Region zone) const {
        for (const Region& b : blocks_) zone = without(std::move(zone), b);
        return zone;
    }
    void place(std::size_t a, const Region& zone, double target) {
        const Region inner = inner_part(rest(zone), node_.grid, node_.ghost_width);
        if (inner.empty() || most_cells_ < 0) return;
        blocks_[a] = block_of(inner, loads_, target, most_cells_ + 1);
        most_cells_ -= cells_in(blocks_[a]) - 1;
    }

    const NodeProblem& node_;
    const Loads& loads_;
    std::span<const std::size_t> order_;
    std::vector<Region> blocks_;
    double unit_;
    std::int64_t most_cells_;  // that all may take beyond one each
};

}  // namespace

double speed_of(const NodeParts& parts) {
    double speed = std::accumulate(parts.accelerators.begin(), parts.accelerators.end(), 0.0);
    for (const PartNeed& cpu : parts.cpus) speed += cpu.speed;
    return speed;
}

NodeSplit split_inner_outer(const NodeProblem& node) {
    constexpr double worth_contacts = 1.002;  // slower by this, a node does without zones
    const Loads& loads = loads_or_counts(node.region, node.loads);
    const std::vector<double>& speeds = node.parts.accelerators;
    std::vector<std::size_t> order(speeds.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return speeds[a] > speeds[b]; });
    NodeSplit split;
    if (!order.empty()) {
        BlockPlacement by_cpu(node, loads, order), by_node(node, loads, order);
        by_cpu.from_zones(zones_by_cpu(node, loads, order));
        by_node.from_node();
        split.accelerators =
            std::move(by_cpu.slowest() <= worth_contacts * by_node.slowest() ? by_cpu : by_node).blocks();
    }
    Region rest = node.region;
    for (const Region& b : split.accelerators) rest = without(std::move(rest), b);
    split.cpus = split_exactly(joined(rest), loads, node.parts.cpus, cut_tolerance);
    return split;
}

std::vector<double> shortfall_of(const NodeProblem& node, const NodeSplit& split) {
    const Loads& loads = loads_or_counts(node.region, node.loads);
    const double unit = static_cast<double>(load_in(node.region, loads)) / speed_of(node.parts);
    std::vector<double> shortfall;
    for (std::size_t a = 0; a < split.accelerators.size(); ++a) {
        const double target = unit * node.parts.accelerators[a];
        const auto got = static_cast<double>(load_in(split.accelerators[a], loads));
        shortfall.push_back(target > 0 ? std::max(0.0, 1 - got / target) : 0.0);
    }
    return shortfall;
}

}  // namespace balance
