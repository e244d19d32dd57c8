// SPDX-License-Identifier: MIT
// Criteria without memory: each loss is one expression over the times of an opportunity.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

// Ours: the time lost against the partition that was computed last, and the new partition's own cost. Imbalance that no
// partition could have saved counts as no loss, and a partition that moves more than it saves is not taken. Exact times
// add up interval by interval, so that even a small steady loss pays some day. Where times scatter, the slowest
// process is the slowest one over all the time since the last migration. A process that other jobs delay now and then
// triggers nothing.
class Gain : public Criterion {
public:
    double lost(const Opportunity& now, std::span<double>) const override {
        if (now.scatters) return std::max(0.0, now.spent_largest - now.spent_mean / now.reachable);
        return now.lost_before + std::max(0.0, now.largest - now.mean / now.reachable) * now.steps;
    }
    bool weighs_partitions() const override { return true; }
};

// Every opportunity, which is what most codes do: every N steps.
class Every : public Criterion {
public:
    double lost(const Opportunity&, std::span<double>) const override { return 0; }
    bool balances(double, double) const override { return true; }
    bool always() const override { return true; }
};

// Menon et al., "Automated load balancing invocation based on application characteristics" (IEEE Cluster 2012).
// The loss is the mean, over the processes, of the time that each has waited for the slowest since the last migration.
class Menon : public Criterion {
public:
    double lost(const Opportunity& now, std::span<double>) const override {
        return now.lost_before + std::max(0.0, now.largest - now.mean) * now.steps;
    }
};

// Never after the first partition, which is made before anything was measured. The loss is all the imbalance since the
// start, for comparison.
class Never : public Menon {
public:
    bool balances(double, double) const override { return false; }
};

// When the LBE is below a number that the user gives, whatever a balancing costs. LAMMPS (fix balance) and others offer
// this criterion.
class Threshold : public Criterion {
public:
    explicit Threshold(double lbe) : lbe_(lbe) {}

    // The time of the interval beyond the time that it would have taken at that LBE.
    double lost(const Opportunity& now, std::span<double>) const override {
        return std::max(0.0, now.largest - now.mean / lbe_) * now.steps;
    }
    bool balances(double lost, double) const override { return lost > 0; }

private:
    double lbe_;
};

}  // namespace

std::unique_ptr<Criterion> make_gain(const CriterionOptions&) { return std::make_unique<Gain>(); }
std::unique_ptr<Criterion> make_every(const CriterionOptions&) { return std::make_unique<Every>(); }
std::unique_ptr<Criterion> make_never(const CriterionOptions&) { return std::make_unique<Never>(); }
std::unique_ptr<Criterion> make_menon(const CriterionOptions&) { return std::make_unique<Menon>(); }
std::unique_ptr<Criterion> make_threshold(const CriterionOptions& o) {
    return std::make_unique<Threshold>(o.threshold);
}

}  // namespace balance
