// SPDX-License-Identifier: MIT
#include "balance/model/prior.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "balance/model/median.hpp"

namespace balance {

Prior::Prior(std::span<const double> costs) {
    for (int i = 0; i < features; ++i) theta_[i] = costs[i];
}

// The fit is repeated with weights that fall with the deviation of each time. So parts with hidden costs do not bend
// it. Hidden costs belong to the ratios of the cells.
void Prior::fit(std::span<const double> rows, std::span<const double> times, double forgetting) {
    constexpr int again = 2;
    constexpr double wide = 3;      // A part at this many usual deviations counts a quarter.
    constexpr double least = 1e-3;  // Least usual deviation.
    Matrix past = normal_;
    Features past_right = right_;
    for (Features& row : past)
        for (double& v : row) v *= forgetting;
    for (double& v : past_right) v *= forgetting;
    std::vector<double> weight(times.size(), 1.0), deviation(times.size()), size(times.size());
    for (int k = 0;; ++k) {
        normal_ = past, right_ = past_right;
        add(rows, times, weight);
        solve();
        if (k == again) return;
        for (std::size_t p = 0; p < times.size(); ++p) {
            Features row;
            std::copy_n(&rows[p * features], features, row.begin());
            const double expected = cost(row);
            deviation[p] = expected > 0 ? times[p] / expected - 1 : 0;
            size[p] = std::abs(deviation[p]);
        }
        const double usual = std::max(least, per_median * median(size));
        for (std::size_t p = 0; p < times.size(); ++p) {
            const double d = deviation[p] / (wide * usual);
            weight[p] = 1 / ((1 + d * d) * (1 + d * d));
        }
    }
}

void Prior::add(std::span<const double> rows, std::span<const double> times, std::span<const double> weight) {
    // Copies, which stay in registers: for all a compiler knows, the rows could overlap the members.
    Normal normal = normal_;
    Unknowns right = right_;
    for (std::size_t p = 0; p < times.size(); ++p) {
        const double* const row = &rows[p * features];
        for (int i = 0; i < features; ++i) {
            for (int k = i; k < features; ++k) normal[i][k] += weight[p] * row[i] * row[k];
            right[i] += weight[p] * row[i] * times[p];
        }
    }
    for (int i = 0; i < features; ++i)
        for (int k = 0; k < i; ++k) normal[i][k] = normal[k][i];
    normal_ = normal;
    right_ = right;
}

// The normal equations in units in which every feature's sum of squares is 1.
void Prior::solve() {
    constexpr double pull = 1e-6;
    Features scale;
    for (int i = 0; i < features; ++i) scale[i] = normal_[i][i] > 0 ? std::sqrt(normal_[i][i]) : 1.0;
    Normal a;
    Unknowns b;
    for (int i = 0; i < features; ++i) {
        for (int k = 0; k < features; ++k) a[i][k] = normal_[i][k] / (scale[i] * scale[k]);
        a[i][i] += pull;
        b[i] = right_[i] / scale[i] + pull * theta_[i] * scale[i];
    }
    const Unknowns x = least_squares(a, b);
    if (dot(x, x) > 0)
        for (int i = 0; i < features; ++i) theta_[i] = x[i] / scale[i];
}

std::vector<double> Prior::numbers() const {
    std::vector<double> m(theta_.begin(), theta_.end());
    for (const Features& row : normal_) m.insert(m.end(), row.begin(), row.end());
    m.insert(m.end(), right_.begin(), right_.end());
    return m;
}

void Prior::set_numbers(std::span<const double> m) {
    const double* next = m.data();
    for (double& v : theta_) v = *next++;
    for (Features& row : normal_)
        for (double& v : row) v = *next++;
    for (double& v : right_) v = *next++;
}

}  // namespace balance
