// SPDX-License-Identifier: MIT
// When the LBE is below a number that the user gives, whatever a balancing costs: what LAMMPS (fix balance) and others
// offer.
#include <algorithm>

#include "balance/criterion/criterion.hpp"

namespace balance {
namespace {

class Threshold : public Criterion {
public:
    explicit Threshold(double lbe) : lbe_(lbe) {}

    // What the interval took beyond the time that it would have taken at that LBE.
    double lost(const Opportunity& now, std::span<double>) const override {
        return std::max(0.0, now.largest - now.mean / lbe_) * now.steps;
    }
    bool balances(double lost, double) const override { return lost > 0; }

private:
    double lbe_;
};

}  // namespace

std::unique_ptr<Criterion> make_threshold(const CriterionOptions& o) {
    return std::make_unique<Threshold>(o.threshold);
}

}  // namespace balance
