// SPDX-License-Identifier: MIT
// Ours: the time lost against the partition that was computed last, and the new partition's own cost.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

// What no partition could have saved counts as no loss, and a partition that moves more than it saves is not taken.
// Exact times add up interval by interval, so that even a small steady loss pays some day. Of times that scatter the
// process counts that was the slowest over all the time since the last migration: one that other jobs delay now and
// then triggers nothing.
class Gain : public Criterion {
public:
    double lost(const Opportunity& now, std::span<double>) const override {
        if (now.scatters) return std::max(0.0, now.spent_largest - now.spent_mean / now.reachable);
        return now.lost_before + std::max(0.0, now.largest - now.mean / now.reachable) * now.steps;
    }
    bool weighs_partitions() const override { return true; }
};

}  // namespace

std::unique_ptr<Criterion> make_gain(const CriterionOptions&) { return std::make_unique<Gain>(); }

}  // namespace balance
