// SPDX-License-Identifier: MIT
// For studies by counted work: the model gets the true cost of each cell. So it separates the errors of other models
// from the limits of partitions.
#include <algorithm>

#include "balance/model/load_model.hpp"

namespace balance {
namespace {

struct Exact final : LoadModel {
    double first_state(const CellCounts&) const override { return 0; }  // it remembers nothing
    bool wants_costs() const override { return true; }
    bool needs_particles() const override { return false; }
    void update(const ProcessView& p, const Totals&, std::span<double> load) const override {
        double sum = 0;
        for (const double c : p.costs) sum += c;
        if (sum == 0) return std::fill(load.begin(), load.end(), p.time / static_cast<double>(load.size()));
        for (std::size_t i = 0; i < load.size(); ++i) load[i] = p.costs[i] * (p.time / sum);
    }
};

}  // namespace

std::unique_ptr<LoadModel> make_exact(const ModelConstants&) { return std::make_unique<Exact>(); }

}  // namespace balance
