// SPDX-License-Identifier: MIT
// Menon et al., "Automated load balancing invocation based on application characteristics" (IEEE Cluster 2012): the
// mean, over the processes, of the time that each has waited for the slowest since the last migration.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

class Menon : public Criterion {
public:
    double lost(const Opportunity& now, std::span<double>) const override {
        return now.lost_before + std::max(0.0, now.largest - now.mean) * now.steps;
    }
};

}  // namespace

std::unique_ptr<Criterion> make_menon(const CriterionOptions&) { return std::make_unique<Menon>(); }

}  // namespace balance
