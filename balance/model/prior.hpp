// SPDX-License-Identifier: MIT
// The prior of r1: what a cell should cost by what is in it and around it.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "balance/model/least_squares.hpp"
#include "balance/model/load_model.hpp"

namespace balance {

/// The features that explain a cell's cost: the cell itself, its particles, and their neighbours near and farther.
inline constexpr int features = 4;
using Features = std::array<double, features>;
inline Features features_of(const CellCounts& c) {
    return {1.0, static_cast<double>(c.n), static_cast<double>(c.n) * c.n3, static_cast<double>(c.n) * c.n5};
}

/// Costs of the features, fitted to times by non-negative least squares with forgetting.
class Prior {
public:
    /// costs: first guess, seconds for each feature.
    explicit Prior(std::span<const double> costs);

    /// Seconds of a cell.
    double cost(const Features& f) const { return dot(theta_, f); }
    /// Learns from processes. The last costs count a little beside all times. So they decide between features that the
    /// processes cannot tell apart.
    /// rows: sums of the features over the cells of each process. times: seconds of each process. Both may be scaled
    /// process by process.
    /// forgetting: weight of the knowledge before.
    void fit(std::span<const double> rows, std::span<const double> times, double forgetting);

    static constexpr std::size_t count = features * (features + 2);
    /// Its state for checkpoints: `count` numbers.
    std::vector<double> numbers() const;
    void set_numbers(std::span<const double> numbers);

private:
    using Matrix = std::array<Features, features>;
    Features theta_{}, right_{};
    Matrix normal_{};  // normal equations of all times so far
};

}  // namespace balance
