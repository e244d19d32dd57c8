// SPDX-License-Identifier: MIT
// Reports of the load balancer, for files and for the table at the end of a run.
#include <fmt/format.h>

#include "app/balancing/load_balancer.hpp"
#include "app/balancing/measure.hpp"
#include "app/common/words.hpp"
#include "balance/grid/field.hpp"

namespace app {

std::vector<Overall> overall_of(std::span<const BalancedModel> models) {
    std::vector<Overall> all;
    for (const BalancedModel& b : models) {
        const balance::History& h = b.history;
        if (!(h.sum_max > 0)) continue;
        all.push_back({b.label, h.sum_mean / h.sum_max, std::nullopt});
        if (h.sum_max > h.early_max) all.back().measured = (h.sum_mean - h.early_mean) / (h.sum_max - h.early_max);
    }
    return all;
}

std::vector<std::string> never_balanced(std::span<const BalancedModel> models) {
    constexpr double low = 0.8;
    std::vector<std::string> sentences;
    for (const BalancedModel& b : models) {
        const balance::History& h = b.history;
        if (!b.criterion->relative() || h.updates > 0 || !(h.sum_mean < low * h.sum_max)) continue;
        sentences.push_back(
            fmt::format("{}: the criterion {} never asked for a balancing, although the LBE is {:.1f} %: it compares "
                        "with the times after the last balancing, and takes a bad start that stays as bad for "
                        "balanced; use balance.criterion: gain or menon, or a better start",
                        b.label, b.contender.criterion.name, 100 * h.sum_mean / h.sum_max));
    }
    return sentences;
}

std::string least_time(std::span<const balance::ContenderCost> costs) {
    const std::vector<balance::Excess> ranked = balance::ranking(costs);
    if (ranked.size() < 2) return "";
    const balance::ContenderCost &least = costs[ranked[0].contender], &second = costs[ranked[1].contender];
    const std::optional<double> error = ranked[1].error;
    const std::string from = least.from_step > 0 ? fmt::format(" from step {} on", least.from_step) : "";
    std::vector<std::string> alike;
    for (const balance::Excess& e : std::span(ranked).subspan(1))
        if (!e.beyond_noise()) alike.push_back(costs[e.contender].name);
    const std::string more = !error          ? "too few opportunities to tell that from noise"
                             : alike.empty() ? "more than noise"
                                             : fmt::format("no more than noise: {}", fmt::join(alike, ", "));
    return fmt::format("least time{}: {}, {:.5g} s; {} takes {:.1f} %{} more; {}", from, least.name, least.seconds(),
                       second.name, 100 * ranked[1].part, error ? fmt::format(" +- {:.1f} %", 100 * *error) : "", more);
}

std::string prices_in_words(const balance::WorkCosts& prices, bool cells_move, std::int64_t processes) {
    return fmt::format("prices: {:.3g} s a balancing, {:.3g} s a {} that moves, shared by {}", prices.balancing,
                       prices.move, cells_move ? "cell" : "particle", counted(processes, "process"));
}

std::vector<balance::ContenderCost> LoadBalancer::costs() const {
    std::vector<balance::ContenderCost> costs;
    for (const BalancedModel& b : state_.models)
        if (!b.cost.each.empty()) costs.push_back(b.cost);
    return costs;
}

std::optional<balance::Worth> LoadBalancer::worth() const {
    if (!(state_.worth.measured > 0) || zones_.on()) return std::nullopt;
    balance::Worth elapsed = state_.worth;
    if (wall_)  // times of threads, for the number of threads that a mean rank has
        for (double* seconds : {&elapsed.measured, &elapsed.perfect, &elapsed.possible, &elapsed.even})
            *seconds /= wall_->mean_threads();
    return elapsed;
}

std::vector<comm::FieldBlock<double>> LoadBalancer::load(const Engine& engine) const {
    const std::vector<balance::CellCounts> counts =
        balance::bring_home(team_, around_home(engine.tiles().shape()), {engine.tiles().cell_particles(), {}}, nullptr,
                            meter_)
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
