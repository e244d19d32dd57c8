// SPDX-License-Identifier: MIT
// Never after the first partition, which is made before anything was measured: what balancing is held against.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

class Never : public Criterion {
public:
    // All the imbalance since the start, for those who want to see it.
    double lost(const Opportunity& now, std::span<double>) const override {
        return now.lost_before + std::max(0.0, now.largest - now.mean) * now.steps;
    }
    bool balances(double, double) const override { return false; }
};

}  // namespace

std::unique_ptr<Criterion> make_never(const CriterionOptions&) { return std::make_unique<Never>(); }

}  // namespace balance
