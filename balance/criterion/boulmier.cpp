// SPDX-License-Identifier: MIT
// Boulmier et al., arXiv 2104.01688: the mean time lost a step since the last migration, its cost included, is smallest
// when a step loses as much now as steps have lost on average, the balancing included.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

// With u the time a step that processes wait for the slowest, and tau steps since the last migration:
// tau u - (integral of u), which reaches the cost where (cost + integral of u) / tau has its minimum.
class Boulmier : public Criterion {
public:
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

std::unique_ptr<Criterion> make_boulmier(const CriterionOptions&) { return std::make_unique<Boulmier>(); }

}  // namespace balance
