// SPDX-License-Identifier: MIT
// What the load balancer tells of itself, to files and to the table at the end of a run.
#include "app/balancing/load_balancer.hpp"
#include "app/balancing/measure.hpp"

namespace app {

std::vector<LoadBalancer::Overall> LoadBalancer::overall() const {
    std::vector<Overall> all;
    for (const BalancedModel& b : models_) {
        const balance::History& h = b.history;
        if (!(h.sum_max > 0)) continue;
        all.push_back({b.label, h.sum_mean / h.sum_max, std::nullopt});
        if (h.sum_max > h.early_max) all.back().measured = (h.sum_mean - h.early_mean) / (h.sum_max - h.early_max);
    }
    return all;
}

std::optional<balance::Worth> LoadBalancer::worth() const {
    return worth_.measured > 0 && !zones_.on() ? std::optional(worth_) : std::nullopt;
}

std::vector<comm::FieldBlock<double>> LoadBalancer::load(const Engine& engine) const {
    const std::vector<balance::CellCounts> counts =
        measure_cells(team_, engine, decomposition(engine.tiles().shape())).counts;
    comm::FieldBlock<double> field{home_, {}};
    const int nx = home_.extent(0), ny = home_.extent(1);
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
            const std::size_t i = static_cast<std::size_t>(x) * ny + y;
            field.values.push_back(counts[i].n > 0 ? static_cast<double>(load_->load[i]) * load_->unit : 0.0);
        }
    return nx > 0 ? std::vector{std::move(field)} : std::vector<comm::FieldBlock<double>>{};
}

std::int64_t LoadBalancer::bytes() const {
    std::size_t n = load_ ? load_->load.capacity() * sizeof(std::int64_t) : 0;
    for (const BalancedModel& b : models_) n += (b.state.capacity() + b.spent.capacity()) * sizeof(double);
    return static_cast<std::int64_t>(n) + speeds_.bytes() + ownership_bytes();
}

std::int64_t LoadBalancer::ownership_bytes() const {
    std::int64_t n = 0;
    for (const BalancedModel& b : models_) n += b.partition.bytes() + b.splits.bytes();
    return n;
}

}  // namespace app
