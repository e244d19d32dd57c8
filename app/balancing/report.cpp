// SPDX-License-Identifier: MIT
// Reports of the load balancer, for files and for the table at the end of a run.
#include "app/balancing/load_balancer.hpp"
#include "balance/grid/field.hpp"

namespace app {

std::vector<balance::ContenderCost> LoadBalancer::costs() const {
    std::vector<balance::ContenderCost> costs;
    for (const BalancedModel& b : state_.models)
        if (!b.cost.each.empty()) costs.push_back(b.cost);
    return costs;
}

std::optional<balance::WorthSums> LoadBalancer::worth() const {
    if (!(state_.worth.measured > 0) || zones_.on()) return std::nullopt;
    balance::WorthSums elapsed = state_.worth;
    if (wall_)  // times of threads, for the number of threads that a mean rank has
        for (double* seconds : {&elapsed.measured, &elapsed.perfect, &elapsed.possible, &elapsed.even})
            *seconds /= wall_->mean_threads();
    return elapsed;
}

std::vector<comm::FieldBlock<double>> LoadBalancer::load(const Engine& engine) const {
    const std::vector<balance::CellCounts> counts =
        balance::collect_at_homes(team_, around_home(engine.tiles().shape()), {engine.tiles().cell_particles(), {}},
                                  nullptr, meter_)
            .counts;
    const balance::Box home = setting_.home();
    comm::FieldBlock<double> field{home, {}};
    for (int z = home.lower[2]; z < home.upper[2]; ++z)
        for (int y = home.lower[1]; y < home.upper[1]; ++y)
            for (int x = home.lower[0]; x < home.upper[0]; ++x) {
                const std::int64_t i = balance::place_in(home, x, y, z);
                field.values.push_back(counts[i].n > 0 ? static_cast<double>(state_.load->load[i]) * state_.load->unit
                                                       : 0.0);
            }
    return !home.empty() ? std::vector{std::move(field)} : std::vector<comm::FieldBlock<double>>{};
}

std::int64_t LoadBalancer::bytes() const {
    std::size_t n = state_.load ? state_.load->load.capacity() * sizeof(std::int64_t) : 0;
    for (const BalancedModel& b : state_.models)
        n += (b.state.capacity() + b.watch.spent.capacity() + b.cost.each.capacity()) * sizeof(double);
    return static_cast<std::int64_t>(n) + state_.speeds.bytes() + ownership_bytes();
}

std::int64_t LoadBalancer::ownership_bytes() const {
    std::int64_t n = 0;
    for (const BalancedModel& b : state_.models) n += b.partition.bytes() + b.splits.bytes();
    return n;
}

}  // namespace app
