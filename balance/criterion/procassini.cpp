// SPDX-License-Identifier: MIT
// Procassini et al., "Load balancing of parallel Monte Carlo transport calculations" (2005): the next interval would
// take less, a balancing included, if it had the efficiency that the last balancing brought.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

class Procassini : public Criterion {
public:
    double lost(const Opportunity& now, std::span<double> memory) const override {
        double& after_balancing = memory[0];  // an LBE is above 0
        if (after_balancing == 0) after_balancing = now.lbe();
        return std::max(0.0, 1 - now.lbe() / after_balancing) * now.largest * now.steps;
    }
    std::size_t memory_size() const override { return 1; }
    bool relative() const override { return true; }
};

}  // namespace

std::unique_ptr<Criterion> make_procassini(const CriterionOptions&) { return std::make_unique<Procassini>(); }

}  // namespace balance
