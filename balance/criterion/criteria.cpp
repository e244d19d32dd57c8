// SPDX-License-Identifier: MIT
// The criteria: what each counts as lost at an opportunity. The published ones go by times since the last migration.
#include <algorithm>
#include <cmath>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

// Ours: the time lost against the partition that was computed last, and the new partition's own cost. Imbalance that no
// partition could have saved counts as no loss, and a partition that moves more than it saves is not taken. Exact times
// add up interval by interval, so that even a small steady loss pays some day. Where times scatter, the slowest
// process is the slowest one over all the time since the last migration. A process that other jobs delay now and then
// triggers nothing. If the end of the run is known, no more than what the steps up to it will lose counts. A partition
// of the start may be bad for good: the more it will lose, the sooner it goes.
struct Gain : Criterion {
    double lost(const Opportunity& now, std::span<double> memory) const override {
        double &steps = memory[0], &sum = memory[1];
        steps += now.steps;
        if (sum == 0) sum = now.lost_before;  // a checkpoint of release 0.1.0 holds no memory
        double rate = std::max(0.0, now.largest - now.mean / now.reachable);
        sum += rate * now.steps;
        if (now.scatters) {
            sum = std::max(0.0, now.spent_largest - now.spent_mean / now.reachable);
            rate = sum / steps;
        }
        if (!now.left) return sum;
        const double ahead = rate * *now.left;
        return std::min(ahead, now.untried ? std::sqrt(sum * ahead) : sum);
    }
    std::size_t memory_size() const override { return 2; }
    bool weighs_partitions() const override { return true; }
};

// Every opportunity, which is what most codes do: every N steps.
struct Every : Criterion {
    double lost(const Opportunity&, std::span<double>) const override { return 0; }
    bool balances(double, double) const override { return true; }
    bool always() const override { return true; }
};

// Menon et al., "Automated load balancing invocation based on application characteristics" (IEEE Cluster 2012).
// The loss is the mean, over the processes, of the time that each has waited for the slowest since the last migration.
struct Menon : Criterion {
    double lost(const Opportunity& now, std::span<double>) const override {
        return now.lost_before + std::max(0.0, now.largest - now.mean) * now.steps;
    }
};

// Never after the first partition, which is made before anything was measured. The loss is all the imbalance since the
// start, for comparison.
struct Never : Menon {
    bool balances(double, double) const override { return false; }
};

// When the LBE is below a number that the user gives, whatever a balancing costs. LAMMPS (fix balance) and others offer
// this criterion.
struct Threshold : Criterion {
    explicit Threshold(double lbe_below) : lbe(lbe_below) {}
    // The time of the interval beyond the time that it would have taken at that LBE.
    double lost(const Opportunity& now, std::span<double>) const override {
        return std::max(0.0, now.largest - now.mean / lbe) * now.steps;
    }
    bool balances(double lost, double) const override { return lost > 0; }
    double lbe;
};

// Zhai et al., "Dynamic load balancing for compressible multiphase turbulence" (ICS 2018): how much longer steps take
// than they have on average since the last migration, summed up. The median of the last three times stands for the time
// of now, so that one that stands out counts for nothing.
struct Zhai : Criterion {
    double lost(const Opportunity& now, std::span<double> memory) const override {
        double &count = memory[0], &steps = memory[1], &sum = memory[2], &last = memory[3], &before_last = memory[4],
               &loss = memory[5];
        count += 1;
        steps += now.steps;
        sum += now.largest * now.steps;
        if (count >= 3) {
            const auto [low, high] = std::minmax(before_last, last);
            loss += (std::clamp(now.largest, low, high) - sum / steps) * now.steps;
        }
        before_last = last;
        last = now.largest;
        return std::max(0.0, loss);
    }
    std::size_t memory_size() const override { return 6; }
    bool relative() const override { return true; }
};

// Procassini et al., "Load balancing of parallel Monte Carlo transport calculations" (2005): the next interval would
// take less, a balancing included, if it had the efficiency that the last balancing brought.
struct Procassini : Criterion {
    double lost(const Opportunity& now, std::span<double> memory) const override {
        double& after_balancing = memory[0];  // an LBE is above 0
        if (after_balancing == 0) after_balancing = now.lbe();
        return std::max(0.0, 1 - now.lbe() / after_balancing) * now.largest * now.steps;
    }
    std::size_t memory_size() const override { return 1; }
    bool relative() const override { return true; }
};

// Boulmier et al., arXiv 2104.01688: the mean time lost a step since the last migration, its cost included, is smallest
// when a step loses as much now as steps have lost on average, the balancing included. With u the time a step that
// processes wait for the slowest, and tau steps since the last migration: tau u - (integral of u), which reaches the
// cost where (cost + integral of u) / tau has its minimum.
struct Boulmier : Criterion {
    double lost(const Opportunity& now, std::span<double> memory) const override {
        double &steps = memory[0], &integral = memory[1];
        const double wait = std::max(0.0, now.largest - now.mean);
        steps += now.steps;
        integral += wait * now.steps;
        return std::max(0.0, steps * wait - integral);
    }
    std::size_t memory_size() const override { return 2; }
    bool relative() const override { return true; }
};

}  // namespace

std::unique_ptr<Criterion> make_gain(const CriterionOptions&) { return std::make_unique<Gain>(); }
std::unique_ptr<Criterion> make_every(const CriterionOptions&) { return std::make_unique<Every>(); }
std::unique_ptr<Criterion> make_never(const CriterionOptions&) { return std::make_unique<Never>(); }
std::unique_ptr<Criterion> make_menon(const CriterionOptions&) { return std::make_unique<Menon>(); }
std::unique_ptr<Criterion> make_threshold(const CriterionOptions& o) {
    return std::make_unique<Threshold>(o.threshold);
}
std::unique_ptr<Criterion> make_zhai(const CriterionOptions&) { return std::make_unique<Zhai>(); }
std::unique_ptr<Criterion> make_procassini(const CriterionOptions&) { return std::make_unique<Procassini>(); }
std::unique_ptr<Criterion> make_boulmier(const CriterionOptions&) { return std::make_unique<Boulmier>(); }

}  // namespace balance
