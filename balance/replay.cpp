// SPDX-License-Identifier: MIT
#include "balance/replay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "balance/model/work.hpp"

namespace balance {
namespace {

Policy priced(Policy policy, double scale) {
    policy.counting.work.move *= scale;
    policy.counting.work.balancing *= scale;
    policy.counting.work.ghost *= scale;
    return policy;
}

}  // namespace

double series_scale(double largest, std::int64_t cells) {
    constexpr double most = 512, least = 1e-6;  // a sum over all cells has to stay below 512 s
    if (const double sum = largest * static_cast<double>(cells); sum <= most && sum >= least) return 1;
    constexpr int bits_of_ticks = 50, bits_to_spare = 3;  // load_scale() fills the integers to 4096 s
    return std::ldexp(1.0, std::ilogb(load_scale(largest, cells)) - bits_of_ticks - bits_to_spare);
}

SeriesNumbers::Bad SeriesNumbers::see(std::span<const double> load, std::span<const double> particles,
                                      std::span<const double> bytes) {
    Bad bad{};
    for (const double v : load) {
        bad[0] += !(v >= 0 && std::isfinite(v));
        largest = std::max(largest, v);
    }
    for (const double n : particles) {
        bad[1] += !(n >= 0 && n <= INT32_MAX && n == std::floor(n));
        most_particles = std::max(most_particles, n);
    }
    for (const double b : bytes) {
        bad[2] += !(b >= 0 && std::isfinite(b));
        most_bytes = std::max(most_bytes, b);
    }
    return bad;
}

std::string SeriesNumbers::flaw_of_entry(const Bad& bad, std::int64_t time, const std::string& counts) {
    const std::string of_time = " of time " + std::to_string(time) + " holds numbers that are ";
    if (bad[0] > 0) return "/load" + of_time + "negative, infinite or none at all; give loads >= 0";
    if (bad[1] > 0) return counts + of_time + "no counts; give whole numbers from 0 to 2^31 - 1";
    if (bad[2] > 0) return "/bytes" + of_time + "negative, infinite or none at all; give bytes >= 0";
    return "";
}

std::string SeriesNumbers::flaw(std::int64_t cells) const {
    constexpr double least_load = 1e-290, most_load = 1e290;  // sums of more are no numbers, and of less no integers
    constexpr double around = 125, most_pairs = 0x1p62;       // models add up pairs in 5^3 cells over all, in integers
    if (largest == 0) return "/load holds zeros only; give it a load";
    if (largest < least_load || largest > most_load)
        return "the largest number in /load is too large or too small; use a unit in which it is from 1e-290 to 1e290";
    if (around * most_particles > INT32_MAX ||
        around * most_particles * most_particles * static_cast<double>(cells) >= most_pairs)
        return "/particles holds counts whose pairs cannot be summed exactly; count in a larger unit";
    if (most_bytes * static_cast<double>(cells) > 0x1p47)  // 26 processes may receive each
        return "/bytes holds numbers that are too large to be summed exactly; count in a larger unit";
    return "";
}

std::vector<std::int64_t> in_parts_of_bytes(std::span<const double> bytes) {
    std::vector<std::int64_t> parts;
    for (const double b : bytes) parts.push_back(std::llround(b * parts_of_a_byte));
    return parts;
}

Replay::Replay(const Team& team, const Grid& grid, const Hosts& hosts, Policy policy, const Meter& meter, double scale,
               const ModelConstants& constants, const std::string& driver, std::span<const Contender> others,
               bool optimum)
    : setting_{team, grid, hosts, priced(std::move(policy), scale), meter},
      scale_(scale),
      state_(make_balancing(setting_, constants, driver, others)) {
    if (optimum) clairvoyant_.emplace(setting_, constants, driver);
}

RoundOutcome Replay::balance(std::int64_t step, HomeCells cells, const Disturbance& disturbance) {
    Measured measured;
    measured.first = !last_step_;
    measured.moment = {step, last_step_.value_or(step), disturbance.noise};
    measured.reference = disturbance.reference;
    std::optional<Infeasible> unseen_dead_end;
    if (clairvoyant_) unseen_dead_end = clairvoyant_->see(step, cells);
    RoundOutcome outcome = rebalance(setting_, std::move(cells), measured, state_);
    if (unseen_dead_end) outcome.dead_end = unseen_dead_end;
    for (ResourceRow& row : outcome.resources) row.seconds /= scale_;
    for (double& seconds : outcome.seconds) seconds /= scale_;
    for (BalanceRow& row : outcome.rows)
        for (double* seconds : {&row.mean_seconds, &row.max_seconds, &row.lost_seconds, &row.move_seconds})
            *seconds /= scale_;
    last_step_ = step;
    return outcome;
}

std::vector<ContenderCost> Replay::costs() const {
    std::vector<ContenderCost> costs;
    for (const BalancedModel& b : state_.models) {
        ContenderCost& c = costs.emplace_back(b.cost);
        c.computing_seconds /= scale_, c.balancing_seconds /= scale_;
        for (double& seconds : c.each) seconds /= scale_;
    }
    return costs;
}

std::optional<Replay::Optimum> Replay::optimum(const std::function<void()>& between) const {
    if (!clairvoyant_) return std::nullopt;
    const Schedule best = clairvoyant_->best(between);
    Optimum optimum{best.seconds / scale_, {}};
    for (const std::int64_t j : best.balanced) optimum.steps.push_back(clairvoyant_->steps()[j]);
    return optimum;
}

}  // namespace balance
