// SPDX-License-Identifier: MIT
// Zhai et al., "Dynamic load balancing for compressible multiphase turbulence" (ICS 2018): how much longer steps take
// than they have on average since the last migration, summed up. The median of the last three times stands for the time
// of now, so that one that stands out counts for nothing.
#include <algorithm>
#include <array>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

class Zhai : public Criterion {
public:
    double lost(const Opportunity& now, std::span<double> memory) const override {
        double &count = memory[0], &steps = memory[1], &sum = memory[2], &last = memory[3], &before_last = memory[4],
               &loss = memory[5];
        count += 1;
        steps += now.steps;
        sum += now.largest * now.steps;
        if (count >= 3) {
            const std::array<double, 3> times{before_last, last, now.largest};
            const double median =
                std::max(std::min(times[0], times[1]), std::min(std::max(times[0], times[1]), times[2]));
            loss += (median - sum / steps) * now.steps;
        }
        before_last = last;
        last = now.largest;
        return std::max(0.0, loss);
    }
    std::size_t memory_size() const override { return 6; }
    bool relative() const override { return true; }
};

}  // namespace

std::unique_ptr<Criterion> make_zhai(const CriterionOptions&) { return std::make_unique<Zhai>(); }

}  // namespace balance
